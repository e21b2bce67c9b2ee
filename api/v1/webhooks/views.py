"""Webhooks: addresses that are told what happens, and what became of telling them."""

from __future__ import annotations

from datetime import timedelta
from typing import Any, ClassVar, NotRequired
from uuid import UUID

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from typing_extensions import TypedDict

from api.core.authentication import get_request_tenant_id
from api.core.fields import (
    NOT_BLANK,
    AtLeastOneSerializer,
    IntegerField,
    NameField,
    StrictBooleanField,
    TextField,
)
from api.rows.answers import build_named_type, define_answer
from api.rows.columns import FLAG, ID, LIST, NUMBER, TEXT, TIME, Column, Resource
from api.rows.lists import render_row
from api.rows.read_views import (
    TenantListView,
    TenantRowView,
    get_reached_space,
    select_visible_rows,
)
from api.rows.write_views import BaseWriteView, EmptySerializer, TenantWriteRequest
from api.schema.openapi import (
    VERSIONED_PARAMETERS,
)
from memoryhub.errors import NotFound
from memoryhub.tenants.scope import tenant_scope
from memoryhub.webhooks import event_names, services
from memoryhub.webhooks.models import Webhook

WEBHOOKS = Resource(
    "webhook",
    "An address that is told what happens, without its secret.",
    Webhook,
    {
        "id": ID,
        "name": TEXT,
        "url": TEXT,
        "subject": Column("text", "space__subject"),
        "events": LIST,
        "style": TEXT,
        "content": TEXT,
        "is_active": FLAG,
        "disabled_because": TEXT,
        "failures": NUMBER,
        "quiet_until": TIME,
        "last_success_at": TIME,
        "previous_until": TIME,
        "version": NUMBER,
        "created_by": TEXT,
        "created_at": TIME,
        "changed_at": TIME,
    },
    order=("-created_at", "-id"),
    version="version",
)
_EXAMPLE_EVENTS = ["fact.added", "fact.superseded", "conflict.opened"]
WebhookWithSecret = define_answer(
    "WebhookWithSecret",
    "`secret`: in the answer that made it, and in no other.",
    webhook=WEBHOOKS,
    secret=NotRequired[str],
)


class DeletedWebhook(TypedDict):
    id: UUID
    deleted: bool


@extend_schema_field(
    {"type": "string", "enum": [*event_names.NATIVE_EVENTS, *event_names.MEM0_EVENTS]}
)
class _EventField(NameField):
    """Which of them there are depends on the style: the service judges it."""


class NewWebhookSerializer(serializers.Serializer[Any]):
    """`subject`: the one space it is told of; without it all of them."""

    name = NameField(max_length=services.NAME_LENGTH, shape=NOT_BLANK)
    url = TextField()
    events = serializers.ListField(
        child=_EventField(max_length=60), allow_empty=False, max_length=100
    )
    subject = NameField(required=False, default="", max_length=200)
    style = serializers.ChoiceField(  # type: ignore[assignment]  # DRF takes it out of the class
        choices=Webhook.Style.values, required=False, default=Webhook.Style.NATIVE
    )
    content = serializers.ChoiceField(
        choices=Webhook.Content.values, required=False, default=Webhook.Content.IDS
    )


class ChangeWebhookSerializer(AtLeastOneSerializer):
    """What is not given stays."""

    name = NameField(required=False, max_length=services.NAME_LENGTH, shape=NOT_BLANK)
    url = TextField(required=False)
    events = serializers.ListField(
        child=_EventField(max_length=60), required=False, allow_empty=False, max_length=100
    )
    content = serializers.ChoiceField(choices=Webhook.Content.values, required=False)
    is_active = StrictBooleanField(required=False)


class RotateWebhookSerializer(serializers.Serializer[Any]):
    """`overlap_hours`: how long the old secret still signs beside the new one."""

    overlap_hours = IntegerField(
        required=False,
        default=24,
        min_value=0,
        max_value=services.MOST_OVERLAP.days * 24,
    )


class WebhooksView(TenantListView):
    """The tenant's webhooks."""

    resource = WEBHOOKS
    scopes: ClassVar = {"GET": "admin"}


class WebhookView(TenantRowView):
    """One webhook."""

    resource = WEBHOOKS
    scopes: ClassVar = {"GET": "admin"}


