"""The times that the versions of a fact held, as numbers for SVG attributes. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from notes.facts.validity import is_fact_over
from notes.models import Fact


@dataclass(frozen=True, slots=True)
class DrawnInterval:
    """Part of a time line of width 100. `open`: it goes on, so its end fades."""

    x: float
    width: float
    open: bool
    status: str


def build_interval(fact: Fact, start: datetime, now: datetime) -> DrawnInterval:
    """The time the fact held, on a line from `start` to `now`."""
    whole = max(1.0, (now - start).total_seconds())
    left = _compute_line_share(fact.valid_from, start, whole)
    end = fact.valid_to or fact.retired_at
    right = _compute_line_share(end, start, whole) if end else 100.0
    # What ends in the future has not been superseded yet.
    ending = fact.status == Fact.Status.SUPERSEDED and not is_fact_over(fact, now)
    status = Fact.Status.ACTIVE if ending else fact.status
    return DrawnInterval(left, round(max(1.5, right - left), 2), end is None, status)


def _compute_line_share(at: datetime, start: datetime, whole: float) -> float:
    return round(min(98.5, max(0.0, 100 * (at - start).total_seconds() / whole)), 2)


@dataclass(frozen=True, slots=True)
class LineageChart:
    """Every version's interval on one line from `start` to `now`, and days to read it by."""

    rows: list[tuple[Any, DrawnInterval]]
    start: datetime
    now: datetime

    @property
    def middle(self) -> datetime:
        return self.start + (self.now - self.start) / 2

    @property
    def is_long(self) -> bool:
        """Whether the middle is a day of its own."""
        return (self.now - self.start).days > 2


def build_lineage_chart(versions: Sequence[Any], now: datetime) -> LineageChart:
    """`versions`: rows that have a `fact`."""
    start = min(row.fact.valid_from for row in versions)
    rows = [(row, build_interval(row.fact, start, now)) for row in versions]
    return LineageChart(rows, start, now)
