"""One list out of what several channels found (spec §12.2 step 3). Pure.

Scores of different channels can't be compared: between channels only places count, by weighted
reciprocal rank fusion (C13). What was said, held and noted is one list there already, the
ranker's, and the other channels join it. docs/explanation/recall.md says what they weigh and why.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from uuid import UUID

from memoryhub.recall.candidates.channels.hits import (
    RRF_CONSTANT,
    ChannelHit,
    clamp_score,
    compute_channel_gains,
    group_ranks_by_memory,
)
from memoryhub.recall.ranking.score import ScoredCandidate
from memoryhub.recall.ranking.select import ENOUGH
from memoryhub.recall.render.hydrate import FoundMemory
from memoryhub.recall.render.results import ChannelRank

# A first place weighs as much as the ranker's place behind the ten best: what is found by topic
# or by way of relations adds to what was found by its words and meaning, and does not push it out.
CHANNEL_WEIGHTS: Mapping[str, float] = {
    "graph": 0.8,
    "pages": 0.8,
    "episodes": 0.8,
    "shelf": 0.8,
    "linked": 0.5,
    "stm": 0.5,
}
# Words count for less than meaning, as in the ranker's floor.
_LEXICAL_WEIGHT = 0.75


def fuse_channels(
    lists: Mapping[str, Sequence[ChannelHit]], weights: Mapping[str, float]
) -> list[FoundMemory]:
    """The hits of all channels by weighted RRF, each once, best first; the best scores 1.

    `parts` are the channels' shares. Of one channel alone the scores stay as they are.
    """
    by_channel = [(channel, hits) for channel, hits in lists.items() if hits]
    places = group_ranks_by_memory(lists)
    first = {hit.id: hit for _, hits in reversed(by_channel) for hit in reversed(hits)}
    if len(by_channel) == 1:
        (channel, hits) = by_channel[0]
        return [_build_found(hit, {channel: hit.score}, places[hit.id]) for hit in hits]
    parts = {at: compute_channel_gains(found, weights) for at, found in places.items()}
    best = max((sum(part.values()) for part in parts.values()), default=1.0)
    made = [
        _build_found(
            first[at], {name: clamp_score(gain / best) for name, gain in part.items()}, places[at]
        )
        for at, part in parts.items()
    ]
    return sorted(made, key=lambda each: -each.score)


def _build_found(
    hit: ChannelHit, parts: Mapping[str, float], found: Sequence[ChannelRank]
) -> FoundMemory:
    score = sum(parts.values())
    return FoundMemory(hit.kind, hit.id, score, parts, hit.linked, hit.reason, tuple(found))


def merge_into_ranking(
    ranked: Sequence[ScoredCandidate],
    lists: Mapping[str, Sequence[ChannelHit]],
    weights: Mapping[str, float],
    own: Mapping[UUID, ChannelRank],
) -> list[FoundMemory]:
    """The ranker's list, and between its places what only other channels found.

    What the ranker has placed keeps its place: it has compared meaning and words already. The
    scores are the ranker's, and what stands between two of them has that of the next. Where the
    ranker found nothing, only what bears on the question by itself is shown (E32).
    """
    lists = {name: hits if ranked else filter_bearing_hits(hits) for name, hits in lists.items()}
    places, weights = group_ranks_by_memory(lists), {**CHANNEL_WEIGHTS, **weights}
    order = {scored.candidate.id: 1 / (RRF_CONSTANT + at) for at, scored in enumerate(ranked, 1)}
    known = {scored.candidate.id: scored for scored in ranked}
    others = {at: found for at, found in places.items() if at not in known}
    parts = {at: compute_channel_gains(found, weights) for at, found in others.items()}
    order |= {at: sum(gain.values()) for at, gain in parts.items()}
    hits = {hit.id: hit for some in lists.values() for hit in some}
    below = ranked[-1].score if ranked else 0.0
    made: list[FoundMemory] = []
    for at in sorted(order, key=lambda at: order[at]):
        beside = places.get(at, [])
        if at in known:
            made.append(_build_ranked(known[at], own.get(at), beside))
            below = made[-1].score
        else:
            score = below if ranked else hits[at].score
            best = max(parts[at], key=lambda name: parts[at][name])
            made.append(_build_found(hits[at], {best: score}, beside))
    return made[::-1]


def _build_ranked(
    scored: ScoredCandidate, own: ChannelRank | None, beside: Sequence[ChannelRank]
) -> FoundMemory:
    found = ((own,) if own else ()) + tuple(beside)
    reason = own.reason if own else ""
    kind, at = scored.candidate.kind, scored.candidate.id
    return FoundMemory(kind, at, scored.score, scored.parts, reason=reason, found=found)


def filter_bearing_hits(hits: Sequence[ChannelHit]) -> list[ChannelHit]:
    """Those that bear on the question whatever else was found."""
    return [hit for hit in hits if _score_by_itself(hit) >= ENOUGH]


def _score_by_itself(hit: ChannelHit) -> float:
    if not hit.arms:
        return hit.score
    near, words = hit.arms.get("dense"), hit.arms.get("lexical")
    share = min(words.score, 1.0) if words else 0.0
    return (near.score if near else 0.0) + _LEXICAL_WEIGHT * share
