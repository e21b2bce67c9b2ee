"""Scores of candidates from their signals. Pure: no database, no clock.

A score is the sum of its parts, and a part is a signal times its weight. How the signals and their
weights came about: docs/explanation/recall.md.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from memoryhub.recall.routing import Route
from memoryhub.recall.signals import Candidate, signals
from memoryhub.recall.weights import Weights, shipped

__all__ = ["Candidate", "Scored", "fuse"]


class Scored(NamedTuple):
    candidate: Candidate
    parts: Mapping[str, float]

    @property
    def score(self) -> float:
        return sum(self.parts.values())


def fuse(
    route: Route,
    found: Sequence[Candidate],
    weights: Weights | None = None,
    kept: Callable[[Candidate], float] | None = None,
) -> list[Scored]:
    """`found` with the parts of their scores, best first; ties by time, newest first.

    `weights` are those that are shipped unless given. `kept` is in (0, 1]: what is left of a score
    for how well the memory is remembered; None: all of it.
    """
    used = weights or shipped().weights
    values = {name: used.of(name) * column for name, column in signals(route, found).items()}
    names = [name for name, column in values.items() if name in _ALWAYS or column.any()]
    rows = zip(*(values[name].tolist() for name in names), strict=True)
    scored = [
        Scored(each, _parts(names, row, kept(each) if kept else 1.0))
        for each, row in zip(found, rows, strict=True)
    ]
    return sorted(scored, key=lambda s: (s.score, s.candidate.occurred_at), reverse=True)


# These are told of every candidate, the others of those they speak for or against.
_ALWAYS = ("dense", "lexical")


def _parts(names: Sequence[str], row: Sequence[float], left: float) -> dict[str, float]:
    """What is forgotten of a score is a part too. A score below the mean is far from it by as much
    more."""
    named = zip(names, row, strict=True)
    parts = {name: value for name, value in named if value or name in _ALWAYS}
    if left < 1:
        score = sum(parts.values())
        parts["kept"] = score * left - score if score > 0 else score / left - score
    return parts
