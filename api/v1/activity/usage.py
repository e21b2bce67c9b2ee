"""What models were asked, and what that took."""

from __future__ import annotations

from dataclasses import asdict
from datetime import timedelta
from typing import Any, ClassVar

from django.db.models import QuerySet
from django.utils import timezone
from drf_spectacular.utils import OpenApiParameter
from rest_framework.request import Request
from rest_framework.response import Response

from api.core.authentication import get_request_tenant_id
from api.core.views import HubView
from api.rows.columns import ID, NUMBER, TEXT, TIME, Column, Resource
from api.rows.read_views import TenantListView, select_visible_rows
from memoryhub.errors import InvalidInput
from memoryhub.inference import usage
from memoryhub.inference.budgets import compute_day_start
from memoryhub.inference.models import ModelCall
from memoryhub.inference.usage import UsageSums
from memoryhub.tenants.scope import tenant_scope

MAX_DAYS = 366

MODEL_CALLS = Resource(
    "call",
    "A question put to a model, without its words.",
    ModelCall,
    {
        "id": ID,
        "subject": Column("text", "space__subject"),
        "job_id": ID,
        "purpose": TEXT,
        "template": TEXT,
        "model": TEXT,
        "status": TEXT,
        "attempts": NUMBER,
        "prompt_tokens": NUMBER,
        "completion_tokens": NUMBER,
        "cost": NUMBER,
        "milliseconds": NUMBER,
        "rejected": NUMBER,
        "created_at": TIME,
    },
    order=("-created_at", "-id"),
)


class ModelCallsView(TenantListView):
    resource = MODEL_CALLS


class UsageView(HubView):
    """What models took in the last days: in all, by day, by purpose, by model."""

    scopes: ClassVar = {"GET": "read"}
    parameters: ClassVar = [
        OpenApiParameter(
            "days",
            {"type": "integer", "minimum": 1, "maximum": MAX_DAYS, "default": 30},
            description="How many days, today included (UTC).",
        )
    ]

    def get(self, request: Request) -> Response:
        since = compute_day_start(timezone.now()) - timedelta(days=_read_days(request) - 1)
        with tenant_scope(get_request_tenant_id(request)):
            rows: QuerySet[Any] = select_visible_rows(request, MODEL_CALLS).filter(
                created_at__gte=since
            )
            return Response(
                {
                    "since": since,
                    "total": _render_figures(usage.sum_usage(rows)),
                    "days": [_render_figures(each, "day") for each in usage.sum_usage_by_day(rows)],
                    "purposes": [
                        _render_figures(each, "purpose")
                        for each in usage.sum_usage_by(rows, "purpose")
                    ],
                    "models": [
                        _render_figures(each, "model") for each in usage.sum_usage_by(rows, "model")
                    ],
                }
            )

    def build_response_schema(self) -> dict[str, Any]:
        sums = {"type": "array", "items": _SUMS_SCHEMA}
        shown = {"since": {"type": "string"}, "total": _SUMS_SCHEMA}
        return {
            "type": "object",
            "properties": shown | {"days": sums, "purposes": sums, "models": sums},
        }


_SUMS_SCHEMA = {
    "type": "object",
    "properties": {
        name: {"type": "number"} for name in ("calls", "tokens", "money", "failed", "rejected")
    },
}


def _render_figures(figures: UsageSums, name: str = "") -> dict[str, Any]:
    sums = asdict(figures)
    key = sums.pop("key")
    return ({name: key} if name else {}) | sums


def _read_days(request: Request) -> int:
    raw = request.query_params.get("days", "30")
    if not (raw.isascii() and raw.isdecimal() and len(raw) < 5 and 1 <= int(raw) <= MAX_DAYS):
        raise InvalidInput(f"a whole number from 1 to {MAX_DAYS}", field="days")
    return int(raw)
