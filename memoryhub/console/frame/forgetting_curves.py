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
    "rank": _("Fading lowers its rank: it counts ×%(weight)s now, and is never hidden."),
    "sample": _("It is hidden where the curve meets its drawn level of %(level)s."),
    "threshold": _("It is hidden where the curve falls below %(level)s."),
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
