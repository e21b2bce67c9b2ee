"""What is held true: current facts, those of an earlier time, or all (spec §12.2)."""

from __future__ import annotations

from memoryhub.recall.asking import Ask
from memoryhub.recall.channels.hits import Hit, share
from memoryhub.recall.channels.similar import alike, ranked, reason

# For a fact about whom the question names.
_BOOST = 0.1


def find(ask: Ask) -> list[Hit]:
    most = 1 + _BOOST
    found = ranked(ask, alike(ask, "fact"))
    scored = [
        Hit("fact", c.id, share((score + _BOOST * (c.owner in ask.way.named)) / most), reason(c))
        for c, score in found
    ]
    return sorted(scored, key=lambda hit: -hit.score)[: ask.k]
