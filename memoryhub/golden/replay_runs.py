"""Replaying a changed setting on golden questions before it goes live, or is dropped.

A run is work in the space's own queue, a few seconds at a time, so that dialogue that comes in is
read in between, and a worker that dies loses no more than those seconds. Each question is asked
under the setting in force and under the candidate, with nothing open and no trace left: nothing
is strengthened, logged or written but the run's own answers, and the calls that models answered.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.utils.translation import gettext

from memoryhub.engines.embedding.model_files import count_tokens
from memoryhub.engines.ledger import get_current_ledger
from memoryhub.errors import Conflict, InvalidInput
from memoryhub.golden.candidates import CandidateSetting, load_policies
from memoryhub.golden.expectations import Expectation, QuestionOutcome, find_rank
from memoryhub.golden.models import GoldenQuestion, ReplayAnswer, ReplayRun
from memoryhub.inference.ledger import TenantLedger
from memoryhub.pipeline.ingest.services import ring_on_commit
from memoryhub.pipeline.jobs import queue
from memoryhub.pipeline.jobs.step import JobResult, NothingToDo, Step
from memoryhub.pipeline.models import Job, Lane
from memoryhub.policies.schema import Policy
from memoryhub.policies.services import set_policy
from memoryhub.recall.render.results import SearchResult
from memoryhub.recall.services import search_memories
from memoryhub.tenants.models import Space, Tenant
from memoryhub.tenants.scope import tenant_scope
from memoryhub.tenants.services import set_tenant_engine
from notes.models import Fact

RESULT_LIMIT = 10
SECONDS_PER_JOB = 3.0  # of one job
SIDES = (ReplayAnswer.Side.CURRENT, ReplayAnswer.Side.CANDIDATE)
AnswerKey = tuple[UUID, str]
# A job that was given up can be tried again: until then the run is not done.
_UNFINISHED_STATES = (*Job.UNFINISHED_STATES, Job.State.DEAD)


def start_replay(
    tenant: Tenant,
    candidate: CandidateSetting,
    actor: str,
    now: datetime,
    *,
    space: Space | None = None,
    tag: str = "",
) -> ReplayRun:
    """Plan a replay of the candidate on the space's questions, or on those of the whole tenant.

    Raises InvalidInput where a switch is out of bounds or there is no question, Conflict where
    the candidate changes nothing. Opens its own scope; the jobs are rung for on commit.
    """
    with tenant_scope(tenant.id):
        questions = list_questions(space, tag)
        if not questions:
            raise InvalidInput(gettext("there are no test questions to try it on"), field="tag")
        run = ReplayRun(
            tenant=tenant,
            space=space,
            tag=tag,
            questions=[q.id for q in questions],
            actor=actor[:120],
            created_at=now,
            **asdict(candidate),
        )
        run.current, run.candidate = candidate.describe_sides(tenant, space)
        if run.current == run.candidate:
            raise Conflict(gettext("the candidate is what is in force already"), code="no_change")
        run.save(force_insert=True)
        for space_id in dict.fromkeys(q.space_id for q in questions):
            _plan_job(run, Space(id=space_id, tenant_id=tenant.id), 0, now)
    return run


def list_questions(space: Space | None, tag: str = "") -> list[GoldenQuestion]:
    """The questions asked now, oldest first. Call inside the tenant's scope."""
    rows = GoldenQuestion.objects.filter(retired_at=None)
    rows = rows.filter(space=space) if space else rows
    rows = rows.filter(tags__contains=[tag]) if tag else rows
    return list(rows.order_by("space_id", "created_at", "id"))


def _plan_job(run: ReplayRun, space: Space, done: int, now: datetime) -> None:
    key = f"{run.id}:{done}"
    queue.plan_step(space, Job.Step.REPLAY, key, now, payload={"run": str(run.id)})
    ring_on_commit(run.tenant_id, space.id)


