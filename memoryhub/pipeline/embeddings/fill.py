"""Vectors for index entries that have none: written while the embedder was down (E18)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any
from uuid import UUID
from zoneinfo import ZoneInfo

from django.db.models import Q

from memoryhub.engines.types import Embedder
from memoryhub.inference.selection import select_embedder
from memoryhub.pipeline.embeddings import reembed
from memoryhub.pipeline.jobs import queue
from memoryhub.pipeline.jobs.step import JobResult, Step
from memoryhub.pipeline.models import Job, Lane
from memoryhub.tenants.models import Space
from notes.history.row_kinds import rebuild_entries
from notes.index import indexer
from notes.models import IndexEntry

MAX_MEMORIES_PER_JOB = 1_000  # memories a job, so that a worker that dies loses no more


@dataclass(frozen=True, slots=True)
class UnembeddedMemories:
    space: Space
    model: Embedder
    owners: list[tuple[str, UUID]]
    entries: list[indexer.EntryDraft]


class EmbedStep(Step[UnembeddedMemories, indexer.Vectors | None]):
    """Embed what waits in the job's space. What is more than a job's share is left to another."""

    name = Job.Step.EMBED
    lane = Lane.TIDYING
    variants = MappingProxyType({"migration": reembed.MigrateStep})

    def read(self) -> UnembeddedMemories:
        space = Space.objects.get(id=self.job.space_id)
        model = select_embedder(space)
        owners = _list_unembedded(space, model.name, self.job.payload)
        kinds: dict[str, set[UUID]] = defaultdict(set)
        for kind, owner_id in owners:
            kinds[kind].add(owner_id)
        entries = rebuild_entries(space, kinds, ZoneInfo(space.timezone))
        return UnembeddedMemories(space, model, owners, entries)

    def ask(self, work: UnembeddedMemories) -> indexer.Vectors | None:
        return indexer.embed_entries(work.entries, work.model) if work.entries else None

    def write(self, work: UnembeddedMemories, vectors: indexer.Vectors | None) -> JobResult:
        indexer.write_entries(work.space, work.model.name, work.entries, vectors)
        return {"embedded": len(work.entries)}

    def plan(self, work: UnembeddedMemories, vectors: indexer.Vectors | None) -> None:
        if len(work.owners) == MAX_MEMORIES_PER_JOB:
            kind, last = work.owners[-1]
            place: dict[str, object] = {"kind": kind, "after": str(last)}
            key = f"after-{self.job.id}"
            queue.plan_step(work.space, Job.Step.EMBED, key, self.now, payload=place)


def _list_unembedded(space: Space, model: str, place: Mapping[str, Any]) -> list[tuple[str, UUID]]:
    """(kind, id) of memories without a vector, whose entries are made anew from their text;
    `place` is the last one that an earlier job saw to."""
    rows = IndexEntry.objects.filter(space=space, model=model, embedding=None)
    if "after" in place:
        same = Q(kind=place["kind"], owner_id__gt=place["after"])
        rows = rows.filter(Q(kind__gt=place["kind"]) | same)
    found = rows.order_by("kind", "owner_id").values_list("kind", "owner_id").distinct()
    return list(found[:MAX_MEMORIES_PER_JOB])
