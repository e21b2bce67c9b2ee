"""Running a space's jobs, one at a time and in order."""

from __future__ import annotations

import threading
import time
from _thread import start_new_thread
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager, suppress
from datetime import datetime
from functools import partial
from typing import Any
from uuid import UUID

import structlog
from django.conf import settings
from django.db import OperationalError, connection
from django.db.models import Sum
from django.db.models.functions import Length
from django.utils import timezone
from django.utils.translation import gettext

from memoryhub.background.stopping import allow_stopping
from memoryhub.dialogues.models import Turn
from memoryhub.errors import MemoryHubError, NotFound
from memoryhub.inference.ledger import open_ledger
from memoryhub.metrics.counters import DECISIONS, JOB_SECONDS, JOBS
from memoryhub.observability.tracing import mark_failed, trace
from memoryhub.pipeline.jobs import queue
from memoryhub.pipeline.jobs.step import JobResult, NothingToDo, Step, load_steps, retry_stale_reads
from memoryhub.pipeline.jobs.watch import JobWatcher
from memoryhub.pipeline.models import Job
from memoryhub.pipeline.review import review_rules
from memoryhub.places import step_aside
from memoryhub.tenants.scope import tenant_scope
from notes.review import proposals

log = structlog.get_logger()
# Between two looks at the jobs that requests wait for, and of one request at what it could do.
POLL_SECONDS, LOOK_SECONDS = 0.1, 1.0
# Between two beats of a job that runs: as long it may go on after it was cancelled.
BEAT_SECONDS = 5.0


def run_space(tenant_id: UUID, space_id: UUID) -> int:
    """Run every job of the space that is due. Returns how many ran."""
    return drain_space(tenant_id, space_id, None)


def drain_space(tenant_id: UUID, space_id: UUID, at: datetime | None) -> int:
    """Run whatever is due by `at`, as of that time: a replay's or a test's clock."""
    ran = 0
    while run_next_job(tenant_id, space_id, at):
        ran += 1
    return ran


def run_until_done(
    tenant_id: UUID, job: Job, seconds: float, *, most_characters: int | None = None
) -> Job:
    """Work on the job's space until the job has ended or the time is up.

    A job of more than `most_characters` is left to a worker and waited for: once begun it can't
    be broken off, and a request would go on past its time. Raises NotFound for one that was erased
    meanwhile, with what it was to read.
    """
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        fits = (
            most_characters is None or _count_waiting_characters(tenant_id, job) <= most_characters
        )
        if not (fits and run_next_job(tenant_id, job.space_id)):
            # A worker has it, or it waits to be retried.
            _wait_for_change(tenant_id, job, min(LOOK_SECONDS, deadline - time.monotonic()))
        with tenant_scope(tenant_id):
            _refresh_job(job)
        if job.state not in (Job.State.QUEUED, Job.State.RUNNING):
            break
    return job


def _refresh_job(job: Job) -> None:
    try:
        job.refresh_from_db()
    except Job.DoesNotExist as error:
        raise NotFound(gettext("what was to be read was erased meanwhile")) from error


def _wait_for_change(tenant_id: UUID, job: Job, seconds: float) -> None:
    change = _states.wait_for_change(tenant_id, job.id, job.state)
    with suppress(TimeoutError), step_aside():
        change.result(seconds)
    change.cancel()


def _look_at_states(tenant_id: UUID, job_ids: Collection[UUID]) -> Mapping[UUID, str]:
    with tenant_scope(tenant_id):
        return dict(Job.objects.filter(id__in=job_ids).values_list("id", "state"))


def _count_waiting_characters(tenant_id: UUID, job: Job) -> int:
    """Characters to be read in the space up to the end of this job."""
    with tenant_scope(tenant_id):
        waiting = Turn.objects.filter(
            space_id=job.space_id, seq__lte=job.last_seq, state=Turn.State.PENDING
        )
        return int(waiting.aggregate(size=Sum(Length("text")))["size"] or 0)


def run_next_job(tenant_id: UUID, space_id: UUID, at: datetime | None = None) -> bool:
    """Claim and run one job. False when there is none to claim."""
    with tenant_scope(tenant_id):
        job = queue.claim_job(space_id, timezone.now(), at)
    if job is None:
        return False
    ids = {"tenant": str(tenant_id), "space": str(space_id), "job": str(job.id)}
    told = {f"memoryhub.{name}": value for name, value in ids.items()}
    with (
        trace(f"job {job.step}", told | {"memoryhub.attempt": job.attempts}),
        structlog.contextvars.bound_contextvars(**ids),
        proposals.collect_opened_proposals() as opened,
        keep_lease(job),
    ):
        began = time.monotonic()
        _run_step(job, at)
        JOB_SECONDS.labels(job.step).observe(time.monotonic() - began)
    if opened:
        _apply_review_rules(job, opened, at or timezone.now())
    return True


