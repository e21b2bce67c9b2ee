"""Turns and facts by day, as numbers for SVG attributes. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from memoryhub.console.frame.charts import HEIGHT, WIDTH
from memoryhub.console.pages.overview.queries import ActivitySlot


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
    beside = round(left + width + 1, 2)
    first = (left, width, HEIGHT - turns, turns)
    return DayBar(day, round(x, 2), round(slot, 2), *first, beside, HEIGHT - facts, facts)


def _compute_bar_height(count: int, top: int) -> float:
    """At least two units for anything at all, so that a single turn is seen."""
    return round(max(2.0, count * (HEIGHT - 4) / top), 2) if count else 0.0
