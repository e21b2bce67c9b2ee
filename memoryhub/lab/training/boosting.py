"""Boosted trees learned from rows of numbers, in the form in which they are shipped."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.ensemble import GradientBoostingClassifier

from memoryhub.engines.local.trees import BoostedTrees

TREES: Mapping[str, Any] = {
    "n_estimators": 180,
    "max_depth": 3,
    "learning_rate": 0.08,
    "subsample": 0.5,
    "max_features": 0.3,
}
LEAST_IN_LEAF = 30


def fit_trees(
    rows: NDArray[np.float64],
    wanted: NDArray[np.bool_],
    counts: NDArray[np.float64] | None = None,
) -> BoostedTrees:
    """What is learned of these `rows` (rows, features), which of them are `wanted`, and how much
    each `counts` (default: all alike). The same rows always give the same trees."""
    least = min(LEAST_IN_LEAF, max(1, len(rows) // 20))
    model = GradientBoostingClassifier(**TREES, min_samples_leaf=least, random_state=0)
    model.fit(rows, wanted, counts)
    trees = []
    for (each,) in model.estimators_:
        tree = each.tree_
        trees.append(
            tuple(
                (round(float(tree.value[at, 0, 0]) * model.learning_rate, 4),)
                if tree.children_left[at] < 0
                else (
                    int(tree.feature[at]),
                    round(float(tree.threshold[at]), 4),
                    int(tree.children_left[at]),
                    int(tree.children_right[at]),
                )
                for at in range(tree.node_count)
            )
        )
    prior = model.init_.class_prior_[1]
    return BoostedTrees(start=float(np.log(prior / (1 - prior))), trees=tuple(trees))
