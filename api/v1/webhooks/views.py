"""Webhooks: addresses that are told what happens, and what became of telling them."""

from __future__ import annotations

from datetime import timedelta
from typing import Any, ClassVar
from uuid import UUID

from django.db.models import QuerySet
from django.utils import timezone
from drf_spectacular.utils import OpenApiParameter, extend_schema_field
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from api.core.authentication import get_request_key, get_request_tenant_id
from api.core.fields import (
    NOT_BLANK,
    AtLeastOneSerializer,
    IntegerField,
    NameField,
    StrictBooleanField,
    TextField,
)
from api.core.idempotency import run_once_in_own_transactions
from api.core.views import HubView
from api.rows.columns import FLAG, ID, LIST, NUMBER, OBJECT, TEXT, TIME, Column, Resource
from api.rows.lists import build_status_condition, list_rows, render_row
from api.rows.read_views import (
    ResourceView,
    TenantListView,
    TenantRowView,
    get_space_at_path,
    select_visible_rows,
)
from api.rows.write_views import build_write_response, read_if_match_version
from api.schema.openapi import (
    PAGE_PARAMETERS,
    VERSIONED_PARAMETERS,
    WRITE_PARAMETERS,
    build_page_schema,
)
from memoryhub.errors import InvalidInput, NotFound
from memoryhub.tenants.models import Space
from memoryhub.tenants.scope import tenant_scope
from memoryhub.webhooks import event_names, services
from memoryhub.webhooks.models import Delivery, Webhook

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
DELIVERIES = Resource(
    "delivery",
    "An event on its way to a webhook: what was sent but for words, and what was answered.",
    Delivery,
    {
        "id": ID,
        "webhook_id": Column("id", "webhook__id"),
        "event_id": Column("id", "event__id"),
        "type": Column("text", "name"),
        "subject": Column("text", "event__space__subject"),
        "data": Column("object", "event__data"),
        "occurred_at": Column("time", "event__occurred_at"),
        "state": TEXT,
        "tries": NUMBER,
        "status": NUMBER,
        "milliseconds": NUMBER,
        "error": TEXT,
        "reply": TEXT,
        "log": OBJECT,
        "created_at": TIME,
        "run_after": TIME,
        "finished_at": TIME,
    },
    order=("-created_at", "-id"),
)
_EXAMPLE_EVENTS = ["fact.added", "fact.superseded", "conflict.opened"]
_SECRET_SCHEMA = {"type": "string", "description": "Shown in this answer and never again."}


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


class EmptySerializer(serializers.Serializer[Any]):
    """Nothing more is needed."""


class WebhooksView(TenantListView):
    """The tenant's webhooks."""

    resource = WEBHOOKS
    scopes: ClassVar = {"GET": "admin"}


class WebhookView(TenantRowView):
    """One webhook."""

    resource = WEBHOOKS
    scopes: ClassVar = {"GET": "admin"}


class _WebhookWriteView(HubView):
    """A write of an admin, done once per Idempotency-Key."""

    response_resource: ClassVar[Resource] = WEBHOOKS
    scopes: ClassVar = {"POST": "admin"}
    serializer_class: type[serializers.Serializer[Any]] = EmptySerializer
    parameters: ClassVar = WRITE_PARAMETERS

    def post(self, request: Request, **ids: Any) -> Response:
        body = self.serializer_class(data=self.read_body(request))
        body.is_valid(raise_exception=True)
        given = dict(body.validated_data)
        told: dict[str, Any] = {}
        answer, replayed = run_once_in_own_transactions(
            get_request_tenant_id(request),
            request,
            type(self).__name__,
            lambda: self.run_write(request, given, told, **ids),
            keeps=True,
        )
        # What is told once is not stored, so that a repetition is answered without it.
        response = build_write_response(answer | told, replayed=replayed)
        response["Cache-Control"] = "no-store"
        return response

    def run_write(
        self, request: Request, given: dict[str, Any], told: dict[str, Any], **ids: Any
    ) -> dict[str, Any]:
        """The answer. What belongs into it but is not to be kept goes to `told`."""
        raise NotImplementedError

    def build_response_schema(self) -> dict[str, Any]:
        return {
            "type": "object",
            "properties": {self.response_resource.name: self.response_resource.build_schema()},
        }


class NewWebhookView(_WebhookWriteView):
    """Have an address told. Its secret is in this answer and in no other."""

    serializer_class = NewWebhookSerializer
    example: ClassVar = {
        "name": "CRM",
        "url": "https://crm.example.org/memoryhub",
        "events": _EXAMPLE_EVENTS,
    }

    def run_write(
        self, request: Request, given: dict[str, Any], told: dict[str, Any], **ids: Any
    ) -> dict[str, Any]:
        key = get_request_key(request)
        given["space"] = _find_bound_space(request, given.pop("subject"))
        wanted = services.WebhookDraft(**given)
        hook, told["secret"] = services.create_webhook(
            key.tenant_id, wanted, key.actor, timezone.now()
        )
        return _render_webhook(request, hook.id)

    def build_response_schema(self) -> dict[str, Any]:
        schema = super().build_response_schema()
        schema["properties"]["secret"] = _SECRET_SCHEMA
        return schema


class ChangeWebhookView(_WebhookWriteView):
    """Another name, address, choice of events or content; on or off."""

    serializer_class = ChangeWebhookSerializer
    parameters: ClassVar = VERSIONED_PARAMETERS
    example: ClassVar = {"is_active": False}

    def run_write(
        self, request: Request, given: dict[str, Any], told: dict[str, Any], **ids: Any
    ) -> dict[str, Any]:
        hook, version = _get_webhook_id(request, ids["row_id"]), read_if_match_version(request)
        tenant_id = get_request_tenant_id(request)
        actor = get_request_key(request).actor
        services.update_webhook(
            tenant_id, hook, timezone.now(), actor=actor, version=version, **given
        )
        return _render_webhook(request, hook)


