"""What a tenant may spend on models in a day (UTC). Pure."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from decimal import Decimal

from django.utils.translation import gettext as _


@dataclass(frozen=True, slots=True)
class Spending:
    """What was spent, or may be."""

    tokens: int = 0
    money: Decimal = Decimal(0)


def compute_day_start(now: datetime) -> datetime:
    """When the day of `now` began."""
    return now.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)


def compute_next_day(now: datetime) -> datetime:
    return compute_day_start(now) + timedelta(days=1)


def describe_spent_budget(spent: Spending, tokens: int | None, money: float | None) -> str:
    """Which budget is spent, in words; "" when none is. None is no limit."""
    if tokens is not None and spent.tokens >= tokens:
        return _("%(spent)s of %(limit)s tokens") % {
            "spent": f"{spent.tokens:,}",
            "limit": f"{tokens:,}",
        }
    if money is not None and spent.money >= Decimal(str(money)):
        return _("%(spent)s of %(limit)s in money") % {
            "spent": f"{spent.money:.2f}",
            "limit": f"{money:.2f}",
        }
    return ""
