"""What is held true: current facts, those of an earlier time, or all (spec §12.2)."""

from __future__ import annotations

from memoryhub.recall.arms import PER_ARM
from memoryhub.recall.asking import Ask
from memoryhub.recall.channels.hits import Hit, share
from memoryhub.recall.channels.similar import alike, arms_of, ranked, reason

# For a fact about whom the question names.
_BOOST = 0.1


def find(ask: Ask) -> list[Hit]:
    most = 1 + _BOOST
    known = alike(ask, "fact", most=max(PER_ARM, ask.k))
    arms = arms_of(known)
    scored = [
        Hit("fact", c.id, share((score + boost) / most), reason(c), arms=arms[c.id])
        for c, score in ranked(ask, known)
        for boost in [_BOOST * (c.owner in ask.way.named)]
    ]
    return sorted(scored, key=lambda hit: -hit.score)[: ask.k]
