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
from typing import Any

from django.utils.translation import gettext as _

from memoryhub.dialogues.models import Turn
from memoryhub.errors import Conflict
from memoryhub.golden.expecting import (
    KS,
    Expectation,
    Outcome,
    Rank,
    overlap,
    rank_of,
    share_below,
    verdict,
)
from memoryhub.golden.models import GoldenQuestion
from memoryhub.golden.replaying import lineages_of
from memoryhub.pipeline import migrating, queue
from memoryhub.pipeline.models import EmbeddingMigration, Job
from memoryhub.pipeline.services import ring_on_commit
from memoryhub.policies.schema import Policy
from memoryhub.policies.services import policy_of
from memoryhub.recall.models import RecallLog
from memoryhub.recall.results import SearchResult
from memoryhub.recall.services import search
from memoryhub.tenants.models import Space
from memoryhub.tenants.scope import tenant_scope

LIMIT = 10
MOST_GOLDEN, MOST_ASKED = 20, 20
State = EmbeddingMigration.State
BOTH_THERE = (State.FILLED, State.LIVE, State.BACK)


def plan(migration: EmbeddingMigration, now: datetime) -> None:
    """Have the two compared by a worker. Opens its own scope. Raises Conflict until both are."""
    with tenant_scope(migration.tenant_id):
        row: EmbeddingMigration = EmbeddingMigration.objects.get(id=migration.id)
        if row.state not in BOTH_THERE:
            raise Conflict(_("both embedders' vectors must be there first"), code="migration_state")
        space = Space.objects.get(id=row.space_id)
        payload: dict[str, object] = {"compare": str(row.id)}
        key = f"compare:{row.id}:{now.isoformat()}"
        queue.plan_step(space, Job.Step.REPLAY, "D", key, now, payload=payload)
        ring_on_commit(row.tenant_id, row.space_id)


def run(job: Job, now: datetime) -> None:
    """Raises LeaseLost."""
    with tenant_scope(job.tenant_id):
        row = EmbeddingMigration.objects.filter(id=job.payload["compare"]).first()
        if row is None or row.state not in BOTH_THERE:
            queue.hold(job)
            queue.finish(job, {"compared": 0}, now)
            return
        space = Space.objects.get(id=job.space_id)
        questions, policy = _sample(space), _by_rules(policy_of(space).policy)
        sizes = [asdict(each) for each in migrating.stored(space)]
    pairs = [_ask(space, row, asked, policy, now, at) for at, asked in enumerate(questions)]
    told = figures(pairs) | {"stored": sizes, "at": now.isoformat()}
    with tenant_scope(job.tenant_id):
        queue.hold(job)
        EmbeddingMigration.objects.filter(id=row.id).update(comparison=told)
        queue.finish(job, {"compared": len(pairs)}, now)


@dataclass(frozen=True, slots=True)
class Question:
    text: str
    expected: tuple[Expectation, ...] = ()


@dataclass(frozen=True, slots=True)
class Found:
    """What one embedder found: ids in order, the ranks of what was expected, milliseconds."""

    ids: tuple[str, ...]
    ranks: tuple[Rank, ...]
    milliseconds: float


@dataclass(frozen=True, slots=True)
class Pair:
    old: Found
    new: Found


def figures(pairs: Sequence[Pair]) -> dict[str, Any]:
    """Means over the questions; recall over those that expect something. Pure."""
    expecting = [pair for pair in pairs if pair.old.ranks]
    verdicts = [verdict(Outcome(pair.old.ranks), Outcome(pair.new.ranks)) for pair in expecting]
    return {
        "questions": len(pairs),
        "golden": len(expecting),
        **{said: verdicts.count(said) for said in ("better", "worse", "same")},
        "overlap": _mean(overlap(pair.old.ids, pair.new.ids) for pair in pairs),
        "first_same": _mean(float(pair.old.ids[:1] == pair.new.ids[:1]) for pair in pairs),
        "old": _side([pair.old for pair in pairs], [pair.old for pair in expecting]),
        "new": _side([pair.new for pair in pairs], [pair.new for pair in expecting]),
    }


def _side(found: Sequence[Found], expecting: Sequence[Found]) -> dict[str, Any]:
    took = sorted(each.milliseconds for each in found)
    recall = {
        str(k): _mean(
            sum(rank is not None and rank <= k for rank in each.ranks) / len(each.ranks)
            for each in expecting
        )
        for k in KS
    }
    return {"recall": recall, "p50": share_below(took, 0.5), "p95": share_below(took, 0.95)}


def _mean(values: Iterable[float]) -> float | None:
    numbers = list(values)
    return round(sum(numbers) / len(numbers), 4) if numbers else None


def _sample(space: Space) -> list[Question]:
    """Golden questions, the newest first, and what was last asked here.

    Where the recall log is off or empty: the last questions in what people said.
    """
    rows = GoldenQuestion.objects.filter(space=space, retired_at=None)
    golden = [
        Question(row.text, tuple(map(Expectation.of, row.expected)))
        for row in rows.order_by("-changed_at")[:MOST_GOLDEN]
    ]
    known = {each.text for each in golden}
    recent = [text for text in _asked_lately(space) if text not in known]
    return golden + [Question(text) for text in recent[:MOST_ASKED]]


def _asked_lately(space: Space) -> list[str]:
    logged = RecallLog.objects.filter(space=space).order_by("-asked_at")
    asked = list(dict.fromkeys(logged.values_list("query", flat=True)[: 10 * MOST_ASKED]))
    if asked:
        return asked
    said = Turn.objects.filter(space=space, role="user", text__regex=r"[?？]\s*$")
    recent = said.exclude(state=Turn.State.REDACTED).order_by("-seq")[: 2 * MOST_ASKED]
    return list(dict.fromkeys(recent.values_list("text", flat=True)))


def _by_rules(policy: Policy) -> Policy:
    changed: dict[str, Any] = {}
    for name in ("route", "judge"):
        group = getattr(policy, name)
        if group.mode == "llm":
            changed[name] = group.model_copy(update={"mode": "rules"})
    return policy.model_copy(update=changed)


def _ask(
    space: Space,
    row: EmbeddingMigration,
    asked: Question,
    policy: Policy,
    now: datetime,
    place: int,
) -> Pair:
    """They take turns in being first: whoever is second finds warm caches."""
    found: dict[str, Found] = {}
    for model in (row.old, row.new) if place % 2 else (row.new, row.old):
        began = perf_counter()
        result = search(
            space, asked.text, limit=LIMIT, policy=policy, vectors=model, now=now, reinforce=False
        )
        took = round((perf_counter() - began) * 1000, 2)
        found[model] = _found(space, asked, result, took)
    return Pair(found[row.old], found[row.new])


def _found(space: Space, asked: Question, result: SearchResult, took: float) -> Found:
    lineages = lineages_of(space, result) if asked.expected else {}
    ranks = tuple(rank_of(each, result.items, lineages) for each in asked.expected)
    return Found(tuple(str(item.id) for item in result.items), ranks, took)
