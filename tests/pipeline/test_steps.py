"""What the runner does around the phases of a step, whatever the step is."""

from __future__ import annotations

from datetime import datetime
from types import MappingProxyType
from typing import Any

import pytest

from memoryhub.errors import EngineError
from memoryhub.pipeline.jobs import queue, runner
from memoryhub.pipeline.jobs.step import (
    MAX_READS,
    JobResult,
    NothingToDo,
    StaleRead,
    Step,
    load_steps,
)
from memoryhub.pipeline.models import Job, Lane
from memoryhub.pipeline.steps.derive import derive, extract, resolve
from memoryhub.tenants.models import Space
from memoryhub.tenants.scope import get_current_tenant, tenant_scope
from notes.history.unit_of_work import RowsChanged
from tests.support.claims import list_facts, make_fact_reply, make_facts_reply
from tests.support.factories import make_job, make_space, make_tenant
from tests.support.hub import ScriptedHub

pytestmark = pytest.mark.django_db


class NotedStep(Step[int, str]):
    """Notes its phases, each with whether a tenant's scope is open; `fails` by phase, in turn."""

    name = Job.Step.MAP
    lane = Lane.TIDYING
    noted: list[tuple[str, bool]]
    fails: dict[str, list[Exception | None]]

    def read(self) -> int | NothingToDo:
        self.note("read")
        return sum(phase == "read" for phase, _ in self.noted)

    def ask(self, work: int) -> str:
        self.note("ask")
        return f"answer {work}"

    def write(self, work: int, answer: str) -> JobResult:
        self.note("write")
        Space.objects.filter(id=self.job.space_id).update(name=answer)
        return {"said": answer}

    def plan(self, work: int, answer: str) -> None:
        self.note("plan")
        assert Job.objects.get(id=self.job.id).state == Job.State.DONE

    def follow_up(self, work: int) -> None:
        self.note("follow_up")

    def note(self, phase: str) -> None:
        self.noted.append((phase, get_current_tenant() is not None))
        waiting = self.fails.get(phase, [])
        error = waiting.pop(0) if waiting else None
        if error is not None:
            raise error


@pytest.fixture
def space() -> Space:
    tenant = make_tenant()
    with tenant_scope(tenant.id):
        return make_space(tenant)


@pytest.fixture
def step(monkeypatch: pytest.MonkeyPatch) -> type[NotedStep]:
    """The step that does the jobs called MAP; its notes and failures begin empty."""
    monkeypatch.setattr(NotedStep, "noted", [], raising=False)
    monkeypatch.setattr(NotedStep, "fails", {}, raising=False)
    monkeypatch.setattr(runner, "load_steps", lambda: {Job.Step.MAP: NotedStep})
    return NotedStep


def run_job(space: Space, **values: Any) -> Job:
    with tenant_scope(space.tenant_id):
        job = make_job(space, step=Job.Step.MAP, lane=Lane.TIDYING, **values)
    assert runner.run_next_job(space.tenant_id, space.id)
    with tenant_scope(space.tenant_id):
        job.refresh_from_db()
        space.refresh_from_db()
    return job


def list_phases(step: type[NotedStep]) -> list[str]:
    return [phase for phase, _ in step.noted]


def test_each_phase_runs_where_it_belongs(space: Space, step: type[NotedStep]) -> None:
    job = run_job(space)
    assert step.noted == [
        ("read", True),
        ("ask", False),
        ("write", True),
        ("plan", True),
        ("follow_up", False),
    ]
    assert job.state == Job.State.DONE
    assert job.result == {"said": "answer 1"}
    assert space.name == "answer 1"


@pytest.mark.parametrize("error", [StaleRead("a fact changed"), RowsChanged("a page changed")])
def test_what_went_stale_is_read_and_asked_anew(
    space: Space, step: type[NotedStep], error: Exception
) -> None:
    step.fails["write"] = [error, error]
    job = run_job(space)
    assert list_phases(step) == [*["read", "ask", "write"] * MAX_READS, "plan", "follow_up"]
    assert job.state == Job.State.DONE
    assert job.result == {"said": "answer 3"}


