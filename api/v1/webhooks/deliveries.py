"""What webhooks were sent, what they answered, and sending it again."""

from __future__ import annotations

from typing import Any, ClassVar
from uuid import UUID

from django.db.models import QuerySet
from drf_spectacular.utils import OpenApiParameter
from rest_framework.request import Request
from rest_framework.response import Response

from api.core.authentication import get_request_key, get_request_tenant_id
from api.rows.answers import build_page_type
from api.rows.columns import ID, NUMBER, OBJECT, TEXT, TIME, Column, Resource
from api.rows.lists import build_status_condition, list_rows, render_row
from api.rows.read_views import (
    ResourceView,
    TenantRowView,
)
from api.rows.write_views import TenantWriteRequest
from api.schema.openapi import (
    PAGE_PARAMETERS,
)
from api.v1.webhooks.views import WebhookWriteView, get_webhook_id
from memoryhub.errors import InvalidInput
from memoryhub.tenants.scope import tenant_scope
from memoryhub.webhooks import services
from memoryhub.webhooks.models import Delivery

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


class PingWebhookView(WebhookWriteView):
    """Send a test event at once, and answer with what came of it."""

    response_resource: ClassVar[Resource] = DELIVERIES

    def run_write(self, request: Request, deed: TenantWriteRequest, **ids: Any) -> dict[str, Any]:
        hook = get_webhook_id(request, ids["row_id"])
        made = services.ping_webhook(deed.tenant_id, hook, deed.now)
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
                webhook_id=get_webhook_id(request, row_id)
            )
            rows = rows.filter(build_status_condition(request, DELIVERIES))
            if (state := request.query_params.get("state")) is not None:
                rows = rows.filter(state=_check_state(state))
            return Response(list_rows(request, DELIVERIES, rows))

    def get_answer_type(self, method: str, status: int) -> Any:
        return build_page_type(DELIVERIES)


class DeliveryView(TenantRowView):
    """One delivery with its latest tries."""

    resource = DELIVERIES
    scopes: ClassVar = {"GET": "admin"}

    def select_rows(self, request: Request) -> QuerySet[Any]:
        return _select_visible_deliveries(request)


class ReplayDeliveryView(WebhookWriteView):
    """Send a delivery again, with the same event id."""

    response_resource: ClassVar[Resource] = DELIVERIES

    def run_write(self, request: Request, deed: TenantWriteRequest, **ids: Any) -> dict[str, Any]:
        _render_delivery(request, ids["row_id"])
        services.replay_delivery(deed.tenant_id, ids["row_id"], deed.now)
        return _render_delivery(request, ids["row_id"])


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
