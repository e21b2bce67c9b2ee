from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest
from django.utils import timezone
from kombu.exceptions import OperationalError

from memoryhub.dialogues.messages import Message
from memoryhub.dialogues.models import Turn
from memoryhub.errors import Conflict, EngineError
from memoryhub.pipeline import tasks
from memoryhub.pipeline.ingest.services import (
    IngestRequest,
    ingest_messages,
    retry_job,
    run_space,
    wait_for_job,
)
from memoryhub.pipeline.jobs import queue
from memoryhub.pipeline.jobs.sweeper import Sweeper
from memoryhub.pipeline.models import Job
from memoryhub.pipeline.steps.derive.derive import DeriveStep
from memoryhub.tenants.models import Tenant
from memoryhub.tenants.scope import tenant_scope
from memoryhub.tenants.services import create_tenant
from notes.models import Fact
from tests.support.processes import wait_until

pytestmark = pytest.mark.django_db

NOW = datetime(2026, 3, 4, 18, tzinfo=UTC)


@pytest.fixture
def tenant() -> Tenant:
    return create_tenant("One", "one")


def ingest_text(tenant: Tenant, text: str, subject: str = "ana") -> Job:
    job = ingest_messages(tenant.id, IngestRequest(subject, [Message("user", text, "Ana")])).job
    assert job is not None
    return job


def reload_job(job: Job) -> Job:
    with tenant_scope(job.tenant_id):
        job.refresh_from_db()
    return job


def test_jobs_of_a_space_are_claimed_in_order_and_one_at_a_time(tenant: Tenant) -> None:
    first, second = (
        ingest_text(tenant, "I live in Porto."),
        ingest_text(tenant, "I work as a nurse."),
    )
    later = timezone.now()
    with tenant_scope(tenant.id):
        claimed = queue.claim_job(first.space_id, later)
        assert claimed is not None
        assert claimed.id == first.id
        assert queue.claim_job(first.space_id, later) is None
        queue.finish_job(claimed, {}, later)
        following = queue.claim_job(first.space_id, later)
        assert following is not None
        assert following.id == second.id


def test_spaces_do_not_wait_for_each_other(tenant: Tenant) -> None:
    one, two = (
        ingest_text(tenant, "I live in Porto."),
        ingest_text(tenant, "I live in Faro.", "rui"),
    )
    with tenant_scope(tenant.id):
        assert queue.claim_job(one.space_id, timezone.now()) is not None
        assert queue.claim_job(two.space_id, timezone.now()) is not None


def test_a_lease_that_ran_out_is_taken_over_and_the_first_worker_is_fenced(tenant: Tenant) -> None:
    job = ingest_text(tenant, "I live in Porto.")
    now = timezone.now()
    with tenant_scope(tenant.id):
        slow = queue.claim_job(job.space_id, now)
        quick = queue.claim_job(job.space_id, now + timedelta(hours=1))
        assert slow is not None
        assert quick is not None
        assert quick.attempts == 2
        with pytest.raises(queue.LeaseLost):
            queue.finish_job(slow, {}, now)
        with pytest.raises(queue.LeaseLost):
            queue.lock_job(slow)
        assert queue.extend_lease(slow, now) is False
        queue.finish_job(quick, {}, now)
    assert reload_job(job).state == Job.State.DONE


def test_a_heartbeat_keeps_the_lease(tenant: Tenant) -> None:
    job = ingest_text(tenant, "I live in Porto.")
    now = timezone.now()
    with tenant_scope(tenant.id):
        held = queue.claim_job(job.space_id, now)
        assert held is not None
        assert queue.extend_lease(held, now + timedelta(hours=1))
        assert queue.claim_job(job.space_id, now + timedelta(hours=1)) is None


def make_step_fail(monkeypatch: pytest.MonkeyPatch, error: Exception) -> None:
    def refuse(step: DeriveStep) -> None:
        raise error

    monkeypatch.setattr(DeriveStep, "read", refuse)


