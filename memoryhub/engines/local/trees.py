"""Learned boosted trees as they are shipped: small, without the library that learned them."""

from __future__ import annotations

from functools import cached_property
from typing import Annotated

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field


class StrictModel(BaseModel):
    """What a file that was learned has to hold: all of this, and nothing else."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


Share = Annotated[float, Field(ge=0, le=1)]
_Tree = tuple[tuple[float, ...], ...]


class BoostedTrees(StrictModel):
    """Trees whose leaves add up to log odds, of `features` by number. A node is (feature,
    threshold, left, right), by its place in its tree, or (value,) for a leaf."""

    start: float
    trees: tuple[_Tree, ...]

    @cached_property
    def _nodes(self) -> tuple[NDArray[np.float64], int]:
        """(trees, nodes, [feature, threshold, left, right, value]): a leaf leads to itself."""
        most = max((len(tree) for tree in self.trees), default=1)
        nodes = np.zeros((len(self.trees), most, 5))
        for at, tree in enumerate(self.trees):
            for place, node in enumerate(tree):
                leaf = len(node) == 1
                nodes[at, place] = (0, 0, place, place, node[0]) if leaf else (*node, 0)
        return nodes, max((_measure_depth(tree) for tree in self.trees), default=0)

    def estimate_shares(self, rows: NDArray[np.float64]) -> NDArray[np.float64]:
        """Of each row (rows, features), how likely it is so: (rows,) within 0 to 1."""
        nodes, depth = self._nodes
        trees = np.arange(len(self.trees))
        at = np.zeros((len(rows), len(self.trees)), dtype=np.intp)
        for _ in range(depth):
            here = nodes[trees, at]
            values = np.take_along_axis(rows, here[..., 0].astype(np.intp), axis=1)
            at = np.where(values <= here[..., 1], here[..., 2], here[..., 3]).astype(np.intp)
        odds = self.start + nodes[trees, at, 4].sum(axis=1)
        shares: NDArray[np.float64] = 1 / (1 + np.exp(-odds))
        return shares


def _measure_depth(tree: _Tree, at: int = 0) -> int:
    node = tree[at]
    return 0 if len(node) == 1 else 1 + max(_measure_depth(tree, int(n)) for n in node[2:])
