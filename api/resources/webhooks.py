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

from api.authentication import key_of, tenant_of
from api.columns import FLAG, ID, LIST, NUMBER, OBJECT, TEXT, TIME, Column, Resource
from api.fields import SAID, FlagField, NameField, SomeOfSerializer, TextField, WholeField
from api.idempotency import once_apart
from api.listing import held, listed, shown_row
from api.resources.base import ResourceView, TenantListView, TenantRowView, seen, space_at
from api.resources.writing import answered, version_of
from api.schema import PAGE_PARAMETERS, VERSIONED_PARAMETERS, WRITE_PARAMETERS, page_schema
from api.views import HubView
from memoryhub.errors import InvalidInput, NotFound
from memoryhub.tenants.models import Space
from memoryhub.tenants.scope import tenant_scope
from memoryhub.webhooks import naming, services
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
_EVENTS = ["fact.added", "fact.superseded", "conflict.opened"]
_SECRET = {"type": "string", "description": "Shown in this answer and never again."}


@extend_schema_field({"type": "string", "enum": [*naming.NATIVE, *naming.MEM0]})
class _EventField(NameField):
    """Which of them there are depends on the style: the service judges it."""


class WebhookSerializer(serializers.Serializer[Any]):
    """`subject`: the one space it is told of; without it all of them."""

    name = NameField(max_length=services.NAME_LENGTH, shape=SAID)
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


class ChangeWebhookSerializer(SomeOfSerializer):
    """What is not given stays."""

    name = NameField(required=False, max_length=services.NAME_LENGTH, shape=SAID)
    url = TextField(required=False)
    events = serializers.ListField(
        child=_EventField(max_length=60), required=False, allow_empty=False, max_length=100
    )
    content = serializers.ChoiceField(choices=Webhook.Content.values, required=False)
    is_active = FlagField(required=False)


