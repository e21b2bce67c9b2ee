"""How a space's memories fade, and of which least is left (spec §2.3, §11.6)."""

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
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from memoryhub.console.curves import Curve, curve
from memoryhub.console.listing import Choice, Filters, Page, containing, page_of
from memoryhub.policies.schema import Forget
from memoryhub.tenants.models import Space
from notes.forgetting import DAY_SECONDS, hides
from notes.models import Episode, Fact, Note
from notes.retention import MODELS, Standing, dated, exempt, standing

KIND = Choice(
    "kind", _("Kind"), (("fact", _("Facts")), ("note", _("Notes")), ("episode", _("Episodes")))
)
DAYS = Choice(
    "days",
    pgettext_lazy("so long a time", "Over"),
    (("7", _("A week")), ("28", _("Four weeks")), ("364", _("A year"))),
)
SEEN = Choice(
    "seen", _("Show"), (("", _("All")), ("active", _("In sight")), ("dormant", _("Faded")))
)
_WORDS: dict[Any, tuple[str, ...]] = {
    Fact: ("text",),
    Note: ("content", "context"),
    Episode: ("title", "text"),
}
POINTS = 28  # so that every fourth is at a whole day
# The database takes a smaller power of e for an error.
_NOTHING = 100.0


@dataclass(frozen=True, slots=True)
class Fall:
    """How the memories of a kind fade: at each of `POINTS` + 1 ages since the last recall the mean
    of R, and how many are older. `spared`: those that never fade. `hidden`: now, and by the end
    of as long a time from now, if nothing is recalled meanwhile."""

    kind: str
    count: int
    spared: int
    left: list[float]
    older: list[int]
    hidden: tuple[int, int]


def ages(days: int) -> list[timedelta]:
    return [timedelta(days=days * n / POINTS) for n in range(POINTS + 1)]


def falls(space: Space, forget: Forget, at: list[timedelta], now: datetime) -> list[Fall]:
    """One statement a kind."""
    return [_fall(space, kind, model, forget, at, now) for kind, model in MODELS.items()]


def _fall(
    space: Space, kind: str, model: Any, forget: Forget, at: list[timedelta], now: datetime
) -> Fall:
    held = dated(model.objects.filter(space=space, retired_at=None))
    fading = ~exempt(model)
    by = (now, now + at[-1])
    asked: dict[str, Any] = {
        "count": Count("pk", filter=fading),
        "spared": Count("pk", filter=exempt(model)),
        "hidden_0": Count("pk", filter=fading & Q(forget_at__lte=by[0])),
        "hidden_1": Count("pk", filter=fading & Q(forget_at__lte=by[1])),
    }
    for n, age in enumerate(at):
        days = Value(age.total_seconds() / DAY_SECONDS, FloatField())
        asked[f"left_{n}"] = Avg(_retained(forget, days), filter=fading)
        asked[f"older_{n}"] = Count("pk", filter=fading & Q(since__lte=now - age))
    told = held.aggregate(**asked)
    left = [told[f"left_{n}"] or 0.0 for n in range(len(at))]
    older = [told[f"older_{n}"] for n in range(len(at))]
    hidden = (told["hidden_0"], told["hidden_1"]) if hides(forget) else (0, 0)
    return Fall(kind, told["count"], told["spared"], left, older, hidden)


def _retained(forget: Forget, days: Any) -> Any:
    """`forgetting.retained` after so many days, worked out by the database."""
    units = Greatest(days, 0.0) / (Cast("strength", FloatField()) * forget.unit_days)
    return Exp(-Least(units, _NOTHING), output_field=FloatField())


def _days_since(now: datetime) -> Any:
    return Cast(Extract(Value(now) - F("since"), "epoch"), FloatField()) / DAY_SECONDS


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
    left = rows.annotate(left=_retained(forget, _days_since(now)), spared=_as_number(exempt(model)))
    found = page_of(left.order_by("spared", "left", "-id"), filters.page)
    return found.map(
        lambda row: Fading(
            row, standing(row, row.since, forget, now), curve(row, row.since, forget, now)
        )
    )


def _as_number(condition: Q) -> Any:
    return Case(When(condition, then=Value(1)), default=Value(0))