def _apply_review_rules(job: Job, opened: Collection[UUID], now: datetime) -> None:
    """Answer what the job put before a person, where a rule says how. It is done by now: whatever
    goes wrong here is none of it, and leaves the question open."""
    try:
        review_rules.apply_rules(job.tenant_id, job.space_id, opened, now)
    except Exception:
        log.exception("rules.failed", space=str(job.space_id))


def _run_step(job: Job, at: datetime | None) -> None:
    with open_ledger(job.tenant_id, space_id=job.space_id, job_id=job.id, at=at) as ledger:
        try:
            step_class = load_steps()[Job.Step(job.step)]
            run_phases(step_class.build_for(job, at or timezone.now()))
        except queue.LeaseLost:
            log.warning("job.lease_lost", job=str(job.id), attempt=job.attempts)
            ledger.drop_words()  # an erasure may be why
        except Exception as error:
            # Whatever went wrong is kept on the job and shown; only the process's end escapes.
            if not isinstance(error, MemoryHubError):
                log.exception("job.failed", job=str(job.id), attempt=job.attempts)
            mark_failed(error.code if isinstance(error, MemoryHubError) else type(error).__name__)
            _record_failure(job, error, ledger.find_pause_end(error), at or timezone.now())


def run_phases(step: Step[Any, Any]) -> None:
    """Read, ask, write and plan, anew while what was read changes meanwhile; then what is left.

    Raises EngineError, LeaseLost, and StaleRead or RowsChanged in the end.
    """
    work = retry_stale_reads(partial(_run_phases_once, step))
    if not isinstance(work, NothingToDo):
        step.follow_up(work)


def _run_phases_once(step: Step[Any, Any]) -> Any:
    """The work, as it was read. Effects and the job's end are written in one transaction."""
    job = step.job
    with tenant_scope(job.tenant_id):
        work = step.read()
        if isinstance(work, NothingToDo):
            queue.finish_job(job, work.result, step.now)
            return work
    answer = step.ask(work)
    with tenant_scope(job.tenant_id):
        queue.lock_job(job)
        result = step.write(work, answer)
        queue.finish_job(job, result, step.now)
        step.plan(work, answer)
    _count_decisions(job, result)
    return work


def _count_decisions(job: Job, result: JobResult) -> None:
    JOBS.labels(job.step, Job.State.DONE).inc()
    decisions = result.get("decisions")
    for decision in decisions if isinstance(decisions, list) else ():
        DECISIONS.labels(str(decision.get("op", "other"))).inc()


def _record_failure(job: Job, error: Exception, until: datetime | None, now: datetime) -> None:
    with tenant_scope(job.tenant_id):
        if until is not None:
            queue.postpone_job(job, max(until, now), error)
        else:
            queue.fail_job(job, error, now)
            JOBS.labels(job.step, "failed").inc()


@contextmanager
def keep_lease(job: Job) -> Iterator[None]:
    """Extend the job's lease from a thread of its own while the work goes on.

    Work whose job is no longer its own (cancelled, taken over, over its time) is broken off where
    it can be, by LeaseLost.
    """
    done, lost, idle = threading.Event(), threading.Event(), threading.Event()
    idle.set()

    def extend() -> None:
        idle.clear()
        try:
            _extend_lease_until(job, done, lost)
        finally:
            idle.set()

    # `Thread.start` waits until the new thread says that it runs, which one that finds no memory
    # for its first steps never does: the job would be held for ever, and with it its space.
    # Without the extensions it is only lost to whoever takes it over.
    start_new_thread(extend, ())
    try:
        with allow_stopping(partial(_raise_if_lost, lost)):
            yield
    finally:
        done.set()
        idle.wait()


def _raise_if_lost(lost: threading.Event) -> None:
    if lost.is_set():
        raise queue.LeaseLost("the job is not this worker's any more")


def compute_beat() -> float:
    """Seconds between two extensions of a lease: several fit into it."""
    return min(BEAT_SECONDS, settings.JOB_LEASE_SECONDS / 3)


def _extend_lease_until(job: Job, done: threading.Event, lost: threading.Event) -> None:
    began = time.monotonic()
    beat = compute_beat()
    try:
        while not done.wait(beat):
            with tenant_scope(job.tenant_id):
                if 0 < settings.JOB_SECONDS < time.monotonic() - began:
                    queue.end_overdue_job(job, settings.JOB_SECONDS, timezone.now())
                    log.warning("job.overdue", job=str(job.id), seconds=settings.JOB_SECONDS)
                elif queue.extend_lease(job, timezone.now()):
                    continue
                elif queue.is_finished(job):
                    return  # what is left to do behind it takes no lease
            lost.set()
            return
    except OperationalError:
        log.warning("job.heartbeat_failed", job=str(job.id))
    finally:
        connection.close()


_states = JobWatcher(_look_at_states, POLL_SECONDS)