def test_E10_what_is_always_stale_is_read_three_times_and_put_off(
    space: Space, step: type[NotedStep]
) -> None:
    step.fails["write"] = [StaleRead("a fact changed")] * 9
    job = run_job(space)
    assert list_phases(step).count("read") == MAX_READS == 3
    assert job.state == Job.State.RETRY
    assert job.error == "StaleRead: a fact changed"
    assert "follow_up" not in list_phases(step)


@pytest.mark.parametrize("phase", ["read", "ask", "write", "plan"])
def test_a_phase_that_fails_leaves_nothing_but_its_error(
    space: Space, step: type[NotedStep], phase: str
) -> None:
    step.fails[phase] = [EngineError("the model is busy")]
    job = run_job(space)
    assert list_phases(step)[-1] == phase
    assert job.state == Job.State.RETRY
    assert job.error == "EngineError: the model is busy"
    assert job.result == {}
    assert space.name == ""


def test_a_lease_that_is_lost_while_a_model_is_asked_writes_nothing(
    space: Space, step: type[NotedStep], monkeypatch: pytest.MonkeyPatch
) -> None:
    def lose_lease(self: NotedStep, work: int) -> str:
        with tenant_scope(self.job.tenant_id):
            Job.objects.filter(id=self.job.id).update(attempts=self.job.attempts + 1)
        return "too late"

    monkeypatch.setattr(NotedStep, "ask", lose_lease)
    job = run_job(space)
    assert list_phases(step) == ["read"]
    assert job.state == Job.State.RUNNING  # it is another worker's
    assert job.error == ""
    assert space.name == ""


def test_a_job_with_nothing_to_do_ends_at_once(
    space: Space, step: type[NotedStep], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(NotedStep, "read", lambda self: NothingToDo({"drawn": 0}))
    job = run_job(space)
    assert step.noted == []
    assert job.state == Job.State.DONE
    assert job.result == {"drawn": 0}


def test_a_payload_chooses_the_variant(
    space: Space, step: type[NotedStep], monkeypatch: pytest.MonkeyPatch
) -> None:
    class OtherStep(NotedStep):
        def ask(self, work: int) -> str:
            return "another sort of answer"

    monkeypatch.setattr(NotedStep, "variants", MappingProxyType({"other": OtherStep}))
    assert run_job(space, payload={"other": 1}).result == {"said": "another sort of answer"}
    assert run_job(space, payload={"same": 1}).result == {"said": "answer 2"}


def test_a_job_gets_the_lane_of_its_step(space: Space) -> None:
    with tenant_scope(space.tenant_id):
        for step in Job.Step:
            queue.plan_step(space, step, "a key", datetime(2026, 5, 1).astimezone())
        made = {Job.Step(job.step): job for job in Job.objects.filter(space=space)}
    lanes = {step: declared.lane for step, declared in load_steps().items()}
    assert {step: job.lane for step, job in made.items()} == lanes
    assert [step for step, lane in lanes.items() if lane is Lane.READING] == [Job.Step.DERIVE]


def test_E10_a_stale_comparison_asks_no_model_twice_about_what_was_said(
    hub: ScriptedHub, only_claims: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    drafted: list[Any] = []
    refused: list[Any] = []

    def draft(*args: Any) -> Any:
        drafted.append(args)
        return draft_batch(*args)

    def refuse_once(*args: Any) -> Any:
        if not refused:
            refused.append(args)
            raise StaleRead("claims changed while they were being compared")
        return write_claims(*args)

    draft_batch, write_claims = extract.draft_batch, resolve.write_claims
    monkeypatch.setattr(derive, "draft_batch", draft)
    monkeypatch.setattr(resolve, "write_claims", refuse_once)
    hub.model.allow(extract_facts=make_facts_reply(make_fact_reply("Ana lives in Porto.")))
    hub.say("I live in Porto.")
    hub.run_due_jobs()
    assert len(list_facts(hub)) == 1
    assert (len(refused), len(drafted)) == (1, 1)
