"""What a channel answers with: a handle, a score within the channel, and a reason. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar
from uuid import UUID

from memoryhub.recall.results import ItemKind

Key = TypeVar("Key")
# Of reciprocal rank fusion: how little it matters to be first rather than third.
RRF = 60


@dataclass(frozen=True, slots=True)
class Hit:
    """A memory that a channel holds out. `score` is in [0, 1], larger is better.

    Scores of different channels are not comparable: between channels only ranks count (C13).
    """

    kind: ItemKind
    id: UUID
    score: float
    reason: str
    linked: bool = False


def share(score: float) -> float:
    """Within [0, 1]."""
    return round(max(0.0, min(1.0, score)), 6)


def places(scores: Mapping[Key, float | None]) -> dict[Key, int]:
    """From 1 for the best; what has no score has no place. Ties by the order given."""
    known = [(key, score) for key, score in scores.items() if score is not None]
    known.sort(key=lambda pair: -pair[1])
    return {key: place for place, (key, _) in enumerate(known, 1)}


def reciprocal(ranks: Sequence[int | None]) -> float:
    """RRF of a memory's places in several lists (None: not in it), 1 for the first of all."""
    best = len(ranks) / (RRF + 1)
    return sum(1 / (RRF + rank) for rank in ranks if rank is not None) / best if ranks else 0.0


def fused(lists: Mapping[str, Sequence[Hit]], weights: Mapping[str, float]) -> list[Hit]:
    """The hits of all channels by weighted RRF, each once, best first; the best scores 1.

    Of a memory that several channels hold out, the reason of the first is kept.
    """
    scores: dict[UUID, float] = {}
    first: dict[UUID, Hit] = {}
    for channel, hits in lists.items():
        for place, hit in enumerate(hits, 1):
            gain = weights.get(channel, 1.0) / (RRF + place)
            scores[hit.id] = scores.get(hit.id, 0.0) + gain
            first.setdefault(hit.id, hit)
    best = max(scores.values(), default=1.0)
    order = sorted(first, key=lambda at: -scores[at])
    return [_scored(first[at], share(scores[at] / best)) for at in order]


def _scored(hit: Hit, score: float) -> Hit:
    return Hit(hit.kind, hit.id, score, hit.reason, hit.linked)
