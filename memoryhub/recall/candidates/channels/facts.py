"""What is held true: current facts, those of an earlier time, or all (spec §12.2)."""

from __future__ import annotations

from memoryhub.recall.candidates.channels.hits import ChannelHit, clamp_score
from memoryhub.recall.candidates.channels.similar import (
    build_arms,
    format_reason,
    rank_similar,
    retrieve_similar,
)
from memoryhub.recall.candidates.sql import CANDIDATES_PER_ARM
from memoryhub.recall.question.prepare import PreparedQuestion

# For a fact about whom the question names.
_NAMED_OWNER_BOOST = 0.1


def find_hits(ask: PreparedQuestion) -> list[ChannelHit]:
    most = 1 + _NAMED_OWNER_BOOST
    known = retrieve_similar(ask, "fact", most=max(CANDIDATES_PER_ARM, ask.k))
    arms = build_arms(known)
    scored = [
        ChannelHit(
            "fact", c.id, clamp_score((score + boost) / most), format_reason(c), arms=arms[c.id]
        )
        for c, score in rank_similar(ask, known)
        for boost in [_NAMED_OWNER_BOOST * (c.owner in ask.parsed_question.named)]
    ]
    return sorted(scored, key=lambda hit: -hit.score)[: ask.k]
