"""How many of each kind of memory, in the same statement as the row they belong to."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from django.db.models import Count, F, FloatField, Model, OuterRef, Q, QuerySet, Subquery, Value
from django.db.models.functions import Coalesce, Exp, Extract

from memoryhub.dialogues.models import Turn
from memoryhub.pipeline.models import Job
from memoryhub.tenants.models import Space
from notes.models import Entity, Fact, Note, Segment

OPEN = (Job.State.QUEUED, Job.State.RUNNING, Job.State.RETRY)
# Seconds after which a visit counts for 1/e (spec §11.5).
HEAT_DECAY = 1e7


def current_facts(now: datetime) -> QuerySet[Fact]:
    rows: QuerySet[Fact] = Fact.objects.filter(is_current(now))
    return rows


def is_current(now: datetime) -> Q:
    open_ended = Q(valid_to=None) | Q(valid_to__gt=now)
    return Q(status=Fact.Status.ACTIVE, retired_at=None) & open_ended


def count_of(rows: QuerySet[Any], key: str) -> Coalesce:
    """Rows whose `key` is the outer row's id."""
    grouped = rows.filter(**{key: OuterRef("pk")}).order_by().values(key)
    return Coalesce(Subquery(grouped.annotate(n=Count("pk")).values("n")), 0)


def kinds(now: datetime) -> dict[str, QuerySet[Any]]:
    return {
        "turns": Turn.objects.all(),
        "facts": current_facts(now),
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
    idle = Extract(Value(now) - F("last_visited_at"), "epoch")
    recency = Exp(-idle / HEAT_DECAY, output_field=FloatField())
    return segments.annotate(
        recency=recency, heat=F("visits_total") + F("pages_total") + F("recency")
    )
