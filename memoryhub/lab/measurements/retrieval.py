"""Evidence recall of the search service that the API serves, on a public dialogue set."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from memoryhub.inference.selection import get_configured_embedder
from memoryhub.lab.datasets.types import DatasetQuestion, Dialogue
from memoryhub.lab.metrics.rankings import (
    RankingOutcome,
    compute_means,
    compute_percentile,
    group_by_key,
)
from memoryhub.lab.throwaway.tenants import (
    open_throwaway_tenant,
    write_derived_dialogue,
    write_dialogue_turns,
)
from memoryhub.policies.schema import Policy, RerankMode
from memoryhub.policies.services import load_effective_policy
from memoryhub.recall.ranking.weights import get_shipped_weights
from memoryhub.recall.render.results import MemoryKind
from memoryhub.recall.services import DEFAULT_KINDS, search_memories
from memoryhub.tenants.models import Space
from memoryhub.tenants.scope import tenant_scope

RESULT_LIMIT = 30
Progress = Callable[[str], None]


@dataclass
class RetrievalRun:
    """One choice of kinds over all dialogues: outcomes by dialogue, milliseconds a search.
    `rerank` None: as the policy has it."""

    name: str
    kinds: Sequence[MemoryKind]
    rerank: RerankMode | None = None
    outcomes: dict[str, list[RankingOutcome]] = field(default_factory=dict)
    took_ms: list[float] = field(default_factory=list)
    empty: int = 0
    degraded: int = 0


@dataclass
class RetrievalReport:
    """What was measured. `unjudged`: questions without evidence, asked for their latency only."""

    runs: list[RetrievalRun]
    turns: int = 0
    unjudged: int = 0
    load_seconds: float = 0.0

    def to_dict(self) -> dict[str, Any]:
        return {
            "turns": self.turns,
            "turns_per_second": round(self.turns / self.load_seconds, 1) if self.turns else 0,
            "questions_without_evidence": self.unjudged,
            "runs": [_render_run(run) for run in self.runs],
        }


def measure_retrieval(
    dialogues: Sequence[Dialogue],
    *,
    derive: bool,
    progress: Progress,
    rerank: RerankMode | None = None,
) -> RetrievalReport:
    """Load each dialogue into a tenant of its own and ask its questions as the policy has it; and a
    second time so that `rerank` reads all that is shown, or nobody does, of the same memories."""
    asked: list[tuple[str, Sequence[MemoryKind]]] = [("turns", ("turn",))]
    asked += [("all kinds", DEFAULT_KINDS)] if derive else []
    runs = [RetrievalRun(name, kinds) for name, kinds in asked]
    if rerank is not None:
        runs += [RetrievalRun(f"{name}, {rerank}", kinds, rerank) for name, kinds in asked]
    report = RetrievalReport(runs)
    for dialogue in dialogues:
        with open_throwaway_tenant() as tenant:
            start = time.perf_counter()
            space = (write_derived_dialogue if derive else write_dialogue_turns)(tenant, dialogue)
            report.load_seconds += time.perf_counter() - start
            report.turns += dialogue.turn_count
            progress(
                f"{dialogue.name}: {dialogue.turn_count} turns, {len(dialogue.questions)} questions"
            )
            report.unjudged += sum(not question.evidence for question in dialogue.questions)
            for run in runs:
                run.outcomes[dialogue.name] = _ask_questions(run, space, dialogue.questions)
    return report


def _ask_questions(
    run: RetrievalRun, space: Space, questions: Sequence[DatasetQuestion]
) -> list[RankingOutcome]:
    outcomes = []
    policy = _load_policy(space, run.rerank) if run.rerank else None
    for question in questions:
        start = time.perf_counter()
        result = search_memories(
            space,
            question.text,
            limit=RESULT_LIMIT,
            kinds=run.kinds,
            policy=policy,
            reinforce=False,
        )
        run.took_ms.append((time.perf_counter() - start) * 1000)
        run.empty += result.insufficient
        run.degraded += bool(result.degraded)
        if question.evidence:
            ranked = [frozenset(s.external_id for s in item.sources) for item in result.items]
            tokens = get_configured_embedder().count_tokens([item.text for item in result.items])
            about = (question.category, question.evidence)
            outcomes.append(RankingOutcome(*about, ranked, tokens, trap=question.unanswerable))
    return outcomes


def _load_policy(space: Space, rerank: RerankMode) -> Policy:
    """The space's own, with this reranker for all that is shown."""
    with tenant_scope(space.tenant_id):
        own = load_effective_policy(space).policy
    read = {"rerank": rerank, "rerank_most": RESULT_LIMIT}
    return own.model_copy(update={"recall": own.recall.model_copy(update=read)})


def _render_run(run: RetrievalRun) -> dict[str, Any]:
    outcomes = [outcome for rows in run.outcomes.values() for outcome in rows]
    judged = _select_judged(outcomes)
    learned_from = set(get_shipped_weights().trained.conversations)
    return {
        "name": run.name,
        "questions": len(judged),
        "overall": compute_means(judged),
        "tuned": _render_part({n: o for n, o in run.outcomes.items() if n in learned_from}),
        "untuned": _render_part({n: o for n, o in run.outcomes.items() if n not in learned_from}),
        "by_category": _compute_means_by_category(outcomes),
        "by_dialogue": {
            name: compute_means(_select_judged(rows)) for name, rows in run.outcomes.items()
        },
        "search_ms": {f"p{p}": round(compute_percentile(run.took_ms, p), 1) for p in (50, 95)},
        "empty_answers": run.empty,
        "degraded_answers": run.degraded,
    }


def _render_part(outcomes: Mapping[str, Sequence[RankingOutcome]]) -> dict[str, Any]:
    """Of some dialogues: those the weights were learned from, or the others."""
    judged = _select_judged([outcome for rows in outcomes.values() for outcome in rows])
    return {
        "dialogues": list(outcomes),
        "questions": len(judged),
        "overall": compute_means(judged),
        "by_category": _compute_means_by_category(judged),
    }


def _compute_means_by_category(outcomes: Sequence[RankingOutcome]) -> dict[int, dict[str, float]]:
    groups = group_by_key(outcomes, lambda outcome: outcome.category)
    return {category: compute_means(rows) for category, rows in groups.items()}


def _select_judged(outcomes: Sequence[RankingOutcome]) -> list[RankingOutcome]:
    return [outcome for outcome in outcomes if not outcome.trap]
