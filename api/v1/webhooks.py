"""Webhooks: addresses that are told what happens, what they were sent and what they answered."""

from __future__ import annotations

from datetime import timedelta
from typing import Any, ClassVar, NotRequired
from uuid import UUID

from drf_spectacular.utils import OpenApiParameter, extend_schema_field
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from typing_extensions import TypedDict

from api.core.authentication import get_request_key
from api.core.fields import (
    NO_NULS,
    NOT_BLANK,
    AtLeastOneSerializer,
    IntegerField,
    ListField,
    NameField,
    StrictBooleanField,
    StrictSerializer,
    SubjectField,
    TextField,
)
from api.rows.answers import build_named_type, define_answer
from api.rows.columns import Resource, pick_columns
from api.rows.lists import build_status_condition, filter_by_state, list_rows
from api.rows.read_views import RowListView, get_reached_space
from api.rows.write_views import EmptySerializer, TenantWriteRequest, TenantWriteView
from api.schema.openapi import PAGE_PARAMETERS, VERSIONED_PARAMETERS
from memoryhub.tenants.scope import tenant_scope
from memoryhub.webhooks import event_names, services
from memoryhub.webhooks.models import Delivery, Webhook

WEBHOOKS = Resource(
    "webhook",
    "An address that is told what happens, without its secret.",
    Webhook,
    pick_columns(
        Webhook,
        "id name url subject=space__subject events style content is_active disabled_because "
        "failures quiet_until last_success_at previous_until version created_by created_at "
        "changed_at",
    ),
    order=("-created_at", "-id"),
    version="version",
)
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


class NewWebhookSerializer(StrictSerializer):
    """`subject`: the one space it is told of; without it all of them."""

    name = NameField(max_length=services.NAME_LENGTH, shape=NOT_BLANK)
    url = TextField()
    events = ListField(_EventField(max_length=60), allow_empty=False, max_length=100)
    subject = SubjectField(default="", shape=NO_NULS)
    style = serializers.ChoiceField(  # type: ignore[assignment]  # DRF takes it out of the class
        choices=Webhook.Style.values, default=Webhook.Style.NATIVE
    )
    content = serializers.ChoiceField(choices=Webhook.Content.values, default=Webhook.Content.IDS)


class ChangeWebhookSerializer(AtLeastOneSerializer):
    """What is not given stays."""

    name = NameField(required=False, max_length=services.NAME_LENGTH, shape=NOT_BLANK)
    url = TextField(required=False)
    events = ListField(
        _EventField(max_length=60), required=False, allow_empty=False, max_length=100
    )
    content = serializers.ChoiceField(choices=Webhook.Content.values, required=False)
    is_active = StrictBooleanField(required=False)


class RotateWebhookSerializer(StrictSerializer):
    """`overlap_hours`: how long the old secret still signs beside the new one."""

    overlap_hours = IntegerField(default=24, min_value=0, max_value=services.MOST_OVERLAP.days * 24)


class WebhookWriteView(TenantWriteView):
    """A write of an admin, by a key of one subject on the webhooks of that one."""

    serializer_class: type[serializers.Serializer[Any]] = EmptySerializer
    of_whole_tenant = False
    answer: ClassVar[Any] = build_named_type(WEBHOOKS)

    def post(self, request: Request, **ids: Any) -> Response:
        response = super().post(request, **ids)
        if response.data.get("secret", "") is None:
            del response.data["secret"]  # here a repetition leaves it out, where others say null
        return response

    def run_write(self, deed: TenantWriteRequest, **ids: Any) -> dict[str, Any]:
        hook = WEBHOOKS.get_visible_row(deed.key, ids["row_id"]).id
        more = self.change_webhook(hook, deed) or {}
        return deed.render_named_row(WEBHOOKS, hook) | more

    def change_webhook(self, hook: UUID, deed: TenantWriteRequest) -> dict[str, Any] | None:
        """Carry it out. Returns what is told beside the webhook, if anything is."""
        raise NotImplementedError


