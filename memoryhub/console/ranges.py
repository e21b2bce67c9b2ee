"""Ranges of days in addresses: they begin where the overview counts from."""

from __future__ import annotations

from datetime import datetime, timedelta

from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from memoryhub.console.listing import Choice
from memoryhub.inference.budgets import day_of

HOURS = 24
KEPT = Choice(
    "days",
    _("Days"),
    (("all", _("all kept")), ("1", _("last one")), ("7", _("last 7")), ("30", _("last 30"))),
)


def since(days: int, now: datetime) -> datetime:
    """When they began: with the first of the days, today being the last; of one, 24 hours ago."""
    if days == 1:
        return now.replace(minute=0, second=0, microsecond=0) - timedelta(hours=HOURS - 1)
    return day_of(now) - timedelta(days=days - 1)


def within(days: str, column: str, now: datetime) -> Q:
    """Rows whose time in `column` is in the range; "all": any row."""
    return Q() if days == "all" else Q(**{f"{column}__gte": since(int(days), now)})
