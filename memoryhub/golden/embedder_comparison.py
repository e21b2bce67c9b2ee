"""Comparing two embedders in one space before it changes over: what both find, how well, how fast.

Asked are the space's golden questions, and questions that were asked there lately. Rules route and
judge, whatever the policy says, since it is vectors that are compared. Figures are kept, never
words.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from time import perf_counter
from types import MappingProxyType
from typing import Any

from django.utils.translation import gettext as _

from memoryhub.dialogues.models import Turn
from memoryhub.errors import Conflict
from memoryhub.golden.expectations import (
    RECALL_CUTOFFS,
    Expectation,
    QuestionOutcome,
    compare_outcomes,
    compute_overlap,
    compute_percentile,
    find_rank,
)
from memoryhub.golden.models import GoldenQuestion
from memoryhub.golden.replay_runs import ReplayStep, load_lineages
from memoryhub.pipeline.embeddings import cutover
from memoryhub.pipeline.ingest.services import ring_on_commit
from memoryhub.pipeline.jobs import queue
from memoryhub.pipeline.jobs.step import JobResult, NothingToDo, Step
from memoryhub.pipeline.models import EmbeddingMigration, Job, Lane
from memoryhub.policies.schema import Policy
from memoryhub.policies.services import load_effective_policy
from memoryhub.recall.models import RecallLog
from memoryhub.recall.services import search_memories
from memoryhub.tenants.models import Space
from memoryhub.tenants.scope import tenant_scope

RESULT_LIMIT = 10
MOST_GOLDEN, MOST_ASKED = 20, 20
State = EmbeddingMigration.State
COMPARABLE_STATES = (State.FILLED, State.LIVE, State.BACK)


def plan_comparison(migration: EmbeddingMigration, now: datetime) -> None:
    """Have the two compared by a worker. Opens its own scope. Raises Conflict until both are."""
    with tenant_scope(migration.tenant_id):
        row: EmbeddingMigration = EmbeddingMigration.objects.get(id=migration.id)
        if row.state not in COMPARABLE_STATES:
            raise Conflict(_("both embedders' vectors must be there first"), code="migration_state")
        space = Space.objects.get(id=row.space_id)
        payload: dict[str, object] = {"compare": str(row.id)}
        key = f"compare:{row.id}:{now.isoformat()}"
        queue.plan_step(space, Job.Step.REPLAY, key, now, payload=payload)
        ring_on_commit(row.tenant_id, row.space_id)


# What is asked, and what it should find.
ComparisonQuestion = tuple[str, tuple[Expectation, ...]]


@dataclass(frozen=True, slots=True)
class ComparisonWork:
    migration: EmbeddingMigration
    space: Space
    questions: list[ComparisonQuestion]
    policy: Policy
    sizes: list[dict[str, Any]]


class CompareStep(Step[ComparisonWork, dict[str, Any]]):
    """Ask both embedders the same, and keep how alike they answer."""

    name = Job.Step.REPLAY
    lane = Lane.TIDYING

    def read(self) -> ComparisonWork | NothingToDo:
        row = EmbeddingMigration.objects.filter(id=self.job.payload["compare"]).first()
        if row is None or row.state not in COMPARABLE_STATES:
            return NothingToDo({"compared": 0})
        space = Space.objects.get(id=self.job.space_id)
        policy = _replace_models_by_rules(load_effective_policy(space).policy)
        sizes = [asdict(each) for each in cutover.list_vector_storage(space)]
        return ComparisonWork(row, space, _sample_questions(space), policy, sizes)

    def ask(self, work: ComparisonWork) -> dict[str, Any]:
        pairs = [
            _search_with_both(work.space, work.migration, asked, work.policy, self.now, at)
            for at, asked in enumerate(work.questions)
        ]
        return compute_figures(pairs) | {"stored": work.sizes, "at": self.now.isoformat()}

    def write(self, work: ComparisonWork, figures: dict[str, Any]) -> JobResult:
        EmbeddingMigration.objects.filter(id=work.migration.id).update(comparison=figures)
        return {"compared": len(work.questions)}


@dataclass(frozen=True, slots=True)
class EmbedderResult:
    """What one embedder found: ids in order, and what that is of what was expected."""

    ids: tuple[str, ...]
    outcome: QuestionOutcome


# Of one question, what the old one found and what the new one.
ResultPair = tuple[EmbedderResult, EmbedderResult]


def compute_figures(pairs: Sequence[ResultPair]) -> dict[str, Any]:
    """Means over the questions; recall over those that expect something. Pure."""
    expecting = [(a.outcome, b.outcome) for a, b in pairs if a.outcome.ranks]
    verdicts = [compare_outcomes(old, new) for old, new in expecting]
    return {
        "questions": len(pairs),
        "golden": len(expecting),
        **{said: verdicts.count(said) for said in ("better", "worse", "same")},
        "overlap": _compute_mean(compute_overlap(a.ids, b.ids) for a, b in pairs),
        "first_same": _compute_mean(float(a.ids[:1] == b.ids[:1]) for a, b in pairs),
        "old": _summarise_side([old for old, _ in pairs]),
        "new": _summarise_side([new for _, new in pairs]),
    }


def _summarise_side(found: Sequence[EmbedderResult]) -> dict[str, Any]:
    took = sorted(each.outcome.milliseconds for each in found)
    expecting = [each.outcome for each in found if each.outcome.ranks]
    return {
        "recall": {
            str(k): _compute_mean(each.compute_recall(k) for each in expecting)
            for k in RECALL_CUTOFFS
        },
        "p50": compute_percentile(took, 0.5),
        "p95": compute_percentile(took, 0.95),
    }


def _compute_mean(values: Iterable[float]) -> float | None:
    numbers = list(values)
    return round(sum(numbers) / len(numbers), 4) if numbers else None


def _sample_questions(space: Space) -> list[ComparisonQuestion]:
    """Golden questions, the newest first, and what was last asked here.

    Where the recall log is off or empty: the last questions in what people said.
    """
    rows = GoldenQuestion.objects.filter(space=space, retired_at=None)
    newest = rows.order_by("-changed_at")[:MOST_GOLDEN]
    golden = [(row.text, tuple(map(Expectation.from_stored, row.expected))) for row in newest]
    known = {text for text, _ in golden}
    recent = [text for text in _list_recent_queries(space) if text not in known]
    return golden + [(text, ()) for text in recent[:MOST_ASKED]]


def _list_recent_queries(space: Space) -> list[str]:
    logged = RecallLog.objects.filter(space=space).order_by("-asked_at")
    asked = list(dict.fromkeys(logged.values_list("query", flat=True)[: 10 * MOST_ASKED]))
    if asked:
        return asked
    said = Turn.objects.filter(space=space, role="user", text__regex=r"[?？]\s*$")
    recent = said.exclude(state=Turn.State.REDACTED).order_by("-seq")[: 2 * MOST_ASKED]
    return list(dict.fromkeys(recent.values_list("text", flat=True)))


def _replace_models_by_rules(policy: Policy) -> Policy:
    changed: dict[str, Any] = {}
    for name in ("route", "judge"):
        group = getattr(policy, name)
        if group.mode == "llm":
            changed[name] = group.model_copy(update={"mode": "rules"})
    if policy.recall.rerank == "llm":
        changed["recall"] = policy.recall.model_copy(update={"rerank": "off"})
    return policy.model_copy(update=changed)


def _search_with_both(
    space: Space,
    row: EmbeddingMigration,
    asked: ComparisonQuestion,
    policy: Policy,
    now: datetime,
    place: int,
) -> ResultPair:
    """They take turns in being first: whoever is second finds warm caches."""
    (text, expected), found = asked, dict[str, EmbedderResult]()
    for model in (row.old, row.new) if place % 2 else (row.new, row.old):
        began = perf_counter()
        result = search_memories(
            space, text, limit=RESULT_LIMIT, policy=policy, vectors=model, now=now, reinforce=False
        )
        took = round((perf_counter() - began) * 1000, 2)
        lineages = load_lineages(space, result) if expected else {}
        ranks = tuple(find_rank(each, result.items, lineages) for each in expected)
        outcome = QuestionOutcome(ranks, milliseconds=took)
        found[model] = EmbedderResult(tuple(str(item.id) for item in result.items), outcome)
    return found[row.old], found[row.new]


class GoldenStep(ReplayStep):
    """The step of the pipeline that asks golden questions: of a replay, unless the job is to
    compare embedders."""

    variants = MappingProxyType({"compare": CompareStep})