@dataclass(frozen=True, slots=True)
class _SpaceReplay:
    """One run in one space, with both settings at hand, and the questions still to be asked."""

    run: ReplayRun
    space: Space
    policies: Mapping[str, Policy]
    done: frozenset[AnswerKey]
    todo: list[GoldenQuestion]

    def answer_both_sides(self, question: GoldenQuestion, now: datetime) -> list[ReplayAnswer]:
        """Both sides in turn: whoever is asked second finds warm caches, so they take turns."""
        sides = SIDES if question.id.int % 2 else SIDES[::-1]
        left = [side for side in sides if (question.id, side) not in self.done]
        return [self._answer_question(question, side, now) for side in left]

    def _answer_question(self, question: GoldenQuestion, side: str, now: datetime) -> ReplayAnswer:
        before, began = _read_model_usage(), time.perf_counter()
        result = self._search_side(question.text, side, now)
        took = (time.perf_counter() - began) * 1000
        tokens, calls = (b - a for a, b in zip(before, _read_model_usage(), strict=True))
        lineages = load_lineages(self.space, result)
        expected = map(Expectation.from_stored, question.expected)
        return ReplayAnswer(
            tenant_id=self.space.tenant_id,
            space=self.space,
            run=self.run,
            question=question,
            side=side,
            ranks=[find_rank(each, result.items, lineages) for each in expected],
            shown=[[item.kind, str(item.id)] for item in result.items],
            insufficient=result.insufficient,
            degraded=list(result.degraded),
            milliseconds=round(took, 2),
            tokens=tokens,
            calls=calls,
            handed=sum(count_tokens([item.text for item in result.items])),
        )

    def _search_side(self, text: str, side: str, now: datetime) -> SearchResult:
        candidate = side == ReplayAnswer.Side.CANDIDATE
        return search_memories(
            self.space,
            text,
            limit=RESULT_LIMIT,
            policy=self.policies[side],
            engine=(self.run.engine or None) if candidate else None,
            vectors=(self.run.embedder or None) if candidate else None,
            now=now,
            reinforce=False,
        )


class ReplayStep(Step[_SpaceReplay, list[ReplayAnswer]]):
    """Ask the next questions of the job's space."""

    name = Job.Step.REPLAY
    lane = Lane.TIDYING

    def read(self) -> _SpaceReplay | NothingToDo:
        return _open_run(self.job) or NothingToDo({"answered": 0})

    def ask(self, replay: _SpaceReplay) -> list[ReplayAnswer]:
        until, answers = time.monotonic() + SECONDS_PER_JOB, list[ReplayAnswer]()
        while replay.todo and (not answers or time.monotonic() < until):
            answers += replay.answer_both_sides(replay.todo.pop(0), self.now)
        return answers

    def write(self, replay: _SpaceReplay, answers: list[ReplayAnswer]) -> JobResult:
        # One space after the other comes to its end: the last one sees that it is.
        ReplayRun.objects.select_for_update(of=("self",)).get(id=replay.run.id)
        # Without those whose question was erased meanwhile.
        there = GoldenQuestion.objects.filter(id__in={a.question_id for a in answers})
        ids = set(there.select_for_update().values_list("id", flat=True))
        kept = [answer for answer in answers if answer.question_id in ids]
        ReplayAnswer.objects.bulk_create(kept, ignore_conflicts=True)
        return {"answered": len(kept)}

    def plan(self, replay: _SpaceReplay, answers: list[ReplayAnswer]) -> None:
        """The next questions of the space; with the last of all, the run is done."""
        run, space = replay.run, replay.space
        if replay.todo:
            done = ReplayAnswer.objects.filter(run=run, space=space).count()
            _plan_job(run, space, done, self.now)
        elif not find_jobs_of_run(run).filter(state__in=_UNFINISHED_STATES).exists():
            open_runs = ReplayRun.objects.filter(id=run.id, state=ReplayRun.State.RUNNING)
            open_runs.update(state=ReplayRun.State.DONE, finished_at=self.now)


def load_lineages(space: Space, result: SearchResult) -> dict[str, str]:
    """Of the facts among the results. Opens its own scope."""
    facts = [item.id for item in result.items if item.kind == "fact"]
    with tenant_scope(space.tenant_id):
        known = Fact.objects.filter(id__in=facts).values_list("id", "lineage")
        return {str(fact): str(lineage) for fact, lineage in known}


def _read_model_usage() -> tuple[int, int]:
    """(tokens, calls) of the account that the job runs in, so far."""
    ledger = get_current_ledger()
    if not isinstance(ledger, TenantLedger):
        return 0, 0
    made = [call for call, _ in ledger.calls]
    return sum(c.prompt_tokens + c.completion_tokens for c in made), len(made)


