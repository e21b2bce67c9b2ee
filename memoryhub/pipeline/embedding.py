"""Vectors for index entries that have none: written while the embedder was down (E18)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from datetime import datetime
from typing import Any
from uuid import UUID
from zoneinfo import ZoneInfo

from django.db.models import Q

from memoryhub.models_in_use import embedder_for
from memoryhub.pipeline import queue, reembedding
from memoryhub.pipeline.models import Job
from memoryhub.pipeline.remaking import entries_of
from memoryhub.tenants.models import Space
from memoryhub.tenants.scope import tenant_scope
from notes import indexing
from notes.models import IndexEntry

MOST = 1_000  # memories a job, so that a worker that dies loses no more


def run(job: Job, now: datetime) -> None:
    """Embed what waits in the job's space, or what another embedder is to see. What is more than
    a job's share is left to another.

    Raises EngineError, LeaseLost.
    """
    if "migration" in job.payload:
        reembedding.run(job, now)
        return
    with tenant_scope(job.tenant_id):
        space = Space.objects.get(id=job.space_id)
    model = embedder_for(space)
    with tenant_scope(job.tenant_id):
        owners = _waiting(space, model.name, job.payload)
        entries = entries_of(space, _by_kind(owners), ZoneInfo(space.timezone))
    vectors = indexing.embed_entries(entries, model) if entries else None
    with tenant_scope(job.tenant_id):
        queue.hold(job)
        indexing.write_entries(space, model.name, entries, vectors)
        queue.finish(job, {"embedded": len(entries)}, now)
        if len(owners) == MOST:
            place: dict[str, object] = {"kind": owners[-1][0], "after": str(owners[-1][1])}
            queue.plan_step(space, Job.Step.EMBED, "D", f"after-{job.id}", now, payload=place)


def _waiting(space: Space, model: str, place: Mapping[str, Any]) -> list[tuple[str, UUID]]:
    """(kind, id) of memories without a vector, whose entries are made anew from their text;
    `place` is the last one that an earlier job saw to."""
    rows = IndexEntry.objects.filter(space=space, model=model, embedding=None)
    if "after" in place:
        same = Q(kind=place["kind"], owner_id__gt=place["after"])
        rows = rows.filter(Q(kind__gt=place["kind"]) | same)
    found = rows.order_by("kind", "owner_id").values_list("kind", "owner_id").distinct()
    return list(found[:MOST])


def _by_kind(owners: list[tuple[str, UUID]]) -> dict[str, set[UUID]]:
    kinds: dict[str, set[UUID]] = defaultdict(set)
    for kind, owner_id in owners:
        kinds[kind].add(owner_id)
    return kinds
