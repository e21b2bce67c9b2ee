"""A run as one document: every setting, every figure, and the data of its plots.

It names no machine, user or path, so that two reports can be laid side by side.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from memoryhub.lab.metrics.aggregate import (
    compute_figures,
    compute_latency,
    compute_recall_curve,
    sum_calls,
    sum_money,
)
from memoryhub.lab.metrics.rankings import group_by_key
from memoryhub.lab.models import LabDerivation, LabOutcome, LabRun

REPORT_FORMAT = "memoryhub.lab/1"
# Of an outcome, what a report is made of.
_OUTCOME_COLUMNS = (
    *("system", "dialogue", "category", "unanswerable", "evidence", "places", "items", "tokens"),
    *("scores", "graded", "insufficient", "abstained", "calls", "recall_ms", "answer_ms"),
    *("degraded", "error"),
)
GRADE_PURPOSE = "grade"  # the purpose of the judge: its cost is the measurement's, not the system's


def load_report(run: LabRun) -> dict[str, Any]:
    """As far as the run has come. Two statements; call inside the tenant's scope.

    Without words and without models: the page of a run that goes on makes it at every look.
    """
    outcomes = list(LabOutcome.objects.filter(run=run).values_list(*_OUTCOME_COLUMNS, named=True))
    derivations = list(LabDerivation.objects.filter(run=run))
    return build_report(run, outcomes, derivations)


def build_report(
    run: LabRun, outcomes: Iterable[Any], derivations: Iterable[LabDerivation]
) -> dict[str, Any]:
    """The document, from rows. `outcomes` have the columns of `LabOutcome` that are measured."""
    by_system = group_by_key(outcomes, lambda outcome: outcome.system)
    written = group_by_key(derivations, lambda derivation: derivation.signature)
    systems = [
        _render_system(described, by_system.get(described["name"], []), written, run.systems)
        for described in run.systems
    ]
    return {
        "format": REPORT_FORMAT,
        "run": {
            "id": str(run.id),
            "state": run.state,
            "started_at": run.created_at.isoformat(),
            "finished_at": run.finished_at.isoformat() if run.finished_at else None,
            "answers_wanted": run.total,
            "answers_given": run.done,
            "error": run.error,
        },
        "settings": run.settings,
        "environment": run.environment,
        "dataset": run.dataset,
        "systems": systems,
        "plots": _render_plots(systems),
    }


def _render_system(
    described: dict[str, Any],
    outcomes: Sequence[Any],
    written: dict[str, list[LabDerivation]],
    all_described: Sequence[dict[str, Any]],
) -> dict[str, Any]:
    calls = sum_calls(outcome.calls for outcome in outcomes)
    asked = {purpose: row for purpose, row in calls.items() if purpose != GRADE_PURPOSE}
    graded = {purpose: row for purpose, row in calls.items() if purpose == GRADE_PURPOSE}
    writing = _render_writing(described, written.get(described["signature"], []), all_described)
    return {
        **described,
        "overall": compute_figures([o for o in outcomes if not o.unanswerable]),
        "unanswerable": compute_figures([o for o in outcomes if o.unanswerable]),
        "by_category": {
            str(number): compute_figures(rows)
            for number, rows in group_by_key(outcomes, lambda o: o.category).items()
        },
        "by_dialogue": {
            name: compute_figures([o for o in rows if not o.unanswerable])
            for name, rows in group_by_key(outcomes, lambda o: o.dialogue).items()
        },
        "curve": compute_recall_curve(outcomes),
        "latency_ms": {
            "recall": compute_latency([o.recall_ms for o in outcomes]),
            "answer": compute_latency([o.answer_ms for o in outcomes]),
        },
        "calls": asked,
        "judge_calls": graded,
        "writing": writing,
        "money": {
            "writing": sum_money(writing["calls"]),
            "asking": sum_money(asked),
            "judging": sum_money(graded),
        },
        # Answers that had to do without a part, by part.
        "degraded": dict(Counter(part for o in outcomes for part in o.degraded)),
        "errors": [o.error for o in outcomes if o.error],
    }


def _render_writing(
    described: dict[str, Any],
    derivations: Sequence[LabDerivation],
    all_described: Sequence[dict[str, Any]],
) -> dict[str, Any]:
    """What it cost to derive the dialogues. Shared by systems whose write side is the same."""
    turns = sum(d.turns for d in derivations)
    seconds = sum(d.seconds for d in derivations)
    counts: Counter[str] = Counter()
    for derivation in derivations:
        counts.update(derivation.counts)
    same = [s["name"] for s in all_described if s["signature"] == described["signature"]]
    return {
        "shared_with": [name for name in same if name != described["name"]],
        "turns": turns,
        "seconds": round(seconds, 1),
        "turns_per_second": round(turns / seconds, 2) if seconds else None,
        "counts": dict(counts),
        "calls": sum_calls(d.calls for d in derivations),
        "errors": [error for d in derivations for error in d.errors],
    }


def _render_plots(systems: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Flat rows, a point each."""
    return {
        "recall_against_tokens": [
            {"system": s["name"], **point} for s in systems for point in s["curve"]
        ],
        "whole_context": [
            {"system": name, "tokens": overall["context_tokens"], "recall": overall["recall"]}
            for name, overall in ((s["name"], s["overall"]) for s in systems)
        ],
        "latency_ms": [
            {"system": s["name"], "stage": stage, **times}
            for s in systems
            for stage, times in s["latency_ms"].items()
        ],
        "by_category": [
            {"system": s["name"], "category": int(number)}
            | {name: row[name] for name in ("recall", "f1", "judge", "refusal")}
            for s in systems
            for number, row in s["by_category"].items()
        ],
    }
