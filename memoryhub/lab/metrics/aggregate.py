"""Figures of many outcomes: means, shares, percentiles. Pure; defined in docs/reference/lab.md.

An outcome is a `LabOutcome`, or a row with those of its columns that are measured.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from memoryhub.lab.metrics.rankings import (
    RECALL_CUTS,
    TOKEN_BUDGETS,
    compute_mean,
    compute_percentile,
)

CallFigures = Mapping[str, Mapping[str, float]]
# Tokens at which the curve of recall is drawn.
CURVE_TOKENS = (50, 100, 250, 500, 1000, 2000, 4000, 8000, 16000, 32000)
SCORE_NAMES = ("f1", "bleu1", "rouge_2", "rouge_l", "meteor", "sbert", "refusal")


def compute_recall(outcome: Any, *, cut: int | None = None, budget: int | None = None) -> float:
    """The share of the evidence among the first `cut` items, or within `budget` tokens, or all."""
    found = [
        place
        for place, tokens in outcome.places.values()
        if (cut is None or place <= cut) and (budget is None or tokens <= budget)
    ]
    return len(found) / len(outcome.evidence)


def compute_figures(outcomes: Sequence[Any]) -> dict[str, Any]:
    """Of these outcomes together; None for what none of them says.

    Evidence is measured where there is some and the question can be answered: evidence of an
    adversarial question is the trap.
    """
    evident = [o for o in outcomes if o.evidence and not o.unanswerable]
    found: dict[str, Any] = {"questions": len(outcomes), "with_evidence": len(evident)}
    found |= {
        f"recall@{cut}": compute_mean(compute_recall(o, cut=cut) for o in evident)
        for cut in RECALL_CUTS
    }
    found |= {
        f"recall<={size}": compute_mean(compute_recall(o, budget=size) for o in evident)
        for size in TOKEN_BUDGETS
    }
    found["recall"] = compute_mean(compute_recall(o) for o in evident)
    for name in SCORE_NAMES:
        found[name] = compute_mean(o.scores[name] for o in outcomes if name in o.scores)
    found["judge"] = compute_mean(float(o.graded) for o in outcomes if o.graded is not None)
    found["context_tokens"] = compute_mean((o.tokens for o in outcomes), 1)
    found["items"] = compute_mean((o.items for o in outcomes), 1)
    found["abstained"] = compute_mean(float(o.abstained) for o in outcomes)
    found["insufficient"] = compute_mean(float(o.insufficient) for o in outcomes)
    return found


def compute_recall_curve(outcomes: Sequence[Any]) -> list[dict[str, float | None]]:
    """Recall against tokens, up to the longest context there was."""
    evident = [o for o in outcomes if o.evidence and not o.unanswerable]
    longest = max((o.tokens for o in evident), default=0)
    sizes = [
        size for at, size in enumerate(CURVE_TOKENS) if at == 0 or CURVE_TOKENS[at - 1] < longest
    ]
    return [
        {"tokens": n, "recall": compute_mean(compute_recall(o, budget=n) for o in evident)}
        for n in sizes
    ]


def compute_latency(values: Sequence[float]) -> dict[str, float]:
    return {f"p{share}": round(compute_percentile(values, share), 1) for share in (50, 95)}


def sum_calls(many: Iterable[CallFigures]) -> dict[str, dict[str, float]]:
    """Model calls by purpose, added up."""
    total: dict[str, dict[str, float]] = {}
    for calls in many:
        for purpose, row in calls.items():
            known = total.setdefault(purpose, {})
            for name, value in row.items():
                known[name] = round(known.get(name, 0) + value, 6)
    return dict(sorted(total.items()))


def sum_money(calls: CallFigures) -> float:
    return round(sum(row.get("money", 0.0) for row in calls.values()), 6)
