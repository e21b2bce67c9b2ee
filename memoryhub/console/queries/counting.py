"""How many of each kind of memory, in the same statement as the row they belong to."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from django.db.models import Count, F, FloatField, Model, OuterRef, QuerySet, Subquery, Value
from django.db.models.functions import Cast, Coalesce, Exp, Extract, Greatest, Least

from memoryhub.dialogues.models import Turn
from memoryhub.pipeline.models import Job
from memoryhub.tenants.models import Space
from notes.models import Entity, Fact, Note, Segment
from notes.queries import current

OPEN = (Job.State.QUEUED, Job.State.RUNNING, Job.State.RETRY)
# Seconds after which a visit counts for 1/e (spec §11.5).
HEAT_DECAY = 1e7
# After so many of them nothing is left; the database takes what is smaller for an error.
_NOTHING = 100


def count_of(rows: QuerySet[Any], key: str) -> Coalesce:
    """Rows whose `key` is the outer row's id."""
    grouped = rows.filter(**{key: OuterRef("pk")}).order_by().values(key)
    return Coalesce(Subquery(grouped.annotate(n=Count("pk")).values("n")), 0)


def kinds(now: datetime) -> dict[str, QuerySet[Any]]:
    return {
        "turns": Turn.objects.all(),
        "facts": current(Fact.objects.all(), now),
        "notes": Note.objects.all(),
        "segments": Segment.objects.all(),
        "entities": Entity.objects.all(),
    }


def with_counts(spaces: QuerySet[Space], now: datetime) -> QuerySet[Any]:
    counts: dict[str, Any] = {name: count_of(rows, "space") for name, rows in kinds(now).items()}
    return spaces.annotate(
        **counts,
        waiting=count_of(Job.objects.filter(state__in=OPEN), "space"),
        failed=count_of(Job.objects.filter(state=Job.State.DEAD), "space"),
    )


def totals(tenant_rows: QuerySet[Model], now: datetime) -> dict[str, int]:
    """One statement over all kinds, for the tenant the rows name."""
    counts: dict[str, Any] = {name: count_of(rows, "tenant") for name, rows in kinds(now).items()}
    counts = {"spaces": count_of(Space.objects.all(), "tenant"), **counts}
    found: dict[str, int] = tenant_rows.values(**counts).get()
    return found


def with_heat(segments: QuerySet[Segment], now: datetime) -> QuerySet[Any]:
    """`recency` in (0, 1]: a visit dated in the future (E29) counts as one of this moment."""
    since = Cast(Extract(Value(now) - F("last_visited_at"), "epoch"), FloatField())
    idle = Least(Greatest(since, 0.0), _NOTHING * HEAT_DECAY)
    recency = Exp(-idle / HEAT_DECAY, output_field=FloatField())
    return segments.annotate(
        recency=recency, heat=F("visits_total") + F("pages_total") + F("recency")
    )
