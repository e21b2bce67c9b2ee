"""Evidence recall of the search service that the API serves, on a public dialogue set."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from memoryhub.lab.datasets import Dialogue, Question
from memoryhub.lab.metrics import Outcome, by_category, percentile, summary
from memoryhub.lab.throwaway import load_derived, load_turns, throwaway_tenant
from memoryhub.models_in_use import embedder
from memoryhub.recall.results import Kind, SearchResult
from memoryhub.recall.services import KINDS, search
from memoryhub.recall.weights import shipped
from memoryhub.tenants.models import Space

LIMIT = 30
Progress = Callable[[str], None]


@dataclass
class Run:
    """One choice of kinds over all dialogues: outcomes by dialogue, milliseconds a search."""

    name: str
    kinds: Sequence[Kind]
    outcomes: dict[str, list[Outcome]] = field(default_factory=dict)
    took_ms: list[float] = field(default_factory=list)
    empty: int = 0


@dataclass
class Report:
    """What was measured. `unjudged`: questions without evidence, asked for their latency only."""

    runs: list[Run]
    turns: int = 0
    unjudged: int = 0
    load_seconds: float = 0.0

    def as_dict(self) -> dict[str, Any]:
        return {
            "turns": self.turns,
            "turns_per_second": round(self.turns / self.load_seconds, 1) if self.turns else 0,
            "questions_without_evidence": self.unjudged,
            "runs": [_run_dict(run) for run in self.runs],
        }


def measure(dialogues: Sequence[Dialogue], *, derive: bool, progress: Progress) -> Report:
    """Load each dialogue into a tenant of its own and ask its questions."""
    runs = [Run("turns", ("turn",))] + ([Run("all kinds", KINDS)] if derive else [])
    report = Report(runs)
    for dialogue in dialogues:
        with throwaway_tenant() as tenant:
            start = time.perf_counter()
            space = (load_derived if derive else load_turns)(tenant, dialogue)
            report.load_seconds += time.perf_counter() - start
            report.turns += dialogue.turn_count
            progress(
                f"{dialogue.name}: {dialogue.turn_count} turns, {len(dialogue.questions)} questions"
            )
            report.unjudged += sum(not question.evidence for question in dialogue.questions)
            for run in runs:
                run.outcomes[dialogue.name] = _ask(run, space, dialogue.questions)
    return report


def _ask(run: Run, space: Space, questions: Sequence[Question]) -> list[Outcome]:
    outcomes = []
    for question in questions:
        start = time.perf_counter()
        result = search(space, question.text, limit=LIMIT, kinds=run.kinds, reinforce=False)
        run.took_ms.append((time.perf_counter() - start) * 1000)
        run.empty += result.insufficient
        if question.evidence:
            outcomes.append(_outcome(question, result))
    return outcomes


def _outcome(question: Question, result: SearchResult) -> Outcome:
    return Outcome(
        category=question.category,
        evidence=question.evidence,
        ranked=[frozenset(s.external_id for s in item.sources) for item in result.items],
        tokens=embedder().count_tokens([item.text for item in result.items]),
        trap=question.unanswerable,
    )


def _run_dict(run: Run) -> dict[str, Any]:
    outcomes = [outcome for rows in run.outcomes.values() for outcome in rows]
    judged = _judged(outcomes)
    learned_from = set(shipped().trained.conversations)
    tuned = {name: rows for name, rows in run.outcomes.items() if name in learned_from}
    untuned = {name: rows for name, rows in run.outcomes.items() if name not in learned_from}
    return {
        "name": run.name,
        "questions": len(judged),
        "overall": summary(judged),
        "tuned": _part(tuned),
        "untuned": _part(untuned),
        "by_category": {c: summary(rows) for c, rows in by_category(outcomes).items()},
        "by_dialogue": {name: summary(_judged(rows)) for name, rows in run.outcomes.items()},
        "search_ms": {f"p{p}": round(percentile(run.took_ms, p), 1) for p in (50, 95)},
        "empty_answers": run.empty,
    }


def _part(outcomes: Mapping[str, Sequence[Outcome]]) -> dict[str, Any]:
    """Of some dialogues: those the weights were learned from, or the others."""
    judged = _judged([outcome for rows in outcomes.values() for outcome in rows])
    return {
        "dialogues": list(outcomes),
        "questions": len(judged),
        "overall": summary(judged),
        "by_category": {c: summary(rows) for c, rows in by_category(judged).items()},
    }


def _judged(outcomes: Sequence[Outcome]) -> list[Outcome]:
    return [outcome for outcome in outcomes if not outcome.trap]
