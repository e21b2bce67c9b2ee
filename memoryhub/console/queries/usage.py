"""What models were asked, and what that took."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID

from django.db.models import Count, F, Q, QuerySet, Sum
from django.db.models.functions import TruncDate
from django.http import Http404

from memoryhub.console.listing import Choice, Filters, Page, containing, page_of
from memoryhub.inference.budgets import day_of
from memoryhub.inference.models import ModelCall
from memoryhub.policies.switches import PURPOSES

DAYS = Choice("days", "Days", (("7", "last 7"), ("1", "today"), ("30", "last 30")))
PURPOSE = Choice("purpose", "Purpose", (("all", "all"), *((name, name) for name in PURPOSES)))
STATUS = Choice("status", "Ended", (("all", "any way"), *ModelCall.Status.choices))
_FAILED = Q(status=ModelCall.Status.FAILED)
_FIGURES: dict[str, Any] = {
    "calls": Count("pk"),
    "tokens": Sum(F("prompt_tokens") + F("completion_tokens")),
    "money": Sum("cost"),
    "failed": Count("pk", filter=_FAILED),
    "rejected": Sum("rejected"),
}


@dataclass(frozen=True, slots=True)
class Figures:
    """Sums over calls; `key` is the day, purpose or model they are of."""

    calls: int = 0
    tokens: int = 0
    money: Decimal = Decimal(0)
    failed: int = 0
    rejected: int = 0
    key: Any = ""


def today(now: datetime) -> Figures:
    """One statement."""
    rows = ModelCall.objects.filter(created_at__gte=day_of(now)).order_by()
    return _figures(rows.aggregate(**_FIGURES))


def by(field: str, filters: Filters, now: datetime) -> list[Figures]:
    """Per "purpose" or "model", the most expensive in tokens first."""
    rows: Any = _chosen(filters, now).order_by().values(key=F(field)).annotate(**_FIGURES)
    return sorted(map(_figures, rows), key=lambda f: (-f.tokens, f.key))


def by_day(filters: Filters, now: datetime) -> list[Figures]:
    """Every day of the range, today first, also those without a call."""
    rows: Any = _chosen(filters, now).order_by().annotate(key=TruncDate("created_at"))
    found = {row["key"]: _figures(row) for row in rows.values("key").annotate(**_FIGURES)}
    return [found.get(day, Figures(key=day)) for day in _days(filters, now)]


def _days(filters: Filters, now: datetime) -> list[date]:
    first = day_of(now).date()
    return [first - timedelta(days=back) for back in range(int(filters["days"]))]


def calls(filters: Filters, now: datetime) -> Page[ModelCall]:
    rows = _chosen(filters, now).select_related("space").defer("input", "output")
    return page_of(rows, filters.page)


def call_or_404(call_id: UUID) -> ModelCall:
    rows = ModelCall.objects.select_related("space")
    found: ModelCall | None = rows.filter(id=call_id).first()
    if found is None:
        raise Http404
    return found


def _chosen(filters: Filters, now: datetime) -> QuerySet[ModelCall]:
    since = day_of(now) - timedelta(days=int(filters["days"]) - 1)
    rows: QuerySet[ModelCall] = ModelCall.objects.filter(created_at__gte=since)
    for name in ("purpose", "status"):
        if filters[name] != "all":
            rows = rows.filter(**{name: filters[name]})
    return rows.filter(containing(filters.q, "purpose", "model", "error", "space__subject"))


def _figures(row: dict[str, Any]) -> Figures:
    return Figures(
        row["calls"],
        row["tokens"] or 0,
        row["money"] or Decimal(0),
        row["failed"],
        row["rejected"] or 0,
        row.get("key", ""),
    )
