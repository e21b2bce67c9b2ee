"""Weights from examples: a right answer should score above all wrong ones. Pure.

Each right candidate takes part in a lottery with the wrong ones of its group, its chance growing
with its score (softmax); the weights are those that make the right ones likely, and are pulled
towards a start, the more so the fewer examples speak against it. The problem is convex: there is
one answer, and the same examples always lead to it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]

STEPS, PACE = 300, 0.03
# How far a step remembers the ones before it, and its size (Adam).
_MOMENTUM, _MEMORY = 0.9, 0.99
# A start is a matter of proportions: these multiples of it are compared first.
_START_SCALES = (0.4, 0.6, 0.8, 1.0, 1.25, 1.5)


@dataclass(frozen=True, slots=True)
class CandidateGroup:
    """Candidates that compete: (candidates, signals) values, and which of them are right."""

    values: FloatArray
    right: NDArray[np.bool_]

    @property
    def has_contrast(self) -> bool:
        """Something is to be told apart."""
        return bool(self.right.any() and not self.right.all())


class _Examples:
    """Groups one below the other; `group` names each row's, `first` is each group's first row."""

    def __init__(self, groups: Sequence[CandidateGroup]) -> None:
        sizes = [len(group.right) for group in groups]
        self.values = np.concatenate([group.values for group in groups])
        self.right = np.concatenate([group.right for group in groups])
        self.group = np.repeat(np.arange(len(groups)), sizes)
        self.first = np.concatenate([[0], np.cumsum(sizes)[:-1]])
        # The right ones of a group count as one together.
        self.share = self.right / np.add.reduceat(self.right.astype(float), self.first)[self.group]

    def compute_loss(self, weights: FloatArray) -> tuple[float, FloatArray]:
        """The mean negative log chance of the right ones, and its slope by weight."""
        scores = self.values @ weights
        mass = np.exp(scores - np.maximum.reduceat(scores, self.first)[self.group])
        wrong = np.add.reduceat(np.where(self.right, 0.0, mass), self.first)[self.group]
        pressure = np.add.reduceat(self.share / (mass + wrong), self.first)[self.group]
        slope = np.where(self.right, -self.share * wrong / (mass + wrong), mass * pressure)
        unlikely = np.log1p(wrong / mass)[self.right] @ self.share[self.right]
        count = len(self.first)
        return float(unlikely) / count, self.values.T @ slope / count


def learn_weights(groups: Sequence[CandidateGroup], start: FloatArray, pull: float) -> FloatArray:
    """The weights, by signal as `start` is. Raises ValueError where no group teaches anything."""
    examples = _Examples([group for group in groups if group.has_contrast])
    count = len(examples.first)
    start = min(
        (start * scale for scale in _START_SCALES),
        key=lambda weights: examples.compute_loss(weights)[0],
    )
    weights, drift, size = start.copy(), np.zeros_like(start), np.zeros_like(start)
    for step in range(1, STEPS + 1):
        slope = examples.compute_loss(weights)[1] + pull * (weights - start) / count
        drift = _MOMENTUM * drift + (1 - _MOMENTUM) * slope
        size = _MEMORY * size + (1 - _MEMORY) * slope**2
        pace = np.sqrt(size / (1 - _MEMORY**step)) + 1e-8
        weights = weights - PACE * drift / (1 - _MOMENTUM**step) / pace
    return weights
