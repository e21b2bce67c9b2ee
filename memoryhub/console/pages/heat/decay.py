"""How a space's memories fade, and of which least is left (spec §2.3, §11.6)."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db.models import Avg, Case, Count, F, FloatField, Q, QuerySet, Value, When
from django.db.models.functions import Cast, Exp, Extract, Greatest, Least
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from memoryhub.console.frame.forgetting_curves import ForgettingCurve, build_curve
from memoryhub.console.frame.lists import (
    FilterChoice,
    Filters,
    ListPage,
    build_text_condition,
    load_page,
)
from memoryhub.policies.schema import ForgetPolicy
from memoryhub.tenants.models import Space
from notes.models import Episode, Fact, Note
from notes.retention.curve import DAY_SECONDS, is_hiding_enabled
from notes.retention.decay import (
    RETAINED_MODELS,
    RetentionState,
    annotate_since,
    build_exempt_q,
    compute_retention_state,
)

FADING_KIND_CHOICE = FilterChoice(
    "kind", _("Kind"), (("fact", _("Facts")), ("note", _("Notes")), ("episode", _("Episodes")))
)
FADING_DAYS_CHOICE = FilterChoice(
    "days",
    pgettext_lazy("so long a time", "Over"),
    (("7", _("A week")), ("28", _("Four weeks")), ("364", _("A year"))),
)
FADING_SEEN_CHOICE = FilterChoice(
    "seen", _("Show"), (("", _("All")), ("active", _("In sight")), ("dormant", _("Faded")))
)
_TEXT_COLUMNS: dict[Any, tuple[str, ...]] = {
    Fact: ("text",),
    Note: ("content", "context"),
    Episode: ("title", "text"),
}
AGE_POINTS = 28  # so that every fourth is at a whole day
# The database takes a smaller power of e for an error.
_MAX_EXPONENT = 100.0


@dataclass(frozen=True, slots=True)
class FadingSummary:
    """How the memories of a kind fade: at each of `POINTS` + 1 ages since the last recall the mean
    of R, and how many are older. `spared`: those that never fade. `hidden`: now, and by the end
    of as long a time from now, if nothing is recalled meanwhile."""

    kind: str
    count: int
    spared: int
    left: list[float]
    older: list[int]
    hidden: tuple[int, int]


def list_ages(days: int) -> list[timedelta]:
    return [timedelta(days=days * n / AGE_POINTS) for n in range(AGE_POINTS + 1)]


def load_fading_summaries(
    space: Space, forget: ForgetPolicy, at: list[timedelta], now: datetime
) -> list[FadingSummary]:
    """One statement a kind."""
    return [
        _load_fading_summary(space, kind, model, forget, at, now)
        for kind, model in RETAINED_MODELS.items()
    ]


def _load_fading_summary(
    space: Space, kind: str, model: Any, forget: ForgetPolicy, at: list[timedelta], now: datetime
) -> FadingSummary:
    held = annotate_since(model.objects.filter(space=space, retired_at=None))
    fading = ~build_exempt_q(model)
    by = (now, now + at[-1])
    asked: dict[str, Any] = {
        "count": Count("pk", filter=fading),
        "spared": Count("pk", filter=build_exempt_q(model)),
        "hidden_0": Count("pk", filter=fading & Q(forget_at__lte=by[0])),
        "hidden_1": Count("pk", filter=fading & Q(forget_at__lte=by[1])),
    }
    for n, age in enumerate(at):
        days = Value(age.total_seconds() / DAY_SECONDS, FloatField())
        asked[f"left_{n}"] = Avg(_build_retention_expression(forget, days), filter=fading)
        asked[f"older_{n}"] = Count("pk", filter=fading & Q(since__lte=now - age))
    told = held.aggregate(**asked)
    left = [told[f"left_{n}"] or 0.0 for n in range(len(at))]
    older = [told[f"older_{n}"] for n in range(len(at))]
    hidden = (told["hidden_0"], told["hidden_1"]) if is_hiding_enabled(forget) else (0, 0)
    return FadingSummary(kind, told["count"], told["spared"], left, older, hidden)


def _build_retention_expression(forget: ForgetPolicy, days: Any) -> Any:
    """`curve.compute_retention` after so many days, worked out by the database."""
    units = Greatest(days, 0.0) / (Cast("strength", FloatField()) * forget.unit_days)
    return Exp(-Least(units, _MAX_EXPONENT), output_field=FloatField())


@dataclass(frozen=True, slots=True)
class FadingMemory:
    """A memory with its own curve."""

    row: Any
    standing: RetentionState
    curve: ForgettingCurve | None


def load_fading_memories(
    space: Space, filters: Filters, forget: ForgetPolicy, now: datetime
) -> ListPage[FadingMemory]:
    """Those of a kind of which least is left first, what never fades last. Two statements."""
    model = RETAINED_MODELS[filters["kind"]]
    rows: QuerySet[Any] = annotate_since(model.objects.filter(space=space, retired_at=None))
    rows = rows.filter(build_text_condition(filters.q, *_TEXT_COLUMNS[model]))
    if filters["seen"]:
        rows = rows.filter(visibility=filters["seen"])
    age = Cast(Extract(Value(now) - F("since"), "epoch"), FloatField()) / DAY_SECONDS
    left = rows.annotate(
        left=_build_retention_expression(forget, age),
        spared=Case(When(build_exempt_q(model), then=Value(1)), default=Value(0)),
    )
    found = load_page(left.order_by("spared", "left", "-id"), filters.page)
    return found.map(
        lambda row: FadingMemory(
            row,
            compute_retention_state(row, row.since, forget, now),
            build_curve(row, row.since, forget, now),
        )
    )
