"""What models took: sums over calls. Call inside the tenant's scope; one statement each."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from django.db.models import Count, F, Q, QuerySet, Sum
from django.db.models.functions import TruncDate

from memoryhub.inference.models import ModelCall

_USAGE_AGGREGATES: dict[str, Any] = {
    "calls": Count("pk"),
    "tokens": Sum(F("prompt_tokens") + F("completion_tokens"), default=0),
    "money": Sum("cost", default=Decimal(0)),
    "failed": Count("pk", filter=Q(status=ModelCall.Status.FAILED)),
    "rejected": Sum("rejected", default=0),
}


@dataclass(frozen=True, slots=True)
class UsageSums:
    """Sums over calls; `key` is the day, purpose or model they are of."""

    calls: int = 0
    tokens: int = 0
    money: Decimal = Decimal(0)
    failed: int = 0
    rejected: int = 0
    key: Any = ""


def sum_usage(rows: QuerySet[ModelCall]) -> UsageSums:
    return UsageSums(**rows.order_by().aggregate(**_USAGE_AGGREGATES))


def sum_usage_by(rows: QuerySet[ModelCall], field: str) -> list[UsageSums]:
    """Per value of a column ("purpose", "model"), the most expensive in tokens first."""
    found: Any = rows.order_by().values(key=F(field)).annotate(**_USAGE_AGGREGATES)
    return sorted((UsageSums(**row) for row in found), key=lambda f: (-f.tokens, f.key))


def sum_usage_by_day(rows: QuerySet[ModelCall]) -> list[UsageSums]:
    """Per day (UTC) with a call, the first one first."""
    found: Any = rows.order_by().annotate(key=TruncDate("created_at"))
    sums = (UsageSums(**row) for row in found.values("key").annotate(**_USAGE_AGGREGATES))
    return sorted(sums, key=lambda f: f.key)
