"""The forgetting curve of one memory, as numbers for SVG attributes. Pure (spec §2.3, §11.6)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.utils.translation import gettext
from django.utils.translation import gettext_noop as _

from memoryhub.policies.schema import ForgetPolicy
from notes.retention.curve import compute_rank_weight, compute_retention, draw_chance
from notes.retention.spans import RetentionLife, RetentionSpan

WIDTH, HEIGHT = 240.0, 64.0
CURVE_POINTS = 48


@dataclass(frozen=True, slots=True)
class ForgettingCurve:
    """`line` and `area` are lists of points. `level`: what the curve is measured against, as a
    height; None where nothing is ever hidden. `now_x`: where today stands."""

    line: str
    area: str
    now_x: float
    now_y: float
    level: float | None
    start: datetime
    end: datetime
    says: str


_MODE_SENTENCES = {
    "rank": _("Fading lowers its rank: its weight is now ×%(weight)s, and it is never hidden."),
    "sample": _("It is hidden once the curve reaches %(level)s, the level drawn for it at random."),
    "threshold": _("It is hidden once the curve falls below %(level)s."),
}


def build_curve(
    row: Any, since: datetime, forget: ForgetPolicy, now: datetime
) -> ForgettingCurve | None:
    """From its last recall, or since it was said, until a while after now. None: nothing fades."""
    if forget.mode == "off":
        return None
    start = row.last_recall_at or since
    span = _compute_span(row, start, forget, now)
    level = _compute_level(row, forget)

    def y(elapsed: timedelta) -> float:
        return round(HEIGHT * (1 - compute_retention(elapsed, row.strength, forget.unit_days)), 2)

    steps = [span * n / CURVE_POINTS for n in range(CURVE_POINTS + 1)]
    line = " ".join(f"{WIDTH * n / CURVE_POINTS:.2f},{y(step)}" for n, step in enumerate(steps))
    passed = max(timedelta(), now - start)
    at_now = compute_rank_weight(forget, compute_retention(passed, row.strength, forget.unit_days))
    return ForgettingCurve(
        line=line,
        area=f"0,{HEIGHT:.0f} {line} {WIDTH:.0f},{HEIGHT:.0f}",
        now_x=round(WIDTH * min(1.0, passed / span), 2),
        now_y=y(passed),
        level=None if level is None else round(HEIGHT * (1 - level), 2),
        start=start,
        end=start + span,
        says=gettext(_MODE_SENTENCES[forget.mode])
        % {"weight": f"{at_now:.2f}", "level": f"{level or 0.0:.0%}"},
    )


def _compute_span(row: Any, start: datetime, forget: ForgetPolicy, now: datetime) -> timedelta:
    """Both now and the moment it is hidden are on it, and enough of the fall to be seen."""
    unit = timedelta(days=row.strength * forget.unit_days)
    ends = [start + 3 * unit, now + (now - start) / 8]
    if row.forget_at and row.forget_at < start + 20 * unit:
        ends.append(start + (row.forget_at - start) * 1.1)
    return max(max(ends) - start, timedelta(hours=1))


def _compute_level(row: Any, forget: ForgetPolicy) -> float | None:
    if forget.mode == "sample":
        return draw_chance(row.id, row.recall_count)
    return forget.r_min if forget.mode == "threshold" else None


WIDE, HIGH = 600.0, 160.0
LIFE_POINTS = 240  # over the whole width
_SPAN_POINTS = 6  # of a span at least: it is bent
_MOST_UNITS_AHEAD = 20  # of S x unit: after them nothing of R is left to be seen


@dataclass(frozen=True, slots=True)
class LifeChart:
    """A memory's whole curve on a picture of `WIDE` by `HIGH`.

    `past` and `ahead` are lists of points, one list a span. `marks`: (x, y of the level or None)
    of each time it was said or recalled. `levels`: (x, x of the end, y). `hidden`: (x, width) of
    the times it is out of sight. `unknown`: how wide the stretch is of which no recall is known.
    `ticks`: the first time, the middle, the last.
    """

    past: list[str]
    ahead: list[str]
    marks: list[tuple[float, float | None]]
    levels: list[tuple[float, float, float]]
    hidden: list[tuple[float, float]]
    unknown: float
    now_x: float
    ticks: tuple[datetime, datetime, datetime]


def build_life_chart(life: RetentionLife, floor: datetime | None, now: datetime) -> LifeChart:
    """From the first day on until it is hidden or at its `floor`, and a little longer."""
    whole = _find_life_end(life, floor, now) - life.start

    def x(at: datetime) -> float:
        return round(WIDE * ((at - life.start) / whole), 2)

    def trace(span: RetentionSpan, start: datetime, end: datetime) -> str:
        count = max(_SPAN_POINTS, round(LIFE_POINTS * ((end - start) / whole)))
        times = [start + (end - start) * n / count for n in range(count + 1)]
        return " ".join(f"{x(at)},{HIGH * (1 - span.compute_left(at)):.2f}" for at in times)

    chart = LifeChart(
        past=[],
        ahead=[],
        marks=[],
        levels=[],
        hidden=[],
        unknown=x(life.spans[0].start),
        now_x=x(max(life.start, now)),
        ticks=(life.start, life.start + whole / 2, life.start + whole),
    )
    for span in life.spans:
        end = span.end or life.start + whole
        known = min(max(now, span.start), end)
        if known > span.start:
            chart.past.append(trace(span, span.start, known))
        if end > known:
            chart.ahead.append(trace(span, known, end))
        level = None if span.level is None else round(HIGH * (1 - span.level), 2)
        chart.marks.append((x(span.start), level))
        if level is not None:
            chart.levels.append((x(span.start), x(end), level))
        if span.fades_at and span.fades_at < end:
            chart.hidden.append((x(span.fades_at), round(x(end) - x(span.fades_at), 2)))
    return chart


def _find_life_end(life: RetentionLife, floor: datetime | None, now: datetime) -> datetime:
    last = life.last
    unit = timedelta(days=last.strength * last.unit_days)
    falls = min(last.fades_at or floor or last.start, last.start + _MOST_UNITS_AHEAD * unit)
    ends = [now, falls, last.start + unit]
    return life.start + (max(ends) - life.start) * 1.08


FADING_TABLE_ROWS = 8  # of the table beside the picture


@dataclass(frozen=True, slots=True)
class FadingChart:
    """Curves of several kinds on a picture of `WIDE` by `HIGH`, (kind, points) each, and the same
    as rows of (age, [(mean R, how many are older)])."""

    lines: list[tuple[str, str]]
    falls: Sequence[Any]
    rows: list[tuple[timedelta, list[tuple[float, int]]]]


def build_fading_chart(falls: Sequence[Any], at: Sequence[timedelta]) -> FadingChart:
    """`falls`: rows of `pages.heat.decay`, of which those without a memory that fades are left out
    of the picture."""
    last = len(at) - 1
    lines = [
        (
            fall.kind,
            " ".join(
                f"{WIDE * n / last:.1f},{HIGH * (1 - left):.1f}" for n, left in enumerate(fall.left)
            ),
        )
        for fall in falls
        if fall.count
    ]
    told = range(0, last + 1, max(1, last // (FADING_TABLE_ROWS - 1)))
    rows = [(at[n], [(fall.left[n], fall.older[n]) for fall in falls]) for n in told]
    return FadingChart(lines, falls, rows)
