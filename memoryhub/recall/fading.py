"""What a memory's score is worth for how well it is remembered: mode `rank` (spec §11.6)."""

from __future__ import annotations

from collections.abc import Sequence

from memoryhub.recall.asking import Ask
from memoryhub.recall.fusion import Candidate
from notes.forgetting import weights


def matters(ask: Ask) -> bool:
    """Whether age counts in the order of what is found."""
    return ask.policy.forget.mode == "rank"


def kept(ask: Ask, found: Sequence[Candidate]) -> list[float]:
    """R^w of each, 1 in the other modes. Age orders what is alike and hides nothing."""
    if not matters(ask):
        return [1.0] * len(found)
    forget, now = ask.policy.forget, ask.visibility.at
    gone = [(now - (c.recalled_at or c.occurred_at)).total_seconds() for c in found]
    return weights(forget, gone, [c.strength for c in found])
