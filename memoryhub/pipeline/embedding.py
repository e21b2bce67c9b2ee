"""Vectors for index entries that have none: written while the embedder was down (E18)."""

from __future__ import annotations

from collections import defaultdict
from datetime import datetime
from uuid import UUID
from zoneinfo import ZoneInfo

from memoryhub.models_in_use import embedder_for
from memoryhub.pipeline import queue, reembedding
from memoryhub.pipeline.models import Job
from memoryhub.pipeline.remaking import entries_of
from memoryhub.tenants.models import Space
from memoryhub.tenants.scope import tenant_scope
from notes import indexing
from notes.models import IndexEntry


def run(job: Job, now: datetime) -> None:
    """Embed what waits in the job's space, or what another embedder is to see.

    Raises EngineError, LeaseLost.
    """
    if "migration" in job.payload:
        reembedding.run(job, now)
        return
    with tenant_scope(job.tenant_id):
        space = Space.objects.get(id=job.space_id)
    model = embedder_for(space)
    with tenant_scope(job.tenant_id):
        entries = _waiting(space, model.name)
    vectors = indexing.embed_entries(entries, model) if entries else None
    with tenant_scope(job.tenant_id):
        queue.hold(job)
        indexing.write_entries(space, model.name, entries, vectors)
        queue.finish(job, {"embedded": len(entries)}, now)


def _waiting(space: Space, model: str) -> list[indexing.Entry]:
    """The entries without a vector, made anew from their owners' present text."""
    rows = IndexEntry.objects.filter(space=space, model=model, embedding=None)
    owners: dict[str, set[UUID]] = defaultdict(set)
    for kind, owner_id in rows.values_list("kind", "owner_id"):
        owners[kind].add(owner_id)
    return entries_of(space, owners, ZoneInfo(space.timezone))
