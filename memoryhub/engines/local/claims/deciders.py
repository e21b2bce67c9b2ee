"""What pairs of claims come to, as learned from dialogues with updates; read from one small file.

For each language: how likely both sides speak of one slot (whose values take turns, as a home or a
phone number), how likely the newer ends the older, and the bars from which that is done, or asked
of a person. The bars are set so that what is true is hardly ever closed
(`memoryhub.lab.training.deciders`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache, cached_property
from pathlib import Path
from typing import Annotated

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field

SHIPPED_PATH = Path(__file__).with_name("deciders.json")
DECIDERS_FORMAT = "memoryhub.deciders/2"

_Share = Annotated[float, Field(ge=0, le=1)]


class _StrictModel(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


_Tree = tuple[tuple[float, ...], ...]


class BoostedTrees(_StrictModel):
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


class PairDecider(_StrictModel):
    """`features` name the numbers of `pairs.describe_pairs` that are looked at. From `act` on the
    older claim is ended, from `ask` on a person is asked. `scores` are from authors that were left
    out when it learned."""

    features: tuple[str, ...]
    slot: BoostedTrees
    closes: BoostedTrees
    act: _Share
    ask: _Share
    scores: Mapping[str, float]

    @property
    def needs_vectors(self) -> bool:
        """Whether it goes by cosines, and so by one embedder's."""
        return "cosine" in self.features

    def judge_rows(
        self, described: Sequence[Mapping[str, float]]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """How likely each pair is of one slot, and how likely its newer side ends the older."""
        rows = np.array([[row[name] for name in self.features] for row in described])
        return self.slot.estimate_shares(rows), self.closes.estimate_shares(rows)


class DecidersFile(_StrictModel):
    """`embedder`: whose cosines were learned from. With another's it may only suspect."""

    format: Annotated[str, Field(pattern=f"^{DECIDERS_FORMAT}$")] = DECIDERS_FORMAT
    embedder: str
    dialogues: int
    deciders: Mapping[str, PairDecider]


def read_deciders(path: Path) -> DecidersFile:
    """Raises ValueError for anything but a file that `write_deciders` made."""
    return DecidersFile.model_validate_json(path.read_text(encoding="utf-8"))


def write_deciders(path: Path, made: DecidersFile) -> None:
    path.write_text(made.model_dump_json() + "\n", encoding="utf-8")


@cache
def get_shipped_deciders() -> DecidersFile:
    return read_deciders(SHIPPED_PATH)
