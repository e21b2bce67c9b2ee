"""What a channel answers with: a handle, a score within the channel, and a reason. Pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar
from uuid import UUID

from memoryhub.recall.render.results import ArmRank, ChannelRank, ItemKind

Key = TypeVar("Key")
# Of reciprocal rank fusion: how little it matters to be first rather than third.
RRF_CONSTANT = 60


@dataclass(frozen=True, slots=True)
class ChannelHit:
    """A memory that a channel holds out. `score` is in [0, 1], larger is better.

    Scores of different channels are not comparable: between channels only ranks count (C13).
    """

    kind: ItemKind
    id: UUID
    score: float
    reason: str
    linked: bool = False
    arms: Mapping[str, ArmRank] = field(default_factory=dict)


def clamp_score(score: float) -> float:
    """Within [0, 1]."""
    return round(max(0.0, min(1.0, score)), 6)


def rank_by_score(scores: Mapping[Key, float | None]) -> dict[Key, int]:
    """From 1 for the best; what has no score has no place. Ties by the order given."""
    known = {key: score for key, score in scores.items() if score is not None}
    best = sorted(known, key=known.__getitem__, reverse=True)
    return {key: place for place, key in enumerate(best, 1)}


def compute_reciprocal_rank(ranks: Sequence[int | None]) -> float:
    """RRF of a memory's places in several lists (None: not in it), 1 for the first of all."""
    if not ranks:
        return 0.0
    best = len(ranks) / (RRF_CONSTANT + 1)
    return sum(1 / (RRF_CONSTANT + rank) for rank in ranks if rank is not None) / best


def group_ranks_by_memory(
    lists: Mapping[str, Sequence[ChannelHit]],
) -> dict[UUID, list[ChannelRank]]:
    """By memory, where it was found: a place in each channel that holds it out."""
    found: dict[UUID, list[ChannelRank]] = defaultdict(list)
    for channel, hits in lists.items():
        for place, hit in enumerate(hits, 1):
            found[hit.id].append(ChannelRank(channel, place, hit.score, hit.reason, hit.arms))
    return dict(found)


def compute_channel_gains(
    found: Sequence[ChannelRank], weights: Mapping[str, float]
) -> dict[str, float]:
    """What each channel adds to a memory's score by weighted RRF."""
    parts: dict[str, float] = {}
    for each in found:
        gain = weights.get(each.channel, 1.0) / (RRF_CONSTANT + each.rank)
        parts[each.channel] = parts.get(each.channel, 0.0) + gain
    return parts