def test_a_failure_is_kept_and_tried_again_later(
    tenant: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_step_fail(monkeypatch, EngineError("the model is busy"))
    job = ingest_text(tenant, "I live in Porto.")
    run_space(tenant.id, job.space_id)
    assert reload_job(job).state == Job.State.RETRY
    assert "the model is busy" in job.error
    assert job.run_after > timezone.now()


def test_later_jobs_wait_behind_one_that_is_to_be_retried(
    tenant: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_step_fail(monkeypatch, EngineError("the model is busy"))
    job = ingest_text(tenant, "I live in Porto.")
    second = ingest_text(tenant, "I moved to Faro.")
    assert run_space(tenant.id, job.space_id) == 1
    assert reload_job(second).attempts == 0


def test_E12_after_eight_attempts_it_is_given_up_and_a_person_may_retry(
    tenant: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as broken:
        make_step_fail(broken, EngineError("no JSON in the reply"))
        job = ingest_text(tenant, "I live in Porto.")
        for _ in range(8):
            with tenant_scope(tenant.id):
                Job.objects.update(run_after=timezone.now())
            run_space(tenant.id, job.space_id)
    assert reload_job(job).state == Job.State.DEAD
    assert job.attempts == 8
    with tenant_scope(tenant.id):
        retry_job(job.id)
    run_space(tenant.id, job.space_id)
    assert reload_job(job).state == Job.State.DONE
    with tenant_scope(tenant.id):
        assert Fact.objects.count() == 1


def test_a_permanent_error_is_not_tried_again(
    tenant: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_step_fail(monkeypatch, EngineError("the key is wrong", permanent=True))
    job = ingest_text(tenant, "I live in Porto.")
    run_space(tenant.id, job.space_id)
    assert reload_job(job).state == Job.State.DEAD


def test_a_job_whose_workers_always_die_is_given_up(tenant: Tenant) -> None:
    job = ingest_text(tenant, "I live in Porto.")
    now = timezone.now()
    with tenant_scope(tenant.id):
        for hour in range(8):
            assert queue.claim_job(job.space_id, now + timedelta(hours=hour)) is not None
        assert queue.claim_job(job.space_id, now + timedelta(hours=9)) is None
    assert reload_job(job).state == Job.State.DEAD
    assert "died" in job.error


def test_only_a_failed_job_can_be_retried(tenant: Tenant) -> None:
    job = ingest_text(tenant, "I live in Porto.")
    with tenant_scope(tenant.id), pytest.raises(Conflict):
        retry_job(job.id)


def test_the_wait_doubles_up_to_an_hour() -> None:
    waits = [queue.compute_backoff(attempt).total_seconds() for attempt in (1, 2, 3, 20)]
    assert waits[1] == 2 * waits[0]
    assert waits[2] == 2 * waits[1]
    assert waits[3] == 3600


def test_the_sweeper_rings_for_what_was_not_heard(
    tenant: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = ingest_text(tenant, "I live in Porto.")
    heard: list[tuple[UUID, UUID]] = []

    def ring(*ids: UUID) -> bool:
        heard.append((ids[0], ids[1]))
        return True

    monkeypatch.setattr(tasks, "ring_worker", ring)
    tasks.ring_due_spaces()
    assert heard == [(tenant.id, job.space_id)]
    run_space(tenant.id, job.space_id)
    heard.clear()
    tasks.ring_due_spaces()
    assert heard == []


def test_a_broker_that_is_gone_does_not_fail_the_request(
    tenant: Tenant, monkeypatch: pytest.MonkeyPatch, django_capture_on_commit_callbacks: Any
) -> None:
    def refuse(*args: str) -> None:
        raise OperationalError("connection refused")

    monkeypatch.setattr(tasks.run_space_jobs, "delay", refuse)
    with django_capture_on_commit_callbacks(execute=True):
        job = ingest_text(tenant, "I live in Porto.")
    run_space(tenant.id, job.space_id)
    assert reload_job(job).state == Job.State.DONE


def test_without_a_broker_the_sweeper_does_the_work_itself(
    tenant: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = ingest_text(tenant, "I live in Porto.")
    monkeypatch.setattr(tasks, "ring_worker", lambda *ids: False)
    tasks.ring_due_spaces()
    assert reload_job(job).state == Job.State.DONE


def test_the_sweeper_outlives_its_errors() -> None:
    rounds: list[int] = []

    def fail() -> None:
        rounds.append(1)
        raise OperationalError("gone")

    sweeper = Sweeper(fail, 0.01)
    sweeper.start()
    wait_until(lambda: len(rounds) >= 3, 10)
    sweeper.stop()
    sweeper.join(10)
    assert not sweeper.is_alive()


def test_a_running_job_comes_before_a_new_one_of_a_higher_lane(tenant: Tenant) -> None:
    first = ingest_text(tenant, "I live in Porto.")
    run_space(tenant.id, first.space_id)
    now = timezone.now()
    with tenant_scope(tenant.id):
        queue.enqueue_embedding(first.space, first, now, now)
        held = queue.claim_job(first.space_id, now + timedelta(minutes=1))
        assert held is not None
        assert held.step == Job.Step.EMBED
    ingest_text(tenant, "I moved to Faro.")
    with tenant_scope(tenant.id):
        assert queue.claim_job(first.space_id, now + timedelta(minutes=1)) is None
        again = queue.claim_job(first.space_id, now + timedelta(hours=1))
        assert again is not None
        assert again.id == held.id


def test_E12_turns_of_a_job_that_was_given_up_say_so_until_it_is_revived(
    tenant: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as broken:
        make_step_fail(broken, EngineError("the key is wrong", permanent=True))
        job = ingest_text(tenant, "I live in Porto.")
        run_space(tenant.id, job.space_id)
    with tenant_scope(tenant.id):
        assert Turn.objects.get().state == Turn.State.FAILED
        retry_job(job.id)
        assert Turn.objects.get().state == Turn.State.PENDING
    run_space(tenant.id, job.space_id)
    with tenant_scope(tenant.id):
        assert Turn.objects.get().state == Turn.State.PROCESSED


def test_a_revived_job_still_fences_the_worker_it_was_taken_from(tenant: Tenant) -> None:
    job = ingest_text(tenant, "I live in Porto.")
    now = timezone.now()
    with tenant_scope(tenant.id):
        slow = queue.claim_job(job.space_id, now)
        assert slow is not None
        quick = queue.claim_job(job.space_id, now + timedelta(hours=1))
        assert quick is not None
        queue.fail_job(quick, EngineError("no", permanent=True), now)
        retry_job(job.id)
        revived = queue.claim_job(job.space_id, timezone.now())
        assert revived is not None
        assert revived.tries == 1
        with pytest.raises(queue.LeaseLost):
            queue.finish_job(slow, {}, now)


def test_a_request_leaves_a_long_text_to_a_worker(tenant: Tenant) -> None:
    job = ingest_text(tenant, "The weather was calm. " * 4000)
    assert wait_for_job(tenant.id, job, 0.3).state == Job.State.QUEUED
    short = ingest_text(tenant, "I live in Porto.", "rui")
    assert wait_for_job(tenant.id, short, 30).state == Job.State.DONE
