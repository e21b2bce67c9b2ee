"""Shapes of small charts, as numbers for SVG attributes. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from typing import Any

from memoryhub.policies.schema import HeatPolicy

WIDTH, HEIGHT = 600, 96
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
