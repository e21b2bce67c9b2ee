"""When something happened in a space: the marks of its time slider."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db.models import Count, F, FloatField, Max, Min, Q, QuerySet, Value
from django.db.models.functions import Cast, Extract, Floor

from memoryhub.console.frame.space.moments import SpaceMoment, format_moment
from memoryhub.dialogues.models import Turn
from memoryhub.tenants.models import Space
from notes.models import EvolutionEvent

BUCKET_COUNT = 120
SLIDER_HEIGHT = 16.0


@dataclass(frozen=True, slots=True)
class SliderMarks:
    """`bars`: (x, y, height) on a picture of `BUCKET_COUNT` by `HEIGHT`, one where anything
    happened.
    `x`: where the moment stands. `earlier`, `later`: the moments of the happenings next to it,
    as an address names them; "" where there is none."""

    first: datetime
    last: datetime
    bars: list[tuple[int, float, float]]
    x: float
    earlier: str
    later: str

    @property
    def step(self) -> int:
        """Seconds that one press of an arrow key moves."""
        return max(1, int((self.last - self.first).total_seconds() / 200))


def load_slider_marks(space: Space, moment: SpaceMoment, now: datetime) -> SliderMarks | None:
    """None where nothing has happened. Two statements."""
    # Changes of memory; where the world's clock is meant, what was said.
    rows: QuerySet[Any] = EvolutionEvent.objects.filter(space=space)
    column = "created_at"
    if moment.known == "now":
        rows, column = Turn.objects.filter(space=space), "occurred_at"
    shown = Q(**{f"{column}__lte": moment.at - timedelta(milliseconds=1)})
    told = rows.aggregate(
        first=Min(column),
        last=Max(column),
        before=Max(column, filter=shown),
        after=Min(column, filter=Q(**{f"{column}__gt": moment.at})),
    )
    if told["first"] is None:
        return None
    first, last = told["first"], max(now, told["last"])
    return SliderMarks(
        first,
        last,
        _count_slider_bars(rows, column, first, last),
        _compute_slider_place(moment.at, first, last),
        *(format_moment(at) if at else "" for at in (told["before"], told["after"])),
    )


def _count_slider_bars(
    rows: QuerySet[Any], column: str, first: datetime, last: datetime
) -> list[tuple[int, float, float]]:
    width = max(1.0, (last - first).total_seconds()) / BUCKET_COUNT
    since = Cast(Extract(F(column) - Value(first), "epoch"), FloatField())
    counted = rows.annotate(bucket=Floor(since / width)).order_by().values_list("bucket")
    counts: Counter[int] = Counter()
    for at, count in counted.annotate(n=Count("pk")):
        counts[min(int(at), BUCKET_COUNT - 1)] += count
    top = max(counts.values())
    heights = {at: round(4 + (SLIDER_HEIGHT - 4) * n / top, 1) for at, n in sorted(counts.items())}
    return [(at, round(SLIDER_HEIGHT - height, 1), height) for at, height in heights.items()]


def _compute_slider_place(at: datetime, first: datetime, last: datetime) -> float:
    whole = max(1.0, (last - first).total_seconds())
    return round(BUCKET_COUNT * min(1.0, max(0.0, (at - first).total_seconds() / whole)), 2)
