"""A learned logistic regression: what each of some features is worth."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import exp

_MOST = 50.0  # beyond this sum a chance is as good as 0 or 1


@dataclass(frozen=True, slots=True)
class Logistic:
    """`weights` by feature. What it is asked is so from a chance of `bar` on."""

    bias: float
    bar: float
    weights: Mapping[str, float]

    def estimate(self, features: Mapping[str, float], more: float = 0.0) -> float:
        """The chance between 0 and 1. `more` is added to the sum of the features with a weight."""
        total = self.bias + more
        total += sum(self.weights.get(name, 0.0) * value for name, value in features.items())
        return 1 / (1 + exp(-max(-_MOST, min(_MOST, total))))