class WebhookWriteView(BaseWriteView):
    """A write of an admin, by a key of one subject on the webhooks of that one."""

    response_resource: ClassVar[Resource] = WEBHOOKS
    scopes: ClassVar = {"POST": "admin"}
    serializer_class: type[serializers.Serializer[Any]] = EmptySerializer
    answer_outlives_erasure = True

    def post(self, request: Request, **ids: Any) -> Response:
        deed = TenantWriteRequest(**self.read_write_fields(request))
        response = self.run_once(request, lambda: self.run_write(request, deed, **ids))
        if response.data.get("secret", "") is None:
            del response.data["secret"]  # here a repetition leaves it out, where others say null
        return response

    def run_write(self, request: Request, deed: TenantWriteRequest, **ids: Any) -> dict[str, Any]:
        raise NotImplementedError

    def get_answer_type(self, method: str, status: int) -> Any:
        return WebhookWithSecret if self.secret_field else build_named_type(self.response_resource)


class NewWebhookView(WebhookWriteView):
    """Have an address told. Its secret is in this answer and in no other."""

    serializer_class = NewWebhookSerializer
    secret_field = "secret"  # noqa: S105  # the name of a field
    example: ClassVar = {
        "name": "CRM",
        "url": "https://crm.example.org/memoryhub",
        "events": _EXAMPLE_EVENTS,
    }

    def run_write(self, request: Request, deed: TenantWriteRequest, **ids: Any) -> dict[str, Any]:
        given = dict(deed.given)
        given["space"] = get_reached_space(request, given.pop("subject"))
        wanted = services.WebhookDraft(**given)
        hook, secret = services.create_webhook(deed.tenant_id, wanted, deed.actor, deed.now)
        return _render_webhook(deed, hook.id) | {"secret": secret}


class ChangeWebhookView(WebhookWriteView):
    """Another name, address, choice of events or content; on or off."""

    serializer_class = ChangeWebhookSerializer
    parameters: ClassVar = VERSIONED_PARAMETERS
    example: ClassVar = {"is_active": False}

    def run_write(self, request: Request, deed: TenantWriteRequest, **ids: Any) -> dict[str, Any]:
        hook = get_webhook_id(request, ids["row_id"])
        services.update_webhook(
            deed.tenant_id, hook, deed.now, actor=deed.actor, version=deed.version, **deed.given
        )
        return _render_webhook(deed, hook)


class RotateWebhookView(WebhookWriteView):
    """Another secret, in this answer and in no other; for a while both sign."""

    serializer_class = RotateWebhookSerializer
    secret_field = "secret"  # noqa: S105  # the name of a field
    example: ClassVar = {"overlap_hours": 24}

    def run_write(self, request: Request, deed: TenantWriteRequest, **ids: Any) -> dict[str, Any]:
        hook = get_webhook_id(request, ids["row_id"])
        overlap = timedelta(hours=deed.given["overlap_hours"])
        _, secret = services.rotate_secret(
            deed.tenant_id, hook, deed.now, overlap, actor=deed.actor
        )
        return _render_webhook(deed, hook) | {"secret": secret}


class DeleteWebhookView(WebhookWriteView):
    """Tell it nothing more, and forget what it was told."""

    def run_write(self, request: Request, deed: TenantWriteRequest, **ids: Any) -> dict[str, Any]:
        hook = get_webhook_id(request, ids["row_id"])
        services.delete_webhook(deed.tenant_id, hook, actor=deed.actor)
        return {"id": str(hook), "deleted": True}

    def get_answer_type(self, method: str, status: int) -> Any:
        return DeletedWebhook


def get_webhook_id(request: Request, row_id: UUID) -> UUID:
    """The id, if the key may see the webhook. Raises NotFound."""
    with tenant_scope(get_request_tenant_id(request)):
        if not select_visible_rows(request, WEBHOOKS).filter(id=row_id).exists():
            raise NotFound("There is no such webhook.")
    return row_id


def _render_webhook(deed: TenantWriteRequest, row_id: UUID) -> dict[str, Any]:
    with tenant_scope(deed.tenant_id):
        return {"webhook": render_row(WEBHOOKS, WEBHOOKS.select_rows(), row_id)}
