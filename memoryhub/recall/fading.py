"""What a memory's score is worth for how well it is remembered: mode `rank` (spec §11.6)."""

from __future__ import annotations

from memoryhub.recall.asking import Ask
from memoryhub.recall.fusion import Candidate
from notes.forgetting import retained, weight


def matters(ask: Ask) -> bool:
    """Whether age counts in the order of what is found."""
    return ask.policy.forget.mode == "rank"


def kept(ask: Ask, candidate: Candidate) -> float:
    """R^w, 1 in the other modes. Age orders what is alike and hides nothing."""
    forget = ask.policy.forget
    if not matters(ask):
        return 1.0
    since = candidate.recalled_at or candidate.occurred_at
    return weight(forget, retained(ask.visibility.at - since, candidate.strength, forget.unit_days))
