"""Scores of candidates from their signals. Pure: no database, no clock.

A score is the sum of its parts, and a part is a signal times its weight. How the signals and their
weights came about: docs/explanation/recall.md.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from memoryhub.recall.routing import Route
from memoryhub.recall.signals import Candidate, Numbers, signals
from memoryhub.recall.weights import Weights, shipped

__all__ = ["Candidate", "Scored", "fuse"]


class Scored(NamedTuple):
    """`score` is the sum of `values`, what the signals called `names` add to it."""

    candidate: Candidate
    score: float
    names: Sequence[str]
    values: Sequence[float]

    @property
    def parts(self) -> dict[str, float]:
        """Put together for what is told: most candidates are only compared."""
        named = zip(self.names, self.values, strict=True)
        return {name: value for name, value in named if value or name in _ALWAYS}

    def part(self, name: str) -> float:
        """What one signal adds; 0 where it says nothing."""
        return self.values[self.names.index(name)] if name in self.names else 0.0

    def at(self, score: float, why: str) -> Scored:
        """With another score: the difference is a part of it, called `why`."""
        more = score - self.score
        return Scored(self.candidate, self.score + more, [*self.names, why], [*self.values, more])


def fuse(
    route: Route,
    found: Sequence[Candidate],
    weights: Weights | None = None,
    kept: Callable[[Sequence[Candidate]], Sequence[float]] | None = None,
) -> list[Scored]:
    """`found` with the parts of their scores, best first; ties by time, newest first.

    `weights` are those that are shipped unless given. `kept` is in (0, 1]: what is left of a score
    for how well each memory is remembered; None: all of it. What is forgotten is a part too.
    """
    used = weights or shipped().weights
    values = {name: used.of(name) * column for name, column in signals(route, found).items()}
    adding = {name: each for name, each in values.items() if name in _ALWAYS or each.any()}
    if kept:
        adding["kept"] = _forgotten(_sum(adding), np.array(kept(found)))
    names, scores = list(adding), _sum(adding).tolist()
    rows = np.column_stack(list(adding.values())).tolist()
    scored = [
        Scored(each, score, names, row)
        for each, score, row in zip(found, scores, rows, strict=True)
    ]
    return sorted(scored, key=lambda s: (s.score, s.candidate.occurred_at), reverse=True)


# These are told of every candidate, the others of those they speak for or against.
_ALWAYS = ("dense", "lexical")


def _sum(columns: Mapping[str, Numbers]) -> Numbers:
    total: Numbers = np.add.reduce(list(columns.values()))
    return total


def _forgotten(scores: Numbers, left: Numbers) -> Numbers:
    """What is lost of each, negative. A score below the mean is far from it by as much more."""
    lost: Numbers = np.where(scores > 0, scores * left, scores / left) - scores
    return lost
