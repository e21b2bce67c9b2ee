"""Whether what was expected was found, and which of two settings did better. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import ceil
from typing import Any, Literal

from memoryhub.recall.render.results import MemoryItem

RECALL_CUTOFFS = (1, 5, 10)
FOUND_WITHIN = 10
Verdict = Literal["better", "worse", "same"]
Rank = int | None


@dataclass(frozen=True, slots=True)
class Expectation:
    """A memory that a question should find: itself, a later version of it, or what says it.

    Ids are strings. `lineage` is a fact's, "" for other kinds.
    """

    kind: str
    id: str
    lineage: str = ""
    turns: tuple[str, ...] = ()

    @classmethod
    def from_stored(cls, stored: Mapping[str, Any]) -> Expectation:
        return cls(stored["kind"], stored["id"], stored["lineage"], tuple(stored["turns"]))

    def to_stored(self) -> dict[str, Any]:
        turns = list(self.turns)
        return {"kind": self.kind, "id": self.id, "lineage": self.lineage, "turns": turns}

    @property
    def names(self) -> set[str]:
        return {self.id, *self.turns}

    def is_met_by(self, item: MemoryItem, lineage: str) -> bool:
        """By itself, its successor, a source turn of it, or a memory that rests on one.

        The last is what remains true when memories are derived anew: other rows, the same words.
        """
        if str(item.id) == self.id or (self.lineage and lineage == self.lineage):
            return True
        resting = {str(source.turn_id) for source in item.sources} | {str(item.id)}
        return not resting.isdisjoint(self.turns)


def find_rank(
    expected: Expectation, items: Sequence[MemoryItem], lineages: Mapping[str, str]
) -> Rank:
    """The place of the first item that meets it, from 1. `lineages`: of the facts among them."""
    for place, item in enumerate(items, 1):
        if expected.is_met_by(item, lineages.get(str(item.id), "")):
            return place
    return None


@dataclass(frozen=True, slots=True)
class QuestionOutcome:
    """What one setting made of one question. `tokens` and `calls` are what models took."""

    ranks: tuple[Rank, ...]
    insufficient: bool = False
    degraded: tuple[str, ...] = ()
    milliseconds: float = 0.0
    tokens: int = 0
    calls: int = 0
    handed: int = 0

    def compute_recall(self, k: int) -> float:
        """The share of what was expected that is among the first k."""
        return sum(rank is not None and rank <= k for rank in self.ranks) / len(self.ranks)

    @property
    def nearness(self) -> float:
        """The mean of 1/rank, so that coming up from tenth to second counts."""
        return sum(1 / rank for rank in self.ranks if rank) / len(self.ranks)


def compare_outcomes(current: QuestionOutcome, candidate: QuestionOutcome) -> Verdict:
    """More of what was expected is better; with as much, what stands higher is."""
    before, after = (
        (round(o.compute_recall(FOUND_WITHIN), 6), round(o.nearness, 6))
        for o in (current, candidate)
    )
    return "same" if before == after else "better" if after > before else "worse"


@dataclass(frozen=True, slots=True)
class OutcomeSummary:
    """A setting over all questions. `recall` maps k to the mean share found among the first k."""

    questions: int
    recall: Mapping[int, float]
    nearness: float
    insufficient: int
    degraded: int
    p50: float
    p95: float
    tokens: int
    calls: int
    handed: float


def summarise_outcomes(outcomes: Sequence[QuestionOutcome]) -> OutcomeSummary:
    count = max(1, len(outcomes))
    took = sorted(o.milliseconds for o in outcomes)
    return OutcomeSummary(
        questions=len(outcomes),
        recall={k: sum(o.compute_recall(k) for o in outcomes) / count for k in RECALL_CUTOFFS},
        nearness=sum(o.nearness for o in outcomes) / count,
        insufficient=sum(o.insufficient for o in outcomes),
        degraded=sum(bool(o.degraded) for o in outcomes),
        p50=compute_percentile(took, 0.5),
        p95=compute_percentile(took, 0.95),
        tokens=sum(o.tokens for o in outcomes),
        calls=sum(o.calls for o in outcomes),
        handed=sum(o.handed for o in outcomes) / count,
    )


def compute_percentile(sorted_values: Sequence[float], share: float) -> float:
    """The value that this share of them does not exceed; 0.0 of none."""
    if not sorted_values:
        return 0.0
    return sorted_values[max(0, ceil(share * len(sorted_values)) - 1)]


def compute_overlap(one: Iterable[str], other: Iterable[str]) -> float:
    """The share of the longer of two lists of ids that both have; 1.0 where both are empty."""
    a, b = set(one), set(other)
    return len(a & b) / max(len(a), len(b)) if a or b else 1.0