class RotateWebhookView(_WebhookWriteView):
    """Another secret, in this answer and in no other; for a while both sign."""

    serializer_class = RotateWebhookSerializer
    example: ClassVar = {"overlap_hours": 24}

    def run_write(
        self, request: Request, given: dict[str, Any], told: dict[str, Any], **ids: Any
    ) -> dict[str, Any]:
        hook = _get_webhook_id(request, ids["row_id"])
        overlap = timedelta(hours=given["overlap_hours"])
        _, told["secret"] = services.rotate_secret(
            get_request_tenant_id(request),
            hook,
            timezone.now(),
            overlap,
            actor=get_request_key(request).actor,
        )
        return _render_webhook(request, hook)

    def build_response_schema(self) -> dict[str, Any]:
        schema = super().build_response_schema()
        schema["properties"]["secret"] = _SECRET_SCHEMA
        return schema


class DeleteWebhookView(_WebhookWriteView):
    """Tell it nothing more, and forget what it was told."""

    def run_write(
        self, request: Request, given: dict[str, Any], told: dict[str, Any], **ids: Any
    ) -> dict[str, Any]:
        hook = _get_webhook_id(request, ids["row_id"])
        services.delete_webhook(
            get_request_tenant_id(request), hook, actor=get_request_key(request).actor
        )
        return {"id": str(hook), "deleted": True}

    def build_response_schema(self) -> dict[str, Any]:
        shown = {"id": {"type": "string", "format": "uuid"}, "deleted": {"type": "boolean"}}
        return {"type": "object", "properties": shown}


class PingWebhookView(_WebhookWriteView):
    """Send a test event at once, and answer with what came of it."""

    response_resource: ClassVar[Resource] = DELIVERIES

    def run_write(
        self, request: Request, given: dict[str, Any], told: dict[str, Any], **ids: Any
    ) -> dict[str, Any]:
        hook = _get_webhook_id(request, ids["row_id"])
        made = services.ping_webhook(get_request_tenant_id(request), hook, timezone.now())
        return _render_delivery(request, made.id)


class DeliveriesView(ResourceView):
    """What a webhook was sent, and what it answered; `?state=dead` what was given up."""

    resource = DELIVERIES
    scopes: ClassVar = {"GET": "admin"}
    parameters: ClassVar = [
        *PAGE_PARAMETERS,
        OpenApiParameter("state", str, enum=Delivery.State.values),
    ]

    def get(self, request: Request, row_id: UUID) -> Response:
        with tenant_scope(get_request_tenant_id(request)):
            rows = _select_visible_deliveries(request).filter(
                webhook_id=_get_webhook_id(request, row_id)
            )
            rows = rows.filter(build_status_condition(request, DELIVERIES))
            if (state := request.query_params.get("state")) is not None:
                rows = rows.filter(state=_check_state(state))
            return Response(list_rows(request, DELIVERIES, rows))

    def build_response_schema(self) -> dict[str, Any]:
        return build_page_schema(DELIVERIES)


class DeliveryView(TenantRowView):
    """One delivery with its latest tries."""

    resource = DELIVERIES
    scopes: ClassVar = {"GET": "admin"}

    def select_rows(self, request: Request) -> QuerySet[Any]:
        return _select_visible_deliveries(request)


class ReplayDeliveryView(_WebhookWriteView):
    """Send a delivery again, with the same event id."""

    response_resource: ClassVar[Resource] = DELIVERIES

    def run_write(
        self, request: Request, given: dict[str, Any], told: dict[str, Any], **ids: Any
    ) -> dict[str, Any]:
        _render_delivery(request, ids["row_id"])
        services.replay_delivery(get_request_tenant_id(request), ids["row_id"], timezone.now())
        return _render_delivery(request, ids["row_id"])


def _find_bound_space(request: Request, subject: str) -> Space | None:
    """The space it is bound to: a key of one subject makes webhooks of that one."""
    if subject:
        return get_space_at_path(request, subject)
    key = get_request_key(request)
    if key.space_id is None:
        return None
    with tenant_scope(key.tenant_id):
        return Space.objects.get(id=key.space_id)


def _get_webhook_id(request: Request, row_id: UUID) -> UUID:
    """The id, if the key may see the webhook. Raises NotFound."""
    with tenant_scope(get_request_tenant_id(request)):
        if not select_visible_rows(request, WEBHOOKS).filter(id=row_id).exists():
            raise NotFound("There is no such webhook.")
    return row_id


def _render_webhook(request: Request, row_id: UUID) -> dict[str, Any]:
    with tenant_scope(get_request_tenant_id(request)):
        return {"webhook": render_row(WEBHOOKS, WEBHOOKS.select_rows(), row_id)}


def _select_visible_deliveries(request: Request) -> QuerySet[Any]:
    """Deliveries of the webhooks that the key may see."""
    bound = get_request_key(request).space_id
    return DELIVERIES.select_rows().filter(**({"webhook__space_id": bound} if bound else {}))


def _render_delivery(request: Request, row_id: UUID) -> dict[str, Any]:
    with tenant_scope(get_request_tenant_id(request)):
        return {"delivery": render_row(DELIVERIES, _select_visible_deliveries(request), row_id)}


def _check_state(state: str) -> str:
    if state not in Delivery.State.values:
        raise InvalidInput(f"must be one of {', '.join(Delivery.State.values)}", field="state")
    return state
