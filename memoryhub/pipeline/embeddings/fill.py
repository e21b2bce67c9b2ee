"""Vectors for index entries that have none: written while the embedder was down (E18)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from datetime import datetime
from typing import Any
from uuid import UUID
from zoneinfo import ZoneInfo

from django.db.models import Q

from memoryhub.inference.selection import select_embedder
from memoryhub.pipeline.embeddings import reembed
from memoryhub.pipeline.embeddings.entries import rebuild_entries
from memoryhub.pipeline.jobs import queue
from memoryhub.pipeline.models import Job
from memoryhub.tenants.models import Space
from memoryhub.tenants.scope import tenant_scope
from notes.index import indexer
from notes.models import IndexEntry

MAX_MEMORIES_PER_JOB = 1_000  # memories a job, so that a worker that dies loses no more


def run(job: Job, now: datetime) -> None:
    """Embed what waits in the job's space, or what another embedder is to see. What is more than
    a job's share is left to another.

    Raises EngineError, LeaseLost.
    """
    if "migration" in job.payload:
        reembed.run(job, now)
        return
    with tenant_scope(job.tenant_id):
        space = Space.objects.get(id=job.space_id)
    model = select_embedder(space)
    with tenant_scope(job.tenant_id):
        owners = _list_unembedded(space, model.name, job.payload)
        entries = rebuild_entries(space, _group_by_kind(owners), ZoneInfo(space.timezone))
    vectors = indexer.embed_entries(entries, model) if entries else None
    with tenant_scope(job.tenant_id):
        queue.lock_job(job)
        indexer.write_entries(space, model.name, entries, vectors)
        queue.finish_job(job, {"embedded": len(entries)}, now)
        if len(owners) == MAX_MEMORIES_PER_JOB:
            place: dict[str, object] = {"kind": owners[-1][0], "after": str(owners[-1][1])}
            queue.plan_step(space, Job.Step.EMBED, "D", f"after-{job.id}", now, payload=place)


def _list_unembedded(space: Space, model: str, place: Mapping[str, Any]) -> list[tuple[str, UUID]]:
    """(kind, id) of memories without a vector, whose entries are made anew from their text;
    `place` is the last one that an earlier job saw to."""
    rows = IndexEntry.objects.filter(space=space, model=model, embedding=None)
    if "after" in place:
        same = Q(kind=place["kind"], owner_id__gt=place["after"])
        rows = rows.filter(Q(kind__gt=place["kind"]) | same)
    found = rows.order_by("kind", "owner_id").values_list("kind", "owner_id").distinct()
    return list(found[:MAX_MEMORIES_PER_JOB])


def _group_by_kind(owners: list[tuple[str, UUID]]) -> dict[str, set[UUID]]:
    kinds: dict[str, set[UUID]] = defaultdict(set)
    for kind, owner_id in owners:
        kinds[kind].add(owner_id)
    return kinds
