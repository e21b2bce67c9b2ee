"""Ranges of days in addresses: they begin where the overview counts from."""

from __future__ import annotations

from datetime import datetime, timedelta

from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from memoryhub.console.frame.lists import FilterChoice
from memoryhub.inference.budgets import compute_day_start

HOURS_A_DAY = 24
KEPT_DAYS_CHOICE = FilterChoice(
    "days",
    _("Days"),
    (
        ("all", _("everything kept")),
        ("1", _("last day")),
        ("7", _("last 7 days")),
        ("30", _("last 30 days")),
    ),
)


def compute_range_start(days: int, now: datetime) -> datetime:
    """When they began: with the first of the days, today being the last; of one, 24 hours ago."""
    if days == 1:
        return now.replace(minute=0, second=0, microsecond=0) - timedelta(hours=HOURS_A_DAY - 1)
    return compute_day_start(now) - timedelta(days=days - 1)


def build_range_condition(days: str, column: str, now: datetime) -> Q:
    """Rows whose time in `column` is in the range; "all": any row."""
    return Q() if days == "all" else Q(**{f"{column}__gte": compute_range_start(int(days), now)})
