"""What models were asked, and what that took."""

from __future__ import annotations

from datetime import date, datetime, timedelta
from uuid import UUID

from django.db.models import QuerySet
from django.http import Http404
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from memoryhub.console import ranges
from memoryhub.console.listing import Choice, Filters, containing
from memoryhub.console.replying import CHAT
from memoryhub.engines.llm.own_prompts import PURPOSES
from memoryhub.inference import usage
from memoryhub.inference.budgets import day_of
from memoryhub.inference.models import ModelCall
from memoryhub.inference.usage import Figures
from memoryhub.policies.switches import PROXY

DAYS = Choice("days", _("Days"), (("7", _("last 7")), ("1", _("last one")), ("30", _("last 30"))))
PURPOSE = Choice(
    "purpose",
    _("Purpose"),
    (("all", _("all")), *((name, name) for name in (*PURPOSES, PROXY, CHAT))),
)
STATUS = Choice(
    "status", pgettext_lazy("column", "Ended"), (("all", _("any way")), *ModelCall.Status.choices)
)


def today(now: datetime) -> Figures:
    """One statement."""
    return usage.total(ModelCall.objects.filter(created_at__gte=day_of(now)))


def since(at: datetime) -> Figures:
    """One statement."""
    return usage.total(ModelCall.objects.filter(created_at__gte=at))


def by(field: str, filters: Filters, now: datetime) -> list[Figures]:
    """Per "purpose" or "model", the most expensive in tokens first."""
    return usage.by(_chosen(filters, now), field)


def by_day(filters: Filters, now: datetime) -> list[Figures]:
    """Every day of the range, today first, also those without a call."""
    found = {each.key: each for each in usage.by_day(_chosen(filters, now))}
    return [found.get(day, Figures(key=day)) for day in _days(filters, now)]


def _days(filters: Filters, now: datetime) -> list[date]:
    """Today first: the last 24 hours are of two days."""
    today, first = day_of(now).date(), _first(filters, now).date()
    return [today - timedelta(days=back) for back in range((today - first).days + 1)]


def _first(filters: Filters, now: datetime) -> datetime:
    return ranges.since(int(filters["days"]), now)


def calls(filters: Filters, now: datetime, *, words: bool = False) -> QuerySet[ModelCall]:
    """Newest first. `words`: with what was asked and answered."""
    rows = _chosen(filters, now).select_related("space")
    return rows if words else rows.defer("input", "output")


def call_or_404(call_id: UUID) -> ModelCall:
    rows = ModelCall.objects.select_related("space")
    found: ModelCall | None = rows.filter(id=call_id).first()
    if found is None:
        raise Http404
    return found


def _chosen(filters: Filters, now: datetime) -> QuerySet[ModelCall]:
    rows: QuerySet[ModelCall] = ModelCall.objects.filter(created_at__gte=_first(filters, now))
    for name in ("purpose", "status"):
        if filters[name] != "all":
            rows = rows.filter(**{name: filters[name]})
    return rows.filter(containing(filters.q, "purpose", "model", "error", "space__subject"))
