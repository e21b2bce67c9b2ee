"""How many of each kind of memory, in the same statement as the row they belong to."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from django.db.models import Count, Model, OuterRef, Q, QuerySet, Subquery
from django.db.models.functions import Coalesce

from memoryhub.dialogues.models import Turn
from memoryhub.pipeline.models import Job
from memoryhub.tenants.models import Space
from notes.facts.validity import filter_current
from notes.models import Entity, Episode, Fact, Note, Segment

# A waiting job due later than this is planned ahead, such as the next sweep: nobody waits for it.
PLANNED_AHEAD = timedelta(minutes=5)


def build_planned_filter(now: datetime) -> Q:
    return Q(state=Job.State.QUEUED, run_after__gt=now + PLANNED_AHEAD)


def build_count_subquery(rows: QuerySet[Any], key: str) -> Coalesce:
    """Rows whose `key` is the outer row's id."""
    grouped = rows.filter(**{key: OuterRef("pk")}).order_by().values(key)
    return Coalesce(Subquery(grouped.annotate(n=Count("pk")).values("n")), 0)


COUNTED_KINDS = ("turns", "facts", "notes", "segments", "episodes", "entities")


def build_kind_querysets(now: datetime) -> dict[str, QuerySet[Any]]:
    return {
        "turns": Turn.objects.all(),
        "facts": filter_current(Fact.objects.all(), now),
        "notes": Note.objects.filter(retired_at=None),
        "segments": Segment.objects.filter(retired_at=None),
        "episodes": Episode.objects.filter(retired_at=None),
        "entities": Entity.objects.all(),
    }


def annotate_counts(spaces: QuerySet[Space], now: datetime) -> QuerySet[Any]:
    counts: dict[str, Any] = {
        name: build_count_subquery(rows, "space")
        for name, rows in build_kind_querysets(now).items()
    }
    return spaces.annotate(
        **counts,
        waiting=build_count_subquery(
            Job.objects.filter(~build_planned_filter(now), state__in=Job.UNFINISHED_STATES), "space"
        ),
        failed=build_count_subquery(Job.objects.filter(state=Job.State.DEAD), "space"),
    )


def count_totals(tenant_rows: QuerySet[Model], now: datetime) -> dict[str, int]:
    """One statement over all kinds, for the tenant the rows name."""
    counts: dict[str, Any] = {
        name: build_count_subquery(rows, "tenant")
        for name, rows in build_kind_querysets(now).items()
    }
    counts = {"spaces": build_count_subquery(Space.objects.all(), "tenant"), **counts}
    found: dict[str, int] = tenant_rows.values(**counts).get()
    return found
