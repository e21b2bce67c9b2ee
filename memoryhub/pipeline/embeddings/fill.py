"""Vectors for index entries that have none: written while the embedder was down (E18), or of a
message as long as a book, of which only the beginning is embedded when it is read."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
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

# A job's share, so that a worker that dies loses no more and what is said meanwhile is read soon.
# By bytes, of which a character that takes longer has more.
MAX_MEMORIES_PER_JOB, MAX_BYTES_PER_JOB = 1_000, 100_000


@dataclass(frozen=True, slots=True)
class UnembeddedMemories:
    """`entries`: first those that get a vector, `count` of them; then what else there is of the
    same memories. `place`: the last memory that is seen to then, None where no other job is due."""

    space: Space
    model: Embedder
    entries: list[indexer.EntryDraft]
    count: int
    place: dict[str, str] | None


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
        entries.sort(key=lambda entry: (entry.kind, entry.owner_id, entry.chunk))
        known = _list_embedded(space, model.name, kinds)
        bare = [entry for entry in entries if _identify(entry) not in known]
        sizes = accumulate(len(entry.text_to_embed.encode()) for entry in bare)
        # At least one, however long it is.
        count = max(1, sum(size <= MAX_BYTES_PER_JOB for size in sizes))
        chosen = {_identify(entry) for entry in bare[:count]}
        rest = [entry for entry in entries if _identify(entry) not in chosen]
        place = _find_next_place(self.job.payload, owners, bare[count:])
        return UnembeddedMemories(space, model, bare[:count] + rest, len(bare[:count]), place)

    def ask(self, work: UnembeddedMemories) -> indexer.Vectors | None:
        wanted = work.entries[: work.count]
        return indexer.embed_entries(wanted, work.model) if wanted else None

    def write(self, work: UnembeddedMemories, vectors: indexer.Vectors | None) -> JobResult:
        indexer.write_entries(work.space, work.model.name, work.entries, vectors)
        return {"embedded": work.count}

    def plan(self, work: UnembeddedMemories, vectors: indexer.Vectors | None) -> None:
        if work.place is not None:
            key = f"after-{self.job.id}"
            queue.plan_step(work.space, Job.Step.EMBED, key, self.now, payload={**work.place})


def _identify(entry: indexer.EntryDraft) -> tuple[str, UUID, int, str]:
    return entry.kind, entry.owner_id, entry.chunk, entry.text_hash


def _find_next_place(
    before: Mapping[str, Any],
    owners: Sequence[tuple[str, UUID]],
    left: Sequence[indexer.EntryDraft],
) -> dict[str, str] | None:
    """Behind which memory the next job begins: before that of the first entry left out, or where
    this one began; behind the last one, where a job's memories are all seen to and more may be."""
    at = len(owners) if not left else owners.index((left[0].kind, left[0].owner_id))
    if not left and len(owners) < MAX_MEMORIES_PER_JOB:
        return None
    if at == 0:
        return {name: str(before[name]) for name in ("kind", "after") if name in before}
    kind, last = owners[at - 1]
    return {"kind": kind, "after": str(last)}


def _list_unembedded(space: Space, model: str, place: Mapping[str, Any]) -> list[tuple[str, UUID]]:
    """(kind, id) of memories without a vector, whose entries are made anew from their text;
    `place` is the last one that an earlier job saw to."""
    rows = IndexEntry.objects.filter(space=space, model=model, embedding=None)
    if "after" in place:
        same = Q(kind=place["kind"], owner_id__gt=place["after"])
        rows = rows.filter(Q(kind__gt=place["kind"]) | same)
    found = rows.order_by("kind", "owner_id").values_list("kind", "owner_id").distinct()
    return list(found[:MAX_MEMORIES_PER_JOB])


def _list_embedded(
    space: Space, model: str, kinds: Mapping[str, Collection[UUID]]
) -> set[tuple[str, UUID, int, str]]:
    """What of these memories has the vector of its present text."""
    owners = {owner for ids in kinds.values() for owner in ids}
    rows = IndexEntry.objects.filter(space=space, model=model, owner_id__in=owners)
    found = rows.exclude(embedding=None).values_list("kind", "owner_id", "chunk", "text_hash")
    return set(found)