def _open_run(job: Job) -> _SpaceReplay | None:
    """None when it was called off. Call inside the tenant's scope."""
    run = ReplayRun.objects.filter(id=job.payload["run"]).first()
    if run is None or run.state != ReplayRun.State.RUNNING:
        return None
    space = Space.objects.get(id=job.space_id)
    answered = ReplayAnswer.objects.filter(run=run, space=space)
    done = frozenset(answered.values_list("question_id", "side"))
    rows = GoldenQuestion.objects.filter(space=space, id__in=run.questions, retired_at=None)
    todo = [
        q for q in rows.order_by("created_at", "id") if any((q.id, s) not in done for s in SIDES)
    ]
    current, candidate = load_policies(run, space)
    policies = {SIDES[0].value: current, SIDES[1].value: candidate}
    return _SpaceReplay(run, space, policies, done, todo)


def find_jobs_of_run(run: ReplayRun) -> Any:
    return Job.objects.filter(step=Job.Step.REPLAY, payload__run=str(run.id))


def count_answers(run: ReplayRun) -> tuple[int, int]:
    """(answers there are, answers there will be)."""
    answered: int = ReplayAnswer.objects.filter(run=run).count()
    return answered, len(SIDES) * len(run.questions)


def cancel_replay(run: ReplayRun, now: datetime) -> None:
    """No further question is asked. Call inside the scope. Raises Conflict when it is over."""
    open_runs = ReplayRun.objects.filter(id=run.id, state=ReplayRun.State.RUNNING)
    if open_runs.update(state=ReplayRun.State.CANCELLED, finished_at=now) != 1:
        raise Conflict(gettext("this replay is over"), code="replay_state")


def load_outcomes(run: ReplayRun) -> dict[UUID, dict[str, QuestionOutcome]]:
    """What both sides made of each question that both have answered. Inside the scope."""
    found: dict[UUID, dict[str, QuestionOutcome]] = {}
    for row in ReplayAnswer.objects.filter(run=run):
        found.setdefault(row.question_id, {})[row.side] = build_outcome(row)
    return {question: sides for question, sides in found.items() if len(sides) == len(SIDES)}


def build_outcome(row: ReplayAnswer) -> QuestionOutcome:
    figures = {name: getattr(row, name) for name in ("milliseconds", "tokens", "calls", "handed")}
    return QuestionOutcome(tuple(row.ranks), row.insufficient, tuple(row.degraded), **figures)


def put_candidate_live(run: ReplayRun, actor: str, now: datetime) -> None:
    """Put the candidate in force, all of it or nothing. Opens its own scope.

    Raises Conflict when the replay is not done, was decided, or the policy has changed since it
    began: then the comparison is no longer about what is in force.
    """
    with tenant_scope(run.tenant_id):
        row = _lock_undecided_run(run)
        if row.state != ReplayRun.State.DONE:
            raise Conflict(gettext("the replay is not done yet"), code="replay_state")
        if row.embedder:
            raise Conflict(
                gettext("vectors go live on the page of the embedding migration"),
                code="replay_state",
            )
        if row.overrides is not None:
            set_policy(
                row.tenant_id,
                actor=actor,
                preset=row.preset,
                overrides=row.overrides,
                space=row.space,
                reason=f"tried on {len(row.questions)} test questions",
                now=now,
                expected=row.base,
            )
        if row.engine:
            set_tenant_engine(row.tenant_id, row.engine, actor=actor)
        _save_decision(row, ReplayRun.Decision.LIVE, actor, now)


def drop_candidate(run: ReplayRun, actor: str, now: datetime) -> None:
    """The candidate is not wanted; the comparison stays. Opens its own scope. Raises Conflict."""
    with tenant_scope(run.tenant_id):
        row = _lock_undecided_run(run)
        if row.state == ReplayRun.State.RUNNING:
            raise Conflict(gettext("the replay is not done yet"), code="replay_state")
        _save_decision(row, ReplayRun.Decision.DROPPED, actor, now)


def _lock_undecided_run(run: ReplayRun) -> ReplayRun:
    row: ReplayRun = ReplayRun.objects.select_for_update(of=("self",)).get(id=run.id)
    if row.decision:
        raise Conflict(
            gettext("this was decided by %(name)s") % {"name": row.decided_by}, code="replay_state"
        )
    return row


def _save_decision(row: ReplayRun, decision: str, actor: str, now: datetime) -> None:
    row.decision, row.decided_by, row.decided_at = decision, actor[:120], now
    row.save(update_fields=["decision", "decided_by", "decided_at"])
