"""How much of a space's memories will be left, and which fade first (spec §2.3, §11.6)."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db.models import (
    Avg,
    Case,
    Count,
    F,
    FloatField,
    Q,
    QuerySet,
    Value,
    When,
)
from django.db.models.functions import Cast, Exp, Extract, Greatest, Least

from memoryhub.console.curves import Curve, curve
from memoryhub.console.listing import Choice, Filters, Page, containing, page_of
from memoryhub.policies.schema import Forget
from memoryhub.tenants.models import Space
from notes.forgetting import DAY_SECONDS, hides
from notes.models import Episode, Fact, Note
from notes.retention import MODELS, Standing, dated, exempt, standing

KIND = Choice("kind", "Kind", (("fact", "Facts"), ("note", "Notes"), ("episode", "Episodes")))
DAYS = Choice("days", "Ahead", (("30", "30 days"), ("7", "A week"), ("365", "A year")))
SEEN = Choice("seen", "Show", (("", "All"), ("active", "In sight"), ("dormant", "Faded")))
_WORDS: dict[Any, tuple[str, ...]] = {
    Fact: ("text",),
    Note: ("content", "context"),
    Episode: ("title", "text"),
}
POINTS = 24
# The database takes a smaller power of e for an error.
_NOTHING = 100.0


@dataclass(frozen=True, slots=True)
class Fall:
    """What will be left of the memories of a kind that fade: at each of `POINTS` + 1 times from
    now the mean of R, and how many will be hidden by then. `spared`: those that never fade."""

    kind: str
    count: int
    spared: int
    left: list[float]
    hidden: list[int]


def times(days: int, now: datetime) -> list[datetime]:
    return [now + timedelta(days=days * n / POINTS) for n in range(POINTS + 1)]


def falls(space: Space, forget: Forget, at: list[datetime]) -> list[Fall]:
    """If nothing is recalled meanwhile. One statement a kind."""
    return [_fall(space, kind, model, forget, at) for kind, model in MODELS.items()]


def _fall(space: Space, kind: str, model: Any, forget: Forget, at: list[datetime]) -> Fall:
    held = dated(model.objects.filter(space=space, retired_at=None))
    fading = ~exempt(model)
    asked: dict[str, Any] = {
        "count": Count("pk", filter=fading),
        "spared": Count("pk", filter=exempt(model)),
    }
    for n, time in enumerate(at):
        asked[f"left_{n}"] = Avg(_retained(forget, time), filter=fading)
        asked[f"hidden_{n}"] = Count("pk", filter=fading & Q(forget_at__lte=time))
    told = held.aggregate(**asked)
    left = [told[f"left_{n}"] or 0.0 for n in range(len(at))]
    hidden = [told[f"hidden_{n}"] if hides(forget) else 0 for n in range(len(at))]
    return Fall(kind, told["count"], told["spared"], left, hidden)


def _retained(forget: Forget, at: datetime) -> Any:
    """`forgetting.retained` of a row with `since`, worked out by the database."""
    days = Cast(Extract(Value(at) - F("since"), "epoch"), FloatField()) / DAY_SECONDS
    units = Greatest(days, 0.0) / (Cast("strength", FloatField()) * forget.unit_days)
    return Exp(-Least(units, _NOTHING), output_field=FloatField())


@dataclass(frozen=True, slots=True)
class Fading:
    """A memory with its own curve."""

    row: Any
    standing: Standing
    curve: Curve | None


def memories(space: Space, filters: Filters, forget: Forget, now: datetime) -> Page[Fading]:
    """Those of a kind of which least is left first, what never fades last. Two statements."""
    model = MODELS[filters["kind"]]
    rows: QuerySet[Any] = dated(model.objects.filter(space=space, retired_at=None))
    rows = rows.filter(containing(filters.q, *_WORDS[model]))
    if filters["seen"]:
        rows = rows.filter(visibility=filters["seen"])
    left = rows.annotate(left=_retained(forget, now), spared=_as_number(exempt(model)))
    found = page_of(left.order_by("spared", "left", "-id"), filters.page)
    return found.map(
        lambda row: Fading(
            row, standing(row, row.since, forget, now), curve(row, row.since, forget, now)
        )
    )


def _as_number(condition: Q) -> Any:
    return Case(When(condition, then=Value(1)), default=Value(0))
