"""What models were asked, and what that took."""

from __future__ import annotations

from datetime import date, datetime, timedelta
from uuid import UUID

from django.db.models import QuerySet
from django.shortcuts import get_object_or_404
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from memoryhub.console.frame import day_ranges
from memoryhub.console.frame.lists import FilterChoice, Filters, build_text_condition
from memoryhub.console.pages.chat.reply import CHAT_PURPOSE
from memoryhub.engines.llm.own_prompts import PURPOSES
from memoryhub.inference import usage
from memoryhub.inference.budgets import compute_day_start
from memoryhub.inference.models import ModelCall
from memoryhub.inference.usage import UsageSums
from memoryhub.policies.switches import PROXY_PURPOSE

USAGE_DAYS_CHOICE = FilterChoice(
    "days", _("Days"), (("7", _("last 7")), ("1", _("last one")), ("30", _("last 30")))
)
CALL_PURPOSE_CHOICE = FilterChoice(
    "purpose",
    _("Purpose"),
    (("all", _("all")), *((name, name) for name in (*PURPOSES, PROXY_PURPOSE, CHAT_PURPOSE))),
)
CALL_STATUS_CHOICE = FilterChoice(
    "status", pgettext_lazy("column", "Ended"), (("all", _("any way")), *ModelCall.Status.choices)
)


def sum_usage_today(now: datetime) -> UsageSums:
    """One statement."""
    return usage.sum_usage(ModelCall.objects.filter(created_at__gte=compute_day_start(now)))


def sum_usage_since(at: datetime) -> UsageSums:
    """One statement."""
    return usage.sum_usage(ModelCall.objects.filter(created_at__gte=at))


def sum_usage_by(field: str, filters: Filters, now: datetime) -> list[UsageSums]:
    """Per "purpose" or "model", the most expensive in tokens first."""
    return usage.sum_usage_by(_filter_calls(filters, now), field)


def sum_usage_by_day(filters: Filters, now: datetime) -> list[UsageSums]:
    """Every day of the range, today first, also those without a call."""
    found = {each.key: each for each in usage.sum_usage_by_day(_filter_calls(filters, now))}
    return [found.get(day, UsageSums(key=day)) for day in _list_usage_days(filters, now)]


def _list_usage_days(filters: Filters, now: datetime) -> list[date]:
    """Today first: the last 24 hours are of two days."""
    today, first = compute_day_start(now).date(), _compute_first_moment(filters, now).date()
    return [today - timedelta(days=back) for back in range((today - first).days + 1)]


def _compute_first_moment(filters: Filters, now: datetime) -> datetime:
    return day_ranges.compute_range_start(int(filters["days"]), now)


def list_calls(filters: Filters, now: datetime, *, words: bool = False) -> QuerySet[ModelCall]:
    """Newest first. `words`: with what was asked and answered."""
    rows = _filter_calls(filters, now).select_related("space")
    return rows if words else rows.defer("input", "output")


def get_call_or_404(call_id: UUID) -> ModelCall:
    return get_object_or_404(ModelCall.objects.select_related("space").filter(id=call_id))


def _filter_calls(filters: Filters, now: datetime) -> QuerySet[ModelCall]:
    rows: QuerySet[ModelCall] = ModelCall.objects.filter(
        created_at__gte=_compute_first_moment(filters, now)
    )
    for name in ("purpose", "status"):
        if filters[name] != "all":
            rows = rows.filter(**{name: filters[name]})
    return rows.filter(
        build_text_condition(filters.q, "purpose", "model", "error", "space__subject")
    )
