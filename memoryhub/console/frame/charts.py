"""Shapes of small charts, as numbers for SVG attributes. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any

from memoryhub.console.pages.overview.queries import ActivitySlot
from memoryhub.policies.schema import HeatPolicy
from notes.facts.validity import is_fact_over
from notes.models import Fact

WIDTH, HEIGHT = 600, 96


@dataclass(frozen=True, slots=True)
class DayBar:
    day: ActivitySlot
    slot_x: float
    slot_width: float
    x: float
    width: float
    turns_y: float
    turns_height: float
    facts_x: float
    facts_y: float
    facts_height: float


@dataclass(frozen=True, slots=True)
class ActivityChart:
    bars: list[DayBar]
    top: int
    turns: int
    facts: int


def build_activity_chart(days: Sequence[ActivitySlot]) -> ActivityChart:
    """Two bars a day on one scale, the taller one first."""
    top = max((max(day.turns, day.facts) for day in days), default=0)
    slot = WIDTH / max(1, len(days))
    bars = [_build_day_bar(day, at * slot, slot, top) for at, day in enumerate(days)]
    return ActivityChart(bars, top, sum(d.turns for d in days), sum(d.facts for d in days))


def _build_day_bar(day: ActivitySlot, x: float, slot: float, top: int) -> DayBar:
    width = round(slot * 0.38, 2)
    turns, facts = (_compute_bar_height(count, top) for count in (day.turns, day.facts))
    left = round(x + slot * 0.1, 2)
    return DayBar(
        day,
        round(x, 2),
        round(slot, 2),
        left,
        width,
        HEIGHT - turns,
        turns,
        round(left + width + 1, 2),
        HEIGHT - facts,
        facts,
    )


def _compute_bar_height(count: int, top: int) -> float:
    """At least two units for anything at all, so that a single turn is seen."""
    return round(max(2.0, count * (HEIGHT - 4) / top), 2) if count else 0.0


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
    return DrawnInterval(
        left, round(max(1.5, right - left), 2), end is None, _select_drawn_status(fact, now)
    )


def _select_drawn_status(fact: Fact, now: datetime) -> str:
    """The status to draw: what ends in the future has not been superseded yet."""
    ending = fact.status == Fact.Status.SUPERSEDED and not is_fact_over(fact, now)
    return Fact.Status.ACTIVE if ending else fact.status


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
    return LineageChart(
        [(row, build_interval(row.fact, start, now)) for row in versions], start, now
    )


DAILY_BARS_HEIGHT = 40.0


def build_daily_bars(
    counts: Sequence[tuple[date, int]],
) -> list[tuple[date, int, float, float, float, float]]:
    """(day, count, x, y, width, height) of a bar a day on a line of `WIDTH`."""
    top = max((count for _, count in counts), default=0)
    slot = WIDTH / max(1, len(counts))
    bars = []
    for at, (day, count) in enumerate(counts):
        height = round(max(3.0, DAILY_BARS_HEIGHT * count / top), 2) if count else 0.0
        x, width = round(at * slot, 2), round(slot * 0.7, 2)
        bars.append((day, count, x, DAILY_BARS_HEIGHT - height, width, height))
    return bars


def build_heat_parts(
    segment: Any, hottest: float, weights: HeatPolicy, *, promotion: bool = False
) -> list[tuple[str, str, float, float]]:
    """(name, shown value, x, width) of visits, pages and recency on a bar of width 100, each with
    its weight in the heat that decides on promotion or on staying."""
    visits, pages = segment.visits_total, segment.pages_total
    if promotion:
        visits, pages = segment.promo_visits, segment.promo_pages
    parts: list[tuple[str, str, float, float]] = []
    x = 0.0
    for name, value in (
        ("visits", weights.alpha * visits),
        ("pages", weights.beta * pages),
        ("recency", weights.gamma * float(segment.recency)),
    ):
        width = round(100 * value / max(hottest, 0.01), 2)
        parts.append((name, f"{value:.2f}".rstrip("0").rstrip("."), round(x, 2), width))
        x += width
    return parts
