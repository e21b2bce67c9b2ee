"""What pairs of claims come to, as learned from dialogues with updates; read from one small file.

For each language: how likely both sides speak of one slot (whose values take turns, as a home or a
phone number), how likely the newer ends the older, and the bars from which that is done, or asked
of a person. The bars are set so that what is true is hardly ever closed
(`memoryhub.lab.training.deciders`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Annotated

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from memoryhub.engines.local.trees import BoostedTrees, Share, StrictModel

SHIPPED_PATH = Path(__file__).with_name("deciders.json")
DECIDERS_FORMAT = "memoryhub.deciders/3"


class PairDecider(StrictModel):
    """`features` name the numbers of `pairs.describe_pairs` that are looked at. From `act` on the
    older claim is ended, from `ask` on a person is asked; from `ask_among_people` where no
    assistant was told. `scores` are from authors that were left out when it learned."""

    features: tuple[str, ...]
    slot: BoostedTrees
    closes: BoostedTrees
    act: Share
    ask: Share
    ask_among_people: Share
    scores: Mapping[str, float]

    @property
    def needs_vectors(self) -> bool:
        """Whether it goes by cosines, and so by one embedder's."""
        return "cosine" in self.features

    def judge_rows(
        self, described: Sequence[Mapping[str, float]]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """How likely each pair of one new claim is of one slot, and how likely the new claim ends
        the older one, among so many."""
        rows = np.array([[row[name] for name in self.features] for row in described])
        ends = self.closes.estimate_shares(rows)
        return self.slot.estimate_shares(rows), weigh_by_choice(ends, len(rows))


# So many claims stand beside a new one in the dialogues it was learned from.
_USUAL_CHOICE = 25


def weigh_by_choice(
    shares: NDArray[np.float64], offered: int | NDArray[np.int_]
) -> NDArray[np.float64]:
    """Chances of pairs, given how many older claims are `offered` to the new one.

    A new claim ends about one of them, however many there are: where there are twice as many as
    usual, the odds of each are half (Bayes' rule for another prior).
    """
    choice = np.maximum(1, np.asarray(offered) / _USUAL_CHOICE)
    odds = shares / np.maximum(1 - shares, 1e-9) / choice
    weighed: NDArray[np.float64] = odds / (1 + odds)
    return weighed


class DecidersFile(StrictModel):
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