class NewWebhookView(WebhookWriteView):
    """Have an address told. Its secret is in this answer and in no other."""

    serializer_class = NewWebhookSerializer
    secret_field = "secret"  # noqa: S105  # the name of a field
    answer: ClassVar = WebhookWithSecret
    example: ClassVar = {
        "name": "CRM",
        "url": "https://crm.example.org/memoryhub",
        "events": ["fact.added", "fact.superseded", "conflict.opened"],
    }

    def run_write(self, deed: TenantWriteRequest, **ids: Any) -> dict[str, Any]:
        given = dict(deed.given)
        given["space"] = get_reached_space(self.request, given.pop("subject"))
        wanted = services.WebhookDraft(**given)
        hook, secret = services.create_webhook(deed.tenant_id, wanted, deed.actor, deed.now)
        return deed.render_named_row(WEBHOOKS, hook.id) | {"secret": secret}


class ChangeWebhookView(WebhookWriteView):
    """Another name, address, choice of events or content; on or off."""

    serializer_class = ChangeWebhookSerializer
    parameters: ClassVar = VERSIONED_PARAMETERS
    example: ClassVar = {"is_active": False}

    def change_webhook(self, hook: UUID, deed: TenantWriteRequest) -> None:
        services.update_webhook(
            deed.tenant_id, hook, deed.now, actor=deed.actor, version=deed.version, **deed.given
        )


class RotateWebhookView(WebhookWriteView):
    """Another secret, in this answer and in no other; for a while both sign."""

    serializer_class = RotateWebhookSerializer
    secret_field = "secret"  # noqa: S105  # the name of a field
    answer: ClassVar = WebhookWithSecret
    example: ClassVar = {"overlap_hours": 24}

    def change_webhook(self, hook: UUID, deed: TenantWriteRequest) -> dict[str, Any]:
        overlap = timedelta(hours=deed.given["overlap_hours"])
        _, secret = services.rotate_secret(
            deed.tenant_id, hook, deed.now, overlap, actor=deed.actor
        )
        return {"secret": secret}


class DeleteWebhookView(WebhookWriteView):
    """Tell it nothing more, and forget what it was told."""

    answer: ClassVar = DeletedWebhook

    def run_write(self, deed: TenantWriteRequest, **ids: Any) -> dict[str, Any]:
        hook = WEBHOOKS.get_visible_row(deed.key, ids["row_id"]).id
        services.delete_webhook(deed.tenant_id, hook, actor=deed.actor)
        return {"id": str(hook), "deleted": True}


DELIVERIES = Resource(
    "delivery",
    "An event on its way to a webhook: what was sent but for words, and what was answered.",
    Delivery,
    pick_columns(
        Delivery,
        "id webhook_id=webhook__id event_id=event__id type=name subject=event__space__subject "
        "data=event__data occurred_at=event__occurred_at state tries status milliseconds error "
        "reply log created_at run_after finished_at",
    ),
    order=("-created_at", "-id"),
    space_path="webhook__space_id",
)


class PingWebhookView(WebhookWriteView):
    """Send a test event at once, and answer with what came of it."""

    answer: ClassVar = build_named_type(DELIVERIES)

    def run_write(self, deed: TenantWriteRequest, **ids: Any) -> dict[str, Any]:
        hook = WEBHOOKS.get_visible_row(deed.key, ids["row_id"]).id
        made = services.ping_webhook(deed.tenant_id, hook, deed.now)
        return deed.render_named_row(DELIVERIES, made.id)


class DeliveriesView(RowListView):
    """What a webhook was sent, and what it answered; `?state=dead` what was given up."""

    resource = DELIVERIES
    scopes: ClassVar = {"GET": "admin"}
    parameters: ClassVar = [
        *PAGE_PARAMETERS,
        OpenApiParameter("state", str, enum=Delivery.State.values),
    ]

    def get(self, request: Request, row_id: UUID) -> Response:
        key = get_request_key(request)
        with tenant_scope(key.tenant_id):
            hook = WEBHOOKS.get_visible_row(key, row_id)
            rows = DELIVERIES.select_visible_rows(key).filter(webhook=hook)
            rows = rows.filter(build_status_condition(request, DELIVERIES))
            rows = filter_by_state(request, rows, Delivery.State.values)
            return Response(list_rows(request, DELIVERIES, rows))


class ReplayDeliveryView(WebhookWriteView):
    """Send a delivery again, with the same event id."""

    answer: ClassVar = build_named_type(DELIVERIES)

    def run_write(self, deed: TenantWriteRequest, **ids: Any) -> dict[str, Any]:
        delivery = DELIVERIES.get_visible_row(deed.key, ids["row_id"])
        services.replay_delivery(deed.tenant_id, delivery.id, deed.now)
        return deed.render_named_row(DELIVERIES, delivery.id)
