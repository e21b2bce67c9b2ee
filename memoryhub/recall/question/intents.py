"""What a question wants: from which store, and how much (AMA, spec §7.2). Pure."""

from __future__ import annotations

from collections.abc import Mapping

from memoryhub.engines.types import RoutedQuestion
from memoryhub.policies.schema import Channel

# The stores a judge's further rounds turn to, in this order (spec J4).
FALLBACK_STORES: tuple[Channel, ...] = ("facts", "episodes", "raw")


def choose_store(asked: RoutedQuestion) -> Channel:
    """AMA's priority: exact words, then overviews and stories, else facts."""
    if asked.fine:
        return "raw"
    return "episodes" if asked.abstract or asked.event else "facts"


def compute_memory_count(want: int, k_min: int, k_max: int) -> int:
    """K: what the question wants, at least K_m and at most K_max."""
    return max(1, min(max(want, k_min), k_max))


def compute_channel_weights(asked: RoutedQuestion) -> Mapping[str, float]:
    """How much each channel counts where all are fused: the intent's own counts double."""
    favoured = choose_store(asked)
    if favoured == "facts":
        return {}
    return {"episodes": 2.0, "pages": 1.5} if favoured == "episodes" else {"raw": 2.0}
