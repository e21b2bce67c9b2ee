"""How well rankings find the evidence. Pure; the definitions are in docs/reference/lab.md."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

RECALL_CUTS = (1, 5, 10, 20, 30)
HIT_CUTS = (1, 3, 5)
SESSION_CUTS = (5, 10)
TOKEN_BUDGETS = (250, 500, 1000)


@dataclass(frozen=True, slots=True)
class RankingOutcome:
    """One question's ranking: the turn refs each result stands for, and the results' tokens.

    `trap`: it asks about what was never said (LoCoMo's category 5) and counts in no mean of all.
    """

    category: int
    evidence: frozenset[str]
    ranked: Sequence[frozenset[str]]
    tokens: Sequence[int]
    trap: bool = False


def compute_recall_at(outcome: RankingOutcome, cut: int) -> float:
    """The share of the evidence turns within the first `cut` results."""
    return _compute_found_share(outcome, outcome.ranked[:cut])


def compute_session_recall_at(outcome: RankingOutcome, cut: int) -> float:
    """The share of the sessions with evidence of which the first `cut` results show a turn."""
    wanted = {_get_session(ref) for ref in outcome.evidence}
    shown = {_get_session(ref) for refs in outcome.ranked[:cut] for ref in refs}
    return len(wanted & shown) / len(wanted)


def _get_session(ref: str) -> str:
    """Of "D3:12" "D3"."""
    return ref.partition(":")[0]


def compute_hit_at(outcome: RankingOutcome, cut: int) -> float:
    """1 if any of the evidence is within the first `cut` results, else 0."""
    return float(compute_recall_at(outcome, cut) > 0)


def count_tokens_at(outcome: RankingOutcome, cut: int) -> int:
    """Of the texts of the first `cut` results."""
    return sum(outcome.tokens[:cut])


def compute_recall_within(outcome: RankingOutcome, budget: int) -> float:
    """The share within the leading results whose texts fit `budget` tokens together."""
    total, fitting = 0, 0
    for tokens in outcome.tokens:
        total += tokens
        if total > budget:
            break
        fitting += 1
    return _compute_found_share(outcome, outcome.ranked[:fitting])


def _compute_found_share(outcome: RankingOutcome, results: Iterable[frozenset[str]]) -> float:
    found = frozenset[str]().union(*results)
    return len(outcome.evidence & found) / len(outcome.evidence)


def compute_ndcg_at(outcome: RankingOutcome, cut: int) -> float:
    """Binary gains; a result counts for evidence that no better result has shown."""
    seen: set[str] = set()
    gained = 0.0
    for place, refs in enumerate(outcome.ranked[:cut]):
        new = (refs & outcome.evidence) - seen
        gained += bool(new) / math.log2(place + 2)
        seen |= new
    ideal = sum(1 / math.log2(at + 2) for at in range(min(cut, len(outcome.evidence))))
    return gained / ideal


def compute_means(outcomes: Sequence[RankingOutcome]) -> dict[str, float]:
    """Means over questions: "recall@10", "ndcg@10", "recall<=500", "tokens@10", "hit@3",
    "sessions@5"."""
    measures: dict[str, Callable[[RankingOutcome], float]] = {
        **{f"recall@{cut}": partial(compute_recall_at, cut=cut) for cut in RECALL_CUTS},
        "ndcg@10": partial(compute_ndcg_at, cut=10),
        **{f"recall<={n}": partial(compute_recall_within, budget=n) for n in TOKEN_BUDGETS},
        "tokens@10": partial(count_tokens_at, cut=10),
        **{f"hit@{cut}": partial(compute_hit_at, cut=cut) for cut in HIT_CUTS},
        **{f"sessions@{n}": partial(compute_session_recall_at, cut=n) for n in SESSION_CUTS},
    }
    return {name: compute_mean(map(of, outcomes)) or 0.0 for name, of in measures.items()}


def group_by_key(outcomes: Iterable[Any], key: Callable[[Any], Any]) -> dict[Any, list[Any]]:
    """In the order of the keys."""
    groups: dict[Any, list[Any]] = defaultdict(list)
    for outcome in outcomes:
        groups[key(outcome)].append(outcome)
    return dict(sorted(groups.items()))


def compute_percentile(values: Sequence[float], share: float) -> float:
    return float(np.percentile(values, share)) if values else 0.0


def compute_mean(values: Iterable[float], digits: int = 4) -> float | None:
    numbers = list(values)
    return round(sum(numbers) / len(numbers), digits) if numbers else None
