"""Notes that are alike, and notes linked to those (A-Mem, spec §4.2).

Links have a budget of their own: with one for both, linked notes would vanish whenever there are
k direct ones (A10). They are scored against the question like the others, and a little less.
"""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

from memoryhub.recall.candidates.channels.hits import (
    ChannelHit,
    clamp_score,
    compute_reciprocal_rank,
    rank_by_score,
)
from memoryhub.recall.candidates.channels.similar import (
    build_arms,
    format_reason,
    rank_similar,
    retrieve_similar,
)
from memoryhub.recall.question.prepare import PreparedQuestion
from memoryhub.recall.ranking.score import MemoryCandidate


def find_hits(ask: PreparedQuestion) -> list[ChannelHit]:
    """The best k, then at most `link_budget` that are linked to them."""
    known = retrieve_similar(ask, "note")
    arms = build_arms(known)
    direct = rank_similar(ask, known)[: ask.k]
    found = [
        ChannelHit("note", c.id, score, format_reason(c), arms=arms[c.id]) for c, score in direct
    ]
    return found + find_linked_hits(ask, known, [hit.id for hit in found])


def find_linked_hits(
    ask: PreparedQuestion, known: Sequence[MemoryCandidate], direct: Sequence[UUID]
) -> list[ChannelHit]:
    """At most `link_budget` notes linked to these, beside all that are known, best first."""
    budget = ask.policy.recall.link_budget
    if not direct or budget == 0:
        return []
    far = retrieve_similar(ask, "note", linked_to=direct)
    return _score_linked_notes(ask, known, far)[:budget]


def _score_linked_notes(
    ask: PreparedQuestion, known: Sequence[MemoryCandidate], linked: list[MemoryCandidate]
) -> list[ChannelHit]:
    """Linked notes by the places they take among all, damped."""
    everyone = {c.id: c for c in (*known, *linked)}.values()
    near = rank_by_score({c.id: c.dense for c in everyone})
    words = rank_by_score({c.id: c.lexical or None for c in everyone})
    weight = ask.policy.recall.linked_weight
    scored = [
        (c, clamp_score(weight * compute_reciprocal_rank([near.get(c.id), words.get(c.id)])))
        for c in linked
    ]
    scored.sort(key=lambda pair: -pair[1])
    return [
        ChannelHit("note", c.id, score, f"linked, {format_reason(c)}", linked=True)
        for c, score in scored
    ]
