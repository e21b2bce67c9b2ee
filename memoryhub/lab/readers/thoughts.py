"""Facts found by their vectors alone: LoCoMo's observations, and TiM's thoughts in buckets."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from memoryhub.lab.readers.base import ReaderInputs, ReaderResult, build_item, build_result
from memoryhub.recall.render.hydrate import FoundMemory, hydrate_memories, load_source_links
from memoryhub.recall.render.results import MemoryItem
from memoryhub.tenants.scope import tenant_scope
from notes.episodes.store import build_live_q
from notes.facts.validity import build_current_q
from notes.links.link import filter_links_of_notes
from notes.models import Episode, Fact, IndexEntry, Link, Note

Vectors = NDArray[np.float32]


def assign_buckets(vectors: Vectors, directions: Vectors) -> NDArray[np.int64]:
    """Locality-sensitive hashing, argmax [xR; -xR]: of all directions and their opposites the one
    that a vector points to most. Without directions there is one bucket."""
    if not len(directions):
        return np.zeros(len(vectors), np.int64)
    along = vectors @ directions.T
    found: NDArray[np.int64] = np.argmax(np.concatenate([along, -along], axis=1), axis=1)
    return found


def draw_directions(number: int, dimension: int, seed: int) -> Vectors:
    """Random ones for so many buckets, two a direction; the same for the same seed."""
    made = np.random.default_rng(seed).standard_normal((number // 2, dimension))
    return made.astype(np.float32)


# Of the links between notes those that say that one thing came of another.
_EVENT_KINDS = (Link.Kind.CAUSES, Link.Kind.CONTINUES)


class ThoughtReader:
    """The `k` facts most alike. Options: of so many `buckets` only the question's is looked at
    (TiM); `summary` adds that of the last session, and `events` at most so many edges of the graph
    of what led to what, of those that join the facts found (LoCoMo, section 3.2)."""

    def __init__(self, place: ReaderInputs) -> None:
        self._space, self._embedder = place.space, place.embedder
        self._k = int(place.options["k"])
        number = int(place.options.get("buckets", 0))
        self._directions = draw_directions(number, place.embedder.dimension, seed=0)
        with tenant_scope(place.space.tenant_id):
            self._ids, self._vectors = self._load_fact_vectors(place.now)
            done = Episode.objects.filter(
                build_live_q(), space=place.space, kind=Episode.Kind.SESSION
            )
            last = done.order_by("-to_seq").first() if place.options.get("summary") else None
        self._summary = [build_item("episode", last.text, 0.0, last.to_at)] if last else []
        self._events = int(place.options.get("events", 0))
        self._buckets = assign_buckets(self._vectors, self._directions)

    def _load_fact_vectors(self, now: datetime) -> tuple[list[UUID], Vectors]:
        """Current facts and their vectors."""
        facts = Fact.objects.filter(build_current_q(now), space=self._space)
        entries = IndexEntry.objects.filter(
            space=self._space,
            kind="fact",
            model=self._embedder.name,
            chunk=0,
            embedding__isnull=False,
            owner_id__in=facts.values("id"),
        )
        rows = list(entries.order_by("owner_id").values_list("owner_id", "embedding"))
        vectors = [np.asarray(vector, np.float32) for _, vector in rows]
        none = np.zeros((0, self._embedder.dimension), np.float32)
        return [at for at, _ in rows], np.stack(vectors) if vectors else none

    def recall(self, question: str, now: datetime) -> ReaderResult:
        asked = self._embedder.embed([question])
        near = self._vectors @ asked.reshape(-1)
        mine = self._buckets == assign_buckets(asked, self._directions)[0]
        places = [at for at in range(len(self._ids)) if mine[at]]
        best = sorted(places, key=lambda at: (-near[at], at))[: self._k]
        found = [FoundMemory("fact", self._ids[at], float(near[at])) for at in best]
        with tenant_scope(self._space.tenant_id):
            items = hydrate_memories(found, load_source_links(self._ids[at] for at in best))
            events = _load_events([item.id for item in items], self._events)
        return build_result([*items, *events, *self._summary])


def _load_events(facts: Sequence[UUID], most: int) -> list[MemoryItem]:
    """What led to what, of links that join notes of these facts to others, in the order of time:
    the earlier led to the later, since links have no direction."""
    if not most:
        return []
    notes = Note.objects.filter(fact__in=facts).values_list("id", flat=True)
    links = filter_links_of_notes(notes).filter(kind__in=_EVENT_KINDS)
    joined = [(link.a.fact, link.b.fact) for link in links.select_related("a__fact", "b__fact")]
    ends = [sorted((one, other), key=_get_event_time) for one, other in joined if one and other]
    ends = sorted(ends, key=lambda pair: _get_event_time(pair[0]))[:most]
    ids = list(dict.fromkeys(fact.id for pair in ends for fact in pair))
    told = hydrate_memories([FoundMemory("fact", at, 0.0) for at in ids], load_source_links(ids))
    items = {item.id: item for item in told}
    shown = [(items.get(one.id), items.get(other.id)) for one, other in ends]
    return [_build_event_item(one, other) for one, other in shown if one and other]


def _get_event_time(fact: Fact) -> datetime:
    return fact.event_from or fact.asserted_at


def _build_event_item(one: MemoryItem, other: MemoryItem) -> MemoryItem:
    first, then = (item.event_from or item.occurred_at for item in (one, other))
    text = f"{one.text} ({first:%Y-%m-%d}) → {other.text} ({then:%Y-%m-%d})"
    sources = {source.turn_id: source for source in (*one.sources, *other.sources)}
    return build_item("episode", text, 0.0, first, list(sources.values()))
