"""mem0's webhooks: the same rows as the native ones, with events and bodies as theirs."""

from __future__ import annotations

from typing import Any, ClassVar
from uuid import UUID

from django.utils import timezone
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from api.authentication import key_of
from api.fields import NameField, TextField
from api.mem0.requests import checked
from api.mem0.views import Mem0View, actor_of, own_tenant
from memoryhub.errors import InvalidInput, NotFound
from memoryhub.tenants.keys import KeyRow
from memoryhub.tenants.models import Space
from memoryhub.tenants.scope import tenant_scope
from memoryhub.webhooks import services
from memoryhub.webhooks.models import Webhook

STYLE = Webhook.Style.MEM0


class WebhookSerializer(serializers.Serializer[Any]):
    name = NameField(max_length=services.NAME_LENGTH)
    url = TextField()
    event_types = serializers.ListField(child=NameField(max_length=60), max_length=100)


class ChangeSerializer(serializers.Serializer[Any]):
    name = NameField(required=False, max_length=services.NAME_LENGTH)
    url = TextField(required=False)
    event_types = serializers.ListField(
        child=NameField(max_length=60), required=False, max_length=100
    )
    is_active = serializers.BooleanField(required=False)


class WebhooksView(Mem0View):
    scopes: ClassVar = {"GET": "admin", "POST": "admin"}

    def get(self, request: Request, project_id: str) -> Response:
        key = own_tenant(request, project_id)
        with tenant_scope(key.tenant_id):
            rows = _seen(key).order_by("created_at", "id")
            return Response([_shown(hook) for hook in rows])

    def post(self, request: Request, project_id: str) -> Response:
        """With the secret that signs, which these clients pass on to their caller."""
        key = own_tenant(request, project_id)
        given = _named(checked(WebhookSerializer, self.body(request)))
        with tenant_scope(key.tenant_id):
            space = Space.objects.filter(id=key.space_id).first() if key.space_id else None
        wanted = services.Wanted(**given, space=space, style=STYLE, content=Webhook.Content.TEXT)
        hook, secret = _told(
            lambda: services.create_webhook(
                key.tenant_id, wanted, actor_of(request), timezone.now()
            )
        )
        return Response(_shown(hook) | {"secret": secret}, headers={"Cache-Control": "no-store"})


class WebhookView(Mem0View):
    scopes: ClassVar = {"PUT": "admin", "DELETE": "admin"}

    def put(self, request: Request, webhook_id: UUID) -> Response:
        key = key_of(request)
        given = _named(checked(ChangeSerializer, self.body(request)))
        _own(key, webhook_id)
        hook = _told(
            lambda: services.change_webhook(
                key.tenant_id, webhook_id, timezone.now(), actor=key.actor, **given
            )
        )
        return Response(_shown(hook) | {"message": "Webhook updated successfully"})

    def delete(self, request: Request, webhook_id: UUID) -> Response:
        key = key_of(request)
        _own(key, webhook_id)
        services.delete_webhook(key.tenant_id, webhook_id, actor=key.actor)
        return Response({"message": "Webhook deleted successfully"})


def _named(given: dict[str, Any]) -> dict[str, Any]:
    return {"events" if name == "event_types" else name: each for name, each in given.items()}


def _told(write: Any) -> Any:
    """What a service refuses, by the name of the field as these clients sent it."""
    try:
        return write()
    except InvalidInput as error:
        if error.field == "events":
            raise InvalidInput(error.message, field="event_types") from None
        raise


def _seen(key: KeyRow) -> Any:
    """Call inside the scope."""
    rows = Webhook.objects.filter(style=STYLE)
    return rows.filter(space_id=key.space_id) if key.space_id else rows


def _own(key: KeyRow, webhook_id: UUID) -> None:
    with tenant_scope(key.tenant_id):
        if not _seen(key).filter(id=webhook_id).exists():
            raise NotFound("There is no such webhook.")


def _shown(hook: Webhook) -> dict[str, Any]:
    return {
        "webhook_id": str(hook.id),
        "name": hook.name,
        "url": hook.url,
        "event_types": hook.events,
        "owner": hook.created_by,
        "project": str(hook.tenant_id),
        "is_active": hook.is_active,
        "created_at": hook.created_at.isoformat(),
        "updated_at": hook.changed_at.isoformat(),
    }
