"""What each signal is worth: a few numbers learned by `manage.py lab train`, with where from."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

SHIPPED_PATH = Path(__file__).with_name("weights.json")
WEIGHTS_FORMAT = "memoryhub.weights/1"

_Weight = Annotated[float, Field(ge=-10, le=10, allow_inf_nan=False)]
_Share = Annotated[float, Field(ge=0, le=1)]


class _StrictModel(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


class Weights(_StrictModel):
    """How much each signal adds: of a standard deviation, or outright where it is yes or no.

    `dense` is 1: only proportions count.
    """

    dense: _Weight
    lexical: _Weight
    rare: _Weight
    answers: _Weight
    speaker: _Weight
    date: _Weight
    when: _Weight
    predicate: _Weight
    asks: _Weight
    length: _Weight
    alone: _Weight
    assistant: _Weight
    recent: _Weight
    early: _Weight
    value: _Weight
    others: _Weight = 0.0
    fact: _Weight
    note: _Weight

    def get_weight(self, name: str) -> float:
        weight: float = getattr(self, name)
        return weight


class TrainingRecord(_StrictModel):
    """Where weights come from: so many `questions` with evidence, and `everyday` ones.

    `data_sha256` is that of the file's bytes; `on` is whatever day the command was told; `recall`
    is measured on what was learned from, so it flatters.
    """

    data_sha256: Annotated[str, Field(pattern="^[0-9a-f]{64}$")]
    conversations: tuple[str, ...]
    questions: Annotated[int, Field(ge=1)]
    everyday: Annotated[int, Field(ge=0)] = 0
    objective: str
    start: Mapping[str, _Weight]
    pull: Annotated[float, Field(ge=0)]
    recall: Mapping[str, _Share]
    on: str = ""


class WeightsFile(_StrictModel):
    """`assisted`: for what was told to an assistant, where questions are after what holds now;
    `weights`: for what people told one another."""

    format: Annotated[str, Field(pattern=f"^{WEIGHTS_FORMAT}$")] = WEIGHTS_FORMAT
    weights: Weights
    assisted: Weights
    trained: TrainingRecord


def read_weights(path: Path) -> WeightsFile:
    """Raises ValueError for anything but a file that `write` made."""
    return WeightsFile.model_validate_json(path.read_text(encoding="utf-8"))


def write_weights(path: Path, made: WeightsFile) -> None:
    path.write_text(made.model_dump_json(indent=2) + "\n", encoding="utf-8")


@cache
def get_shipped_weights() -> WeightsFile:
    """Those that searches are ranked by, read once."""
    return read_weights(SHIPPED_PATH)
