"""Facts found by their vectors alone: LoCoMo's observations, and TiM's thoughts in buckets."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from memoryhub.lab.readers.base import Handed, Place, handed, made_up
from memoryhub.recall.hydration import Found, hydrate, links_of
from memoryhub.recall.results import Item
from memoryhub.tenants.scope import tenant_scope
from notes.episodes import live
from notes.models import Episode, Fact, IndexEntry
from notes.queries import is_current

Vectors = NDArray[np.float32]


def buckets(vectors: Vectors, directions: Vectors) -> NDArray[np.int64]:
    """Locality-sensitive hashing, argmax [xR; -xR]: of all directions and their opposites the one
    that a vector points to most. Without directions there is one bucket."""
    if not len(directions):
        return np.zeros(len(vectors), np.int64)
    along = vectors @ directions.T
    found: NDArray[np.int64] = np.argmax(np.concatenate([along, -along], axis=1), axis=1)
    return found


def directions(number: int, dimension: int, seed: int) -> Vectors:
    """Random ones for so many buckets, two a direction; the same for the same seed."""
    made = np.random.default_rng(seed).standard_normal((number // 2, dimension))
    return made.astype(np.float32)


class ThoughtReader:
    """The `k` facts most alike. Options: of so many `buckets` only the question's is looked at
    (TiM); `summary` adds that of the last session (LoCoMo)."""

    def __init__(self, place: Place) -> None:
        self._space, self._embedder = place.space, place.embedder
        self._k = int(place.options["k"])
        number = int(place.options.get("buckets", 0))
        self._directions = directions(number, place.embedder.dimension, seed=0)
        with tenant_scope(place.space.tenant_id):
            self._ids, self._vectors = self._held(place.now)
            self._summary = _last_summary(place) if place.options.get("summary") else []
        self._buckets = buckets(self._vectors, self._directions)

    def _held(self, now: datetime) -> tuple[list[UUID], Vectors]:
        """Current facts and their vectors."""
        facts = Fact.objects.filter(is_current(now), space=self._space)
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

    def recall(self, question: str, now: datetime) -> Handed:
        asked = self._embedder.embed([question])
        near = self._vectors @ asked.reshape(-1)
        mine = self._buckets == buckets(asked, self._directions)[0]
        places = [at for at in range(len(self._ids)) if mine[at]]
        best = sorted(places, key=lambda at: (-near[at], at))[: self._k]
        with tenant_scope(self._space.tenant_id):
            items = self._read([(self._ids[at], float(near[at])) for at in best])
        return handed([*items, *self._summary])

    def _read(self, chosen: Sequence[tuple[UUID, float]]) -> list[Item]:
        found = [Found("fact", at, score) for at, score in chosen]
        return hydrate(found, links_of(at for at, _ in chosen))


def _last_summary(place: Place) -> list[Item]:
    rows = Episode.objects.filter(live(), space=place.space, kind=Episode.Kind.SESSION)
    last = rows.order_by("-to_seq").first()
    return [made_up("episode", last.text, 0.0, last.to_at)] if last else []
