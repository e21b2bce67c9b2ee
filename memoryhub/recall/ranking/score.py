"""Scores of candidates from their signals. Pure: no database, no clock.

A score is the sum of its parts, and a part is a signal times its weight. How the signals and their
weights came about: docs/explanation/recall.md.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from memoryhub.recall.candidates.candidate import MemoryCandidate
from memoryhub.recall.question.parse import ParsedQuestion
from memoryhub.recall.ranking.signals import FloatArray, compute_signals
from memoryhub.recall.ranking.weights import Weights, get_shipped_weights

__all__ = ["MemoryCandidate", "ScoredCandidate", "score_candidates"]


class ScoredCandidate(NamedTuple):
    """`score` is the sum of `values`, what the signals called `names` add to it."""

    candidate: MemoryCandidate
    score: float
    names: Sequence[str]
    values: Sequence[float]

    @property
    def parts(self) -> dict[str, float]:
        """Put together for what is told: most candidates are only compared."""
        named = zip(self.names, self.values, strict=True)
        return {name: value for name, value in named if value or name in _UNCONDITIONAL_PARTS}

    def get_part(self, name: str) -> float:
        """What one signal adds; 0 where it says nothing."""
        return self.values[self.names.index(name)] if name in self.names else 0.0

    def with_score(self, score: float, why: str) -> ScoredCandidate:
        """With another score: the difference is a part of it, called `why`."""
        more = score - self.score
        names, values = [*self.names, why], [*self.values, more]
        return ScoredCandidate(self.candidate, self.score + more, names, values)


def score_candidates(
    route: ParsedQuestion,
    found: Sequence[MemoryCandidate],
    weights: Weights | None = None,
    kept: Callable[[Sequence[MemoryCandidate]], Sequence[float]] | None = None,
) -> list[ScoredCandidate]:
    """`found` with the parts of their scores, best first; ties by time, newest first.

    `weights` are those that are shipped unless given, by whether an assistant took part. `kept` is
    in (0, 1]: what is left of a score for how well each memory is remembered; None: all of it. What
    is forgotten is a part too.
    """
    used = weights or choose_weights(found)
    values = {
        name: used.get_weight(name) * column
        for name, column in compute_signals(route, found).items()
    }
    adding = {
        name: each for name, each in values.items() if name in _UNCONDITIONAL_PARTS or each.any()
    }
    if kept:
        adding["kept"] = _compute_decay_loss(_sum_columns(adding), np.array(kept(found)))
    names, scores = list(adding), _sum_columns(adding).tolist()
    rows = np.column_stack(list(adding.values())).tolist()
    scored = [
        ScoredCandidate(each, score, names, row)
        for each, score, row in zip(found, scores, rows, strict=True)
    ]
    return sorted(scored, key=lambda s: (s.score, s.candidate.occurred_at), reverse=True)


def choose_weights(found: Sequence[MemoryCandidate], *, is_read_by_rules: bool = True) -> Weights:
    """Those of talk with an assistant were learned from what rules read of it: a model's facts say
    more than its turns do."""
    shipped = get_shipped_weights()
    assisted = is_read_by_rules and any(candidate.role == "assistant" for candidate in found)
    return shipped.assisted if assisted else shipped.weights


# These are told of every candidate, the others of those they speak for or against.
_UNCONDITIONAL_PARTS = ("dense", "lexical")


def _sum_columns(columns: Mapping[str, FloatArray]) -> FloatArray:
    total: FloatArray = np.add.reduce(list(columns.values()))
    return total


def _compute_decay_loss(scores: FloatArray, left: FloatArray) -> FloatArray:
    """What is lost of each, negative. A score below the mean is far from it by as much more."""
    lost: FloatArray = np.where(scores > 0, scores * left, scores / left) - scores
    return lost
