"""mem0's webhooks: the same rows as the native ones, with events and bodies as theirs."""

from __future__ import annotations

from typing import Any, ClassVar
from uuid import UUID

from django.utils import timezone
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from api.core.authentication import get_request_key
from api.core.fields import NameField, TextField
from api.mem0.requests import validate_body
from api.mem0.views import Mem0View, format_actor, get_own_key
from memoryhub.errors import InvalidInput, NotFound
from memoryhub.tenants.keys import KeyRow
from memoryhub.tenants.models import Space
from memoryhub.tenants.scope import tenant_scope
from memoryhub.webhooks import services
from memoryhub.webhooks.models import Webhook

MEM0_STYLE = Webhook.Style.MEM0


class NewProjectWebhookSerializer(serializers.Serializer[Any]):
    name = NameField(max_length=services.NAME_LENGTH)
    url = TextField()
    event_types = serializers.ListField(child=NameField(max_length=60), max_length=100)


class ChangeProjectWebhookSerializer(serializers.Serializer[Any]):
    name = NameField(required=False, max_length=services.NAME_LENGTH)
    url = TextField(required=False)
    event_types = serializers.ListField(
        child=NameField(max_length=60), required=False, max_length=100
    )
    is_active = serializers.BooleanField(required=False)


class ProjectWebhooksView(Mem0View):
    scopes: ClassVar = {"GET": "admin", "POST": "admin"}

    def get(self, request: Request, project_id: str) -> Response:
        key = get_own_key(request, project_id)
        with tenant_scope(key.tenant_id):
            rows = _select_webhooks(key).order_by("created_at", "id")
            return Response([_render_webhook(hook) for hook in rows])

    def post(self, request: Request, project_id: str) -> Response:
        """With the secret that signs, which these clients pass on to their caller."""
        key = get_own_key(request, project_id)
        given = _rename_event_types(
            validate_body(NewProjectWebhookSerializer, self.read_body(request))
        )
        with tenant_scope(key.tenant_id):
            space = Space.objects.filter(id=key.space_id).first() if key.space_id else None
        wanted = services.WebhookDraft(
            **given, space=space, style=MEM0_STYLE, content=Webhook.Content.TEXT
        )
        hook, secret = _translate_event_errors(
            lambda: services.create_webhook(
                key.tenant_id, wanted, format_actor(request), timezone.now()
            )
        )
        return Response(
            _render_webhook(hook) | {"secret": secret}, headers={"Cache-Control": "no-store"}
        )


class ProjectWebhookView(Mem0View):
    scopes: ClassVar = {"PUT": "admin", "DELETE": "admin"}

    def put(self, request: Request, webhook_id: UUID) -> Response:
        key = get_request_key(request)
        given = _rename_event_types(
            validate_body(ChangeProjectWebhookSerializer, self.read_body(request))
        )
        _check_own_webhook(key, webhook_id)
        hook = _translate_event_errors(
            lambda: services.update_webhook(
                key.tenant_id, webhook_id, timezone.now(), actor=key.actor, **given
            )
        )
        return Response(_render_webhook(hook) | {"message": "Webhook updated successfully"})

    def delete(self, request: Request, webhook_id: UUID) -> Response:
        key = get_request_key(request)
        _check_own_webhook(key, webhook_id)
        services.delete_webhook(key.tenant_id, webhook_id, actor=key.actor)
        return Response({"message": "Webhook deleted successfully"})


def _rename_event_types(given: dict[str, Any]) -> dict[str, Any]:
    return {"events" if name == "event_types" else name: each for name, each in given.items()}


def _translate_event_errors(write: Any) -> Any:
    """What a service refuses, by the name of the field as these clients sent it."""
    try:
        return write()
    except InvalidInput as error:
        if error.field == "events":
            raise InvalidInput(error.message, field="event_types") from None
        raise


def _select_webhooks(key: KeyRow) -> Any:
    """Call inside the scope."""
    rows = Webhook.objects.filter(style=MEM0_STYLE)
    return rows.filter(space_id=key.space_id) if key.space_id else rows


def _check_own_webhook(key: KeyRow, webhook_id: UUID) -> None:
    with tenant_scope(key.tenant_id):
        if not _select_webhooks(key).filter(id=webhook_id).exists():
            raise NotFound("There is no such webhook.")


def _render_webhook(hook: Webhook) -> dict[str, Any]:
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
