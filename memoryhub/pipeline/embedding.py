"""Vectors for index entries that have none: written while the embedder was down (E18)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from datetime import datetime
from uuid import UUID
from zoneinfo import ZoneInfo

from memoryhub.dialogues.models import Turn
from memoryhub.dialogues.queries import turns_between
from memoryhub.models_in_use import embedder
from memoryhub.pipeline import queue
from memoryhub.pipeline.models import Job
from memoryhub.tenants.models import Space
from memoryhub.tenants.scope import tenant_scope
from notes import indexing, registry
from notes.dating import event_words
from notes.models import IndexEntry


def run(job: Job, now: datetime) -> None:
    """Embed what waits in the job's space. Raises EngineError, LeaseLost."""
    model = embedder()
    with tenant_scope(job.tenant_id):
        space = Space.objects.get(id=job.space_id)
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
    zone = ZoneInfo(space.timezone)
    waiting = list(_turn_entries(space, owners.pop("turn", set()), zone))
    for kind, ids in owners.items():
        found = registry.kind_of(kind).model._default_manager.in_bulk(ids)
        waiting += registry.entries_of(kind, list(found.values()), zone)
    return waiting


def _turn_entries(space: Space, ids: set[UUID], zone: ZoneInfo) -> Sequence[indexing.Entry]:
    if not ids:
        return []
    seqs = list(Turn.objects.filter(id__in=ids).values_list("seq", flat=True))
    near = indexing.BEFORE + indexing.AFTER
    turns = list(turns_between(space.id, min(seqs) - near, max(seqs) + near))
    return indexing.turn_entries(
        turns, space.speakers, only=ids, zone=zone, time_words=event_words(list(ids), zone)
    )