class RotateWebhookSerializer(serializers.Serializer[Any]):
    """`overlap_hours`: how long the old secret still signs beside the new one."""

    overlap_hours = WholeField(
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


class _DeedView(HubView):
    """A write of an admin, done once per Idempotency-Key."""

    shows: ClassVar[Resource] = WEBHOOKS
    scopes: ClassVar = {"POST": "admin"}
    serializer_class: type[serializers.Serializer[Any]] = EmptySerializer
    parameters: ClassVar = WRITE_PARAMETERS

    def post(self, request: Request, **ids: Any) -> Response:
        body = self.serializer_class(data=self.body(request))
        body.is_valid(raise_exception=True)
        given = dict(body.validated_data)
        told: dict[str, Any] = {}
        answer, replayed = once_apart(
            tenant_of(request),
            request,
            type(self).__name__,
            lambda: self.work(request, given, told, **ids),
            keeps=True,
        )
        # What is told once is not stored, so that a repetition is answered without it.
        response = answered(answer | told, replayed=replayed)
        response["Cache-Control"] = "no-store"
        return response

    def work(
        self, request: Request, given: dict[str, Any], told: dict[str, Any], **ids: Any
    ) -> dict[str, Any]:
        """The answer. What belongs into it but is not to be kept goes to `told`."""
        raise NotImplementedError

    def answers(self) -> dict[str, Any]:
        return {"type": "object", "properties": {self.shows.name: self.shows.schema()}}


class NewWebhookView(_DeedView):
    """Have an address told. Its secret is in this answer and in no other."""

    serializer_class = WebhookSerializer
    example: ClassVar = {
        "name": "CRM",
        "url": "https://crm.example.org/memoryhub",
        "events": _EVENTS,
    }

    def work(
        self, request: Request, given: dict[str, Any], told: dict[str, Any], **ids: Any
    ) -> dict[str, Any]:
        key = key_of(request)
        given["space"] = _space(request, given.pop("subject"))
        wanted = services.Wanted(**given)
        hook, told["secret"] = services.create_webhook(
            key.tenant_id, wanted, key.actor, timezone.now()
        )
        return _shown(request, hook.id)

    def answers(self) -> dict[str, Any]:
        schema = super().answers()
        schema["properties"]["secret"] = _SECRET
        return schema


class ChangeWebhookView(_DeedView):
    """Another name, address, choice of events or content; on or off."""

    serializer_class = ChangeWebhookSerializer
    parameters: ClassVar = VERSIONED_PARAMETERS
    example: ClassVar = {"is_active": False}

    def work(
        self, request: Request, given: dict[str, Any], told: dict[str, Any], **ids: Any
    ) -> dict[str, Any]:
        hook, version = _hook(request, ids["row_id"]), version_of(request)
        tenant_id = tenant_of(request)
        actor = key_of(request).actor
        services.change_webhook(
            tenant_id, hook, timezone.now(), actor=actor, version=version, **given
        )
        return _shown(request, hook)


class RotateWebhookView(_DeedView):
    """Another secret, in this answer and in no other; for a while both sign."""

    serializer_class = RotateWebhookSerializer
    example: ClassVar = {"overlap_hours": 24}

    def work(
        self, request: Request, given: dict[str, Any], told: dict[str, Any], **ids: Any
    ) -> dict[str, Any]:
        hook = _hook(request, ids["row_id"])
        overlap = timedelta(hours=given["overlap_hours"])
        _, told["secret"] = services.rotate_secret(
            tenant_of(request), hook, timezone.now(), overlap, actor=key_of(request).actor
        )
        return _shown(request, hook)

    def answers(self) -> dict[str, Any]:
        schema = super().answers()
        schema["properties"]["secret"] = _SECRET
        return schema


class DeleteWebhookView(_DeedView):
    """Tell it nothing more, and forget what it was told."""

    def work(
        self, request: Request, given: dict[str, Any], told: dict[str, Any], **ids: Any
    ) -> dict[str, Any]:
        hook = _hook(request, ids["row_id"])
        services.delete_webhook(tenant_of(request), hook, actor=key_of(request).actor)
        return {"id": str(hook), "deleted": True}

    def answers(self) -> dict[str, Any]:
        shown = {"id": {"type": "string", "format": "uuid"}, "deleted": {"type": "boolean"}}
        return {"type": "object", "properties": shown}


class PingWebhookView(_DeedView):
    """Send a test event at once, and answer with what came of it."""

    shows: ClassVar[Resource] = DELIVERIES

    def work(
        self, request: Request, given: dict[str, Any], told: dict[str, Any], **ids: Any
    ) -> dict[str, Any]:
        hook = _hook(request, ids["row_id"])
        made = services.ping(tenant_of(request), hook, timezone.now())
        return _delivery(request, made.id)


class DeliveriesView(ResourceView):
    """What a webhook was sent, and what it answered; `?state=dead` what was given up."""

    resource = DELIVERIES
    scopes: ClassVar = {"GET": "admin"}
    parameters: ClassVar = [
        *PAGE_PARAMETERS,
        OpenApiParameter("state", str, enum=Delivery.State.values),
    ]

    def get(self, request: Request, row_id: UUID) -> Response:
        with tenant_scope(tenant_of(request)):
            rows = _sent(request).filter(webhook_id=_hook(request, row_id))
            rows = rows.filter(held(request, DELIVERIES))
            if (state := request.query_params.get("state")) is not None:
                rows = rows.filter(state=_known(state))
            return Response(listed(request, DELIVERIES, rows))

    def answers(self) -> dict[str, Any]:
        return page_schema(DELIVERIES)


class DeliveryView(TenantRowView):
    """One delivery with its latest tries."""

    resource = DELIVERIES
    scopes: ClassVar = {"GET": "admin"}

    def rows(self, request: Request) -> QuerySet[Any]:
        return _sent(request)


class ReplayDeliveryView(_DeedView):
    """Send a delivery again, with the same event id."""

    shows: ClassVar[Resource] = DELIVERIES

    def work(
        self, request: Request, given: dict[str, Any], told: dict[str, Any], **ids: Any
    ) -> dict[str, Any]:
        _delivery(request, ids["row_id"])
        services.replay(tenant_of(request), ids["row_id"], timezone.now())
        return _delivery(request, ids["row_id"])


def _space(request: Request, subject: str) -> Space | None:
    """The space it is bound to: a key of one subject makes webhooks of that one."""
    if subject:
        return space_at(request, subject)
    key = key_of(request)
    if key.space_id is None:
        return None
    with tenant_scope(key.tenant_id):
        return Space.objects.get(id=key.space_id)


def _hook(request: Request, row_id: UUID) -> UUID:
    """The id, if the key may see the webhook. Raises NotFound."""
    with tenant_scope(tenant_of(request)):
        if not seen(request, WEBHOOKS).filter(id=row_id).exists():
            raise NotFound("There is no such webhook.")
    return row_id


def _shown(request: Request, row_id: UUID) -> dict[str, Any]:
    with tenant_scope(tenant_of(request)):
        return {"webhook": shown_row(WEBHOOKS, WEBHOOKS.rows(), row_id)}


def _sent(request: Request) -> QuerySet[Any]:
    """Deliveries of the webhooks that the key may see."""
    bound = key_of(request).space_id
    return DELIVERIES.rows().filter(**({"webhook__space_id": bound} if bound else {}))


def _delivery(request: Request, row_id: UUID) -> dict[str, Any]:
    with tenant_scope(tenant_of(request)):
        return {"delivery": shown_row(DELIVERIES, _sent(request), row_id)}


def _known(state: str) -> str:
    if state not in Delivery.State.values:
        raise InvalidInput(f"must be one of {', '.join(Delivery.State.values)}", field="state")
    return state
