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

from api.authentication import tenant_of
from api.columns import ID, NUMBER, TEXT, TIME, Column, Resource
from api.resources.base import TenantListView, seen
from api.views import HubView
from memoryhub.errors import InvalidInput
from memoryhub.inference import usage
from memoryhub.inference.budgets import day_of
from memoryhub.inference.models import ModelCall
from memoryhub.inference.usage import Figures
from memoryhub.tenants.scope import tenant_scope

MOST_DAYS = 366

CALLS = Resource(
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


class CallsView(TenantListView):
    resource = CALLS


class UsageView(HubView):
    """What models took in the last days: in all, by day, by purpose, by model."""

    scopes: ClassVar = {"GET": "read"}
    parameters: ClassVar = [
        OpenApiParameter(
            "days",
            {"type": "integer", "minimum": 1, "maximum": MOST_DAYS, "default": 30},
            description="How many days, today included (UTC).",
        )
    ]

    def get(self, request: Request) -> Response:
        since = day_of(timezone.now()) - timedelta(days=_days(request) - 1)
        with tenant_scope(tenant_of(request)):
            rows: QuerySet[Any] = seen(request, CALLS).filter(created_at__gte=since)
            return Response(
                {
                    "since": since,
                    "total": _shown(usage.total(rows)),
                    "days": [_shown(each, "day") for each in usage.by_day(rows)],
                    "purposes": [_shown(each, "purpose") for each in usage.by(rows, "purpose")],
                    "models": [_shown(each, "model") for each in usage.by(rows, "model")],
                }
            )

    def answers(self) -> dict[str, Any]:
        sums = {"type": "array", "items": _SUMS}
        shown = {"since": {"type": "string"}, "total": _SUMS}
        return {
            "type": "object",
            "properties": shown | {"days": sums, "purposes": sums, "models": sums},
        }


_SUMS = {
    "type": "object",
    "properties": {
        name: {"type": "number"} for name in ("calls", "tokens", "money", "failed", "rejected")
    },
}


def _shown(figures: Figures, name: str = "") -> dict[str, Any]:
    sums = asdict(figures)
    key = sums.pop("key")
    return ({name: key} if name else {}) | sums


def _days(request: Request) -> int:
    raw = request.query_params.get("days", "30")
    if not (raw.isascii() and raw.isdecimal() and len(raw) < 5 and 1 <= int(raw) <= MOST_DAYS):
        raise InvalidInput(f"a whole number from 1 to {MOST_DAYS}", field="days")
    return int(raw)
