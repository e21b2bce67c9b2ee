"""What a memory's score is worth for how well it is remembered: mode `rank` (spec §11.6)."""

from __future__ import annotations

from collections.abc import Sequence

from memoryhub.recall.question.prepare import PreparedQuestion
from memoryhub.recall.ranking.score import MemoryCandidate
from notes.retention.curve import compute_rank_weights


def is_decay_ranked(ask: PreparedQuestion) -> bool:
    """Whether age counts in the order of what is found."""
    return ask.policy.forget.mode == "rank"


def compute_kept_shares(ask: PreparedQuestion, found: Sequence[MemoryCandidate]) -> list[float]:
    """R^w of each, 1 in the other modes. Age orders what is alike and hides nothing."""
    if not is_decay_ranked(ask):
        return [1.0] * len(found)
    forget, now = ask.policy.forget, ask.visibility.at
    gone = [(now - (c.recalled_at or c.occurred_at)).total_seconds() for c in found]
    return compute_rank_weights(forget, gone, [c.strength for c in found])
