"""What is alike by meaning or by words, of one kind: RRF of both, above the channel's floor."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from uuid import UUID

from memoryhub.recall.candidates.channels.hits import (
    ChannelHit,
    clamp_score,
    compute_reciprocal_rank,
    rank_by_score,
)
from memoryhub.recall.candidates.sql import CANDIDATES_PER_ARM, retrieve_for_question
from memoryhub.recall.candidates.unindexed_turns import retrieve_unindexed_turns
from memoryhub.recall.question.prepare import PreparedQuestion
from memoryhub.recall.ranking.decay import compute_kept_shares
from memoryhub.recall.ranking.score import MemoryCandidate
from memoryhub.recall.render.results import ArmRank, ItemKind

# Below this cosine, and with fewer than this share of the question's words, it is no answer (E32).
FLOOR, WORDS = 0.25, 0.3


def retrieve_similar(
    ask: PreparedQuestion,
    kind: ItemKind,
    *,
    most: int = CANDIDATES_PER_ARM,
    linked_to: Sequence[UUID] = (),
) -> list[MemoryCandidate]:
    """Candidates of one kind in one statement, or the notes linked to these."""
    found = retrieve_for_question(ask, [kind], most, linked_to).visible
    if kind == "turn":
        found += retrieve_unindexed_turns(ask)
    # Of what is equally alike the newest first, and always in the same order.
    return sorted(found, key=lambda c: (c.occurred_at, c.id), reverse=True)


def is_above_floor(candidate: MemoryCandidate) -> bool:
    """Above the floor in one arm or the other."""
    near = candidate.dense is not None and candidate.dense / 2 >= FLOOR
    return near or candidate.lexical >= WORDS


def build_arms(
    found: Sequence[MemoryCandidate], wanted: Collection[UUID] | None = None
) -> dict[UUID, dict[str, ArmRank]]:
    """The places by meaning and by words, among all found, of those wanted (None: of all)."""
    near = rank_by_score({at: c.dense for at, c in enumerate(found)})
    words = rank_by_score({at: c.lexical or None for at, c in enumerate(found)})
    return {
        c.id: _build_candidate_arms(c, near.get(at), words.get(at))
        for at, c in enumerate(found)
        if wanted is None or c.id in wanted
    }


def _build_candidate_arms(
    candidate: MemoryCandidate, near: int | None, words: int | None
) -> dict[str, ArmRank]:
    arms: dict[str, ArmRank] = {}
    if near is not None and candidate.dense is not None:
        arms["dense"] = ArmRank(near, round(candidate.dense / 2, 4))
    if words is not None:
        arms["lexical"] = ArmRank(words, round(candidate.lexical, 4))
    return arms


def rank_similar(
    ask: PreparedQuestion, found: Sequence[MemoryCandidate]
) -> list[tuple[MemoryCandidate, float]]:
    """Those that bear on the question with their RRF, best first; what has faded counts less."""
    near = rank_by_score({c.id: c.dense for c in found})
    words = rank_by_score({c.id: c.lexical or None for c in found})
    scored = [
        (c, clamp_score(compute_reciprocal_rank([near.get(c.id), words.get(c.id)]) * left))
        for c, left in zip(found, compute_kept_shares(ask, found), strict=True)
        if is_above_floor(c)
    ]
    return sorted(scored, key=lambda pair: -pair[1])


def find_similar_hits(ask: PreparedQuestion, kind: ItemKind, count: int) -> list[ChannelHit]:
    """The `count` best of a kind."""
    known = retrieve_similar(ask, kind, most=max(CANDIDATES_PER_ARM, count))
    arms = build_arms(known)
    best = rank_similar(ask, known)[:count]
    return [ChannelHit(kind, c.id, score, format_reason(c), arms=arms[c.id]) for c, score in best]


def format_reason(candidate: MemoryCandidate) -> str:
    alike = "" if candidate.dense is None else f"alike {candidate.dense / 2:.2f}"
    words = f"words {candidate.lexical:.2f}" if candidate.lexical else ""
    return ", ".join(part for part in (alike, words) if part)
