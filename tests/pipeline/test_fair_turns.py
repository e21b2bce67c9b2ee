"""Whose turn it is among tenants and spaces, and how work ends that nobody wants any more."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from uuid import UUID, uuid4

import pytest
from django.conf import LazySettings
from django.utils import timezone

from memoryhub.background.stopping import stop_if_unwanted
from memoryhub.dialogues.messages import Message
from memoryhub.errors import QueueFull
from memoryhub.pipeline import tasks
from memoryhub.pipeline.ingest.services import IngestRequest, cancel_job, ingest_messages
from memoryhub.pipeline.jobs import queue, runner
from memoryhub.pipeline.jobs.turns import SpaceTurns
from memoryhub.pipeline.models import Job
from memoryhub.tenants.models import Tenant
from memoryhub.tenants.scope import tenant_scope
from memoryhub.tenants.services import create_tenant
from tests.support.processes import wait_until

ONE, OTHER = uuid4(), uuid4()


def test_spaces_of_a_tenant_take_turns() -> None:
    turns = SpaceTurns(1)
    ran: list[UUID] = []
    large, small = uuid4(), uuid4()
    left = {large: 3, small: 1}

    def run_one(tenant: UUID, space: UUID) -> bool:
        if space == large and not ran:
            turns.run(ONE, small, run_one)  # it comes while the first job runs
        if not left[space]:
            return False
        left[space] -= 1
        ran.append(space)
        return True

    assert turns.run(ONE, large, run_one) == 4
    assert ran == [large, small, large, large]


def test_a_tenant_leaves_as_many_threads_as_it_has_and_each_has_one() -> None:
    turns = SpaceTurns(4)
    begun = [turns._begin((ONE, uuid4())) for _ in range(4)]
    assert [bool(each) for each in begun] == [True, True, False, False]
    other = turns._begin((OTHER, uuid4()))
    assert other is not None
    assert other[0] == OTHER
    third = uuid4()
    assert turns._begin((third, uuid4())) is not None


def test_a_space_is_worked_on_once_and_known_meanwhile() -> None:
    turns, space = SpaceTurns(4), uuid4()
    held = turns._begin((ONE, space))
    assert held == (ONE, space)
    assert turns.is_known(ONE, space)
    assert turns._begin((ONE, space)) is None
    assert turns._end(held, again=False) == held  # who came meanwhile may have brought something
    assert turns._end(held, again=False) is None
    assert not turns.is_known(ONE, space)


def test_a_turn_that_fails_forgets_nobody_who_waits() -> None:
    """Who was rung for meanwhile would be passed over by every sweep, as long as the process
    lives."""
    turns, space, small = SpaceTurns(1), uuid4(), uuid4()
    ran: list[UUID] = []

    def run_one(tenant: UUID, which: UUID) -> bool:
        ran.append(which)
        if len(ran) == 1:
            turns.run(ONE, space, run_one)  # both come while the database goes away
            turns.run(OTHER, small, run_one)
            raise ConnectionError
        return False

    with pytest.raises(ConnectionError):
        turns.run(ONE, space, run_one)
    assert ran == [space, space, small]
    assert not turns.is_known(ONE, space)
    assert not turns.is_known(OTHER, small)


@pytest.fixture
def tenant(transactional_db: None) -> Tenant:
    return create_tenant("One", "one")


@pytest.fixture(autouse=True)
def unheard() -> Iterator[None]:
    with tasks.silence_doorbell():
        yield


def ingest_text(tenant: Tenant, text: str, subject: str = "ana") -> Job:
    job = ingest_messages(tenant.id, IngestRequest(subject, [Message("user", text, "Ana")])).job
    assert job is not None
    return job


@contextmanager
def hold_job(job: Job) -> Iterator[Job]:
    with tenant_scope(job.tenant_id):
        claimed = queue.claim_job(job.space_id, timezone.now())
    assert claimed is not None
    with runner.keep_lease(claimed):
        yield claimed


def is_stopped() -> bool:
    try:
        stop_if_unwanted()
    except queue.LeaseLost:
        return True
    return False


def test_a_job_that_is_cancelled_stops(tenant: Tenant, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runner, "compute_beat", lambda: 0.02)
    with hold_job(ingest_text(tenant, "I live in Porto.")) as job:
        assert not is_stopped()
        with tenant_scope(tenant.id):
            cancel_job(job.id, "Ana")
        wait_until(is_stopped, 20)


def test_what_is_left_behind_a_finished_job_is_not_broken_off(
    tenant: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runner, "compute_beat", lambda: 0.02)
    before = set(threading.enumerate())
    with hold_job(ingest_text(tenant, "I live in Porto.")) as job:
        with tenant_scope(tenant.id):
            queue.finish_job(job, {}, timezone.now())
        wait_until(lambda: set(threading.enumerate()) <= before, 20)  # nothing beats any more
        assert not is_stopped()


def test_a_job_over_its_time_is_given_up_and_says_so(
    tenant: Tenant, settings: LazySettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runner, "compute_beat", lambda: 0.02)
    settings.JOB_SECONDS = 0.01
    with hold_job(ingest_text(tenant, "I live in Porto.")) as job:
        wait_until(is_stopped, 20)
    with tenant_scope(tenant.id):
        job.refresh_from_db()
    assert job.state == Job.State.DEAD
    assert job.error.startswith("overdue")


def test_a_job_whose_watch_found_no_memory_to_begin_is_done_all_the_same(
    tenant: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runner, "start_new_thread", lambda *begun: 0)
    job = ingest_text(tenant, "I live in Porto.")
    assert runner.run_next_job(tenant.id, job.space_id)
    with tenant_scope(tenant.id):
        job.refresh_from_db()
    assert job.state == Job.State.DONE


def test_a_tenant_with_too_much_waiting_waits_itself(
    tenant: Tenant, settings: LazySettings
) -> None:
    settings.MAX_WAITING_JOBS = 2
    ingest_text(tenant, "I live in Porto.")
    ingest_text(tenant, "I work as a nurse.")
    with pytest.raises(QueueFull):
        ingest_text(tenant, "I have a dog.")
    other = create_tenant("Other", "other")
    assert ingest_text(other, "I have a dog.")


def test_a_sweep_rings_once_for_what_nobody_took_up(
    tenant: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    rung: list[UUID] = []
    job = ingest_text(tenant, "I live in Porto.")

    def ring(_tenant: UUID, space: UUID) -> bool:
        rung.append(space)
        return True

    monkeypatch.setattr(tasks, "ring_worker", ring)
    for _ in range(3):
        tasks.ring_due_spaces()
    assert rung == [job.space_id]
    tasks.run_space_jobs(str(tenant.id), str(job.space_id))
    with tenant_scope(tenant.id):
        job.refresh_from_db()
    assert job.state == Job.State.DONE


def test_the_first_spaces_of_all_tenants_are_due_before_the_second_of_one(tenant: Tenant) -> None:
    for at in range(3):
        ingest_text(tenant, "I live in Porto.", f"subject {at}")
    other = create_tenant("Other", "other")
    last = ingest_text(other, "I live in Porto.")
    due = queue.list_due_spaces(timezone.now(), most=2)
    assert (other.id, last.space_id) in due
