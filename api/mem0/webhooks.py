"""mem0's webhooks: the same rows as the native ones, with events and bodies as theirs."""

from __future__ import annotations

from typing import Any, ClassVar
from uuid import UUID

from django.utils import timezone
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from api.core.authentication import filter_reached, get_request_key
from api.core.fields import ListField, NameField, TextField, validate_body
from api.core.views import get_bound_space
from api.mem0.views import Mem0View, format_actor, get_own_key
from memoryhub.errors import InvalidInput, NotFound
from memoryhub.tenants.keys import KeyRow
from memoryhub.tenants.scope import tenant_scope
from memoryhub.webhooks import services
from memoryhub.webhooks.models import Webhook

MEM0_STYLE = Webhook.Style.MEM0


class NewProjectWebhookSerializer(serializers.Serializer[Any]):
    name = NameField(max_length=services.NAME_LENGTH)
    url = TextField()
    event_types = ListField(NameField(max_length=60), max_length=100)


class ChangeProjectWebhookSerializer(serializers.Serializer[Any]):
    name = NameField(required=False, max_length=services.NAME_LENGTH)
    url = TextField(required=False)
    event_types = ListField(NameField(max_length=60), required=False, max_length=100)
    is_active = serializers.BooleanField(required=False)


class _WebhookView(Mem0View):
    def read_fields(self, request: Request, kind: type[serializers.Serializer[Any]]) -> Any:
        """What was sent, as the service calls it."""
        given = validate_body(kind, self.read_body(request))
        return {"events" if name == "event_types" else name: each for name, each in given.items()}


class ProjectWebhooksView(_WebhookView):
    scopes: ClassVar = {"GET": "admin", "POST": "admin"}

    def get(self, request: Request, project_id: str) -> Response:
        key = get_own_key(request, project_id)
        with tenant_scope(key.tenant_id):
            rows = _select_webhooks(key).order_by("created_at", "id")
            return Response([_render_webhook(hook) for hook in rows])

    def post(self, request: Request, project_id: str) -> Response:
        """With the secret that signs, which these clients pass on to their caller."""
        key = get_own_key(request, project_id)
        given = self.read_fields(request, NewProjectWebhookSerializer)
        wanted = services.WebhookDraft(
            **given, space=get_bound_space(request), style=MEM0_STYLE, content=Webhook.Content.TEXT
        )
        hook, secret = _translate_event_errors(
            lambda: services.create_webhook(
                key.tenant_id, wanted, format_actor(request), timezone.now()
            )
        )
        return Response(
            _render_webhook(hook) | {"secret": secret}, headers={"Cache-Control": "no-store"}
        )


class ProjectWebhookView(_WebhookView):
    scopes: ClassVar = {"PUT": "admin", "DELETE": "admin"}

    def put(self, request: Request, webhook_id: UUID) -> Response:
        key = get_request_key(request)
        given = self.read_fields(request, ChangeProjectWebhookSerializer)
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
    return filter_reached(Webhook.objects.filter(style=MEM0_STYLE), key)


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
