"""When something happened in a space: the marks of its time slider."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db.models import Count, F, FloatField, Max, Min, Q, QuerySet, Value
from django.db.models.functions import Cast, Extract, Floor

from memoryhub.console.moments import Moment, address_of
from memoryhub.dialogues.models import Turn
from memoryhub.tenants.models import Space
from notes.models import EvolutionEvent

BUCKETS = 120
HEIGHT = 16.0


@dataclass(frozen=True, slots=True)
class Marks:
    """`bars`: (x, y, height) on a picture of `BUCKETS` by `HEIGHT`, one where anything happened.
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


def marks(space: Space, moment: Moment, now: datetime) -> Marks | None:
    """None where nothing has happened. Two statements."""
    rows, column = _happenings(space, moment)
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
    return Marks(
        first,
        last,
        _bars(rows, column, first, last),
        _place(moment.at, first, last),
        *(address_of(at) if at else "" for at in (told["before"], told["after"])),
    )


def _happenings(space: Space, moment: Moment) -> tuple[QuerySet[Any], str]:
    """Changes of memory; where the world's clock is meant, what was said."""
    if moment.known == "now":
        return Turn.objects.filter(space=space), "occurred_at"
    return EvolutionEvent.objects.filter(space=space), "created_at"


def _bars(
    rows: QuerySet[Any], column: str, first: datetime, last: datetime
) -> list[tuple[int, float, float]]:
    width = max(1.0, (last - first).total_seconds()) / BUCKETS
    since = Cast(Extract(F(column) - Value(first), "epoch"), FloatField())
    counted = rows.annotate(bucket=Floor(since / width)).order_by().values_list("bucket")
    counts: Counter[int] = Counter()
    for at, count in counted.annotate(n=Count("pk")):
        counts[min(int(at), BUCKETS - 1)] += count
    top = max(counts.values())
    heights = {at: round(4 + (HEIGHT - 4) * n / top, 1) for at, n in sorted(counts.items())}
    return [(at, round(HEIGHT - height, 1), height) for at, height in heights.items()]


def _place(at: datetime, first: datetime, last: datetime) -> float:
    whole = max(1.0, (last - first).total_seconds())
    return round(BUCKETS * min(1.0, max(0.0, (at - first).total_seconds() / whole)), 2)
