"""Which claims hold at a time: one rule, for rows in Python, for filters and for SQL (spec §11.7).

A claim is current while its interval covers the moment, whatever has already been said of what
comes after: "I move to Rome next year" closes Paris in a future that has not come.
"""

from __future__ import annotations

from datetime import datetime

from django.db.models import Q, QuerySet

from notes.models import Fact

_IS_RETRACTED = Q(status=Fact.Status.RETRACTED)


def filter_current(rows: QuerySet[Fact], at: datetime) -> QuerySet[Fact]:
    """Those of `rows` that hold at `at`."""
    held: QuerySet[Fact] = rows.filter(build_current_q(at))
    return held


def build_current_q(at: datetime) -> Q:
    """Neither withdrawn nor reworded, begun and not over."""
    open_ended = Q(valid_to=None) | Q(valid_to__gt=at)
    return ~_IS_RETRACTED & Q(retired_at=None, valid_from__lte=at) & open_ended


def build_future_q(at: datetime) -> Q:
    """Will hold, but does not yet."""
    return ~_IS_RETRACTED & Q(retired_at=None, valid_from__gt=at)


def build_past_q(at: datetime) -> Q:
    """Held once, or has been reworded since."""
    return ~_IS_RETRACTED & (Q(retired_at__isnull=False) | Q(valid_to__lte=at))


def build_plan_over_q(at: datetime) -> Q:
    """Plans whose day is over: still what was planned, but no longer ahead."""
    return Q(polarity="planned", event_to__lte=at)


def build_fact_current_sql(fact: str, at: str) -> str:
    """`build_current_q` of the row named `fact` at the SQL expression `at`."""
    return (
        f"({fact}.status <> 'retracted' AND {fact}.retired_at IS NULL"
        f" AND {fact}.valid_from <= {at} AND ({fact}.valid_to IS NULL OR {fact}.valid_to > {at}))"
    )


def is_fact_current(fact: Fact, at: datetime) -> bool:
    """`build_current_q` of a row in hand."""
    open_ended = fact.valid_to is None or fact.valid_to > at
    kept = fact.status != Fact.Status.RETRACTED and fact.retired_at is None
    return kept and fact.valid_from <= at and open_ended


def is_plan_over(fact: Fact, at: datetime) -> bool:
    """`build_plan_over_q` of a row in hand. What comes round ("every Tuesday") has no day."""
    return fact.polarity == "planned" and fact.event_to is not None and fact.event_to <= at


def is_fact_over(fact: Fact, at: datetime) -> bool:
    """Holds no longer, or never did: what is shown struck out. Not what is still to come."""
    return not is_fact_current(fact, max(at, fact.valid_from))
