"""Claiming, leasing and ending jobs by compare-and-swap. Call inside the tenant's scope.

`attempts` is the fence: it rises with every claim, and every later write states the value its
claim got. Whoever lost the lease finds that nothing matches, and changes nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from uuid import UUID

from django.conf import settings
from django.db import IntegrityError, connection, transaction
from django.db.models import QuerySet
from django.utils import timezone
from django.utils.translation import gettext

from memoryhub.background.news import News, notify_listeners
from memoryhub.dialogues.models import Turn
from memoryhub.errors import Conflict, EngineError, MemoryHubError
from memoryhub.pipeline.jobs.step import load_steps
from memoryhub.pipeline.models import Job, Lane
from memoryhub.tenants.database.prepared import load_prepared_rows
from memoryhub.tenants.models import Space
from memoryhub.tenants.scope import get_current_tenant

# Steps that may be left undone. Without the others an erasure would be incomplete, memories would
# be found by their words alone, or a run that counts on its job would wait for ever.
CANCELLABLE_STEPS = frozenset(
    {Job.Step.DERIVE, Job.Step.ASSOCIATE, Job.Step.EPISODE, Job.Step.PROMOTE}
)
LONGEST_BACKOFF = timedelta(hours=1)


class LeaseLost(MemoryHubError):
    """Another worker has this job now; this one's result is thrown away."""

    code = "lease_lost"


def enqueue_derivation(
    space: Space, first_seq: int, last_seq: int, now: datetime, *, wait: float = 0.0
) -> Job:
    """A derivation of these turns, due in `wait` seconds. The same turns are never queued twice."""
    key, due = f"{first_seq}-{last_seq}", now + timedelta(seconds=wait)
    plan_step(space, Job.Step.DERIVE, key, due, seqs=(first_seq, last_seq), created=now)
    job: Job = Job.objects.get(space=space, dedupe_key=_build_dedupe_key(Job.Step.DERIVE, key))
    return job


def plan_step(
    space: Space,
    step: Job.Step,
    key: str,
    due: datetime,
    *,
    payload: Mapping[str, object] | None = None,
    seqs: tuple[int, int] = (0, 0),
    created: datetime | None = None,
) -> None:
    """Plan a step once, in its lane: a job of the same `key` that exists is left as it is. One
    statement. `created`: when it is planned, if that is not the present."""
    job = Job(
        tenant_id=space.tenant_id,
        space=space,
        step=step,
        lane=load_steps()[step].lane,
        dedupe_key=_build_dedupe_key(step, key),
        first_seq=seqs[0],
        last_seq=seqs[1],
        payload=dict(payload or {}),
        run_after=due,
        # What is planned for later is made now; in a replay, whose clock is behind, when it is due.
        created_at=created or min(due, timezone.now()),
    )
    Job.objects.bulk_create([job], ignore_conflicts=True)


def _build_dedupe_key(step: Job.Step, key: str) -> str:
    return f"{step}:{key}"[:120]


def enqueue_embedding(space: Space, after: Job, now: datetime, due: datetime) -> None:
    """Give vectors to the index entries that have none: a failed embedder left them so (E18), or
    the message was too long for all of them at once."""
    key = f"{after.first_seq}-{after.last_seq}"
    plan_step(space, Job.Step.EMBED, key, due, seqs=after.seqs, created=now)


def claim_job(space_id: UUID, now: datetime, at: datetime | None = None) -> Job | None:
    """Lease the space's next job, if one is due and nobody has it.

    `at` is the time by which work is due, where it is not the present: a replay's clock. Leases
    always run by `now`.
    """
    job = _find_next_job(space_id, now, at or now)
    if job is None:
        return None
    if job.tries >= settings.JOB_MAX_ATTEMPTS:
        _end_job(job, Job.State.DEAD, now, error=job.error or "its worker died every time")
        return claim_job(space_id, now, at)
    try:
        with transaction.atomic():
            claimed = _query_unchanged(job).update(
                state=Job.State.RUNNING,
                attempts=job.attempts + 1,
                tries=job.tries + 1,
                lease_until=_compute_lease_end(now),
                started_at=now,
            )
    except IntegrityError:
        return None  # another worker claimed another job of the space meanwhile
    if claimed != 1:
        return None  # another worker got there first
    # As it is now: what was planned of it may have been put together with more meanwhile.
    (claimed_job,) = load_prepared_rows(Job, "tenant_id = %s AND id = %s", [job.tenant_id, job.id])
    return claimed_job


# The job that runs, the next to be read, due or not, and the next of all others that is due.
_NEXT_JOBS_SQL = """id IN (
  (SELECT id FROM pipeline_job
    WHERE tenant_id = %(tenant)s AND space_id = %(space)s AND state = 'running')
  UNION ALL
  (SELECT id FROM pipeline_job
    WHERE tenant_id = %(tenant)s AND space_id = %(space)s AND state IN ('queued', 'retry')
      AND lane = %(reading)s
    ORDER BY first_seq LIMIT 1)
  UNION ALL
  (SELECT id FROM pipeline_job
    WHERE tenant_id = %(tenant)s AND space_id = %(space)s AND state IN ('queued', 'retry')
      AND lane <> %(reading)s AND run_after <= %(at)s::timestamptz
    ORDER BY lane, run_after, first_seq LIMIT 1))
"""


def _find_next_job(space_id: UUID, now: datetime, at: datetime) -> Job | None:
    """A job that runs comes before all: it ends, or its lease does. Then dialogue, in order:
    what is to be read later waits behind what is to be read again. Then what is due, by lane.
    One statement: every job is looked for by it.
    """
    asked = {"tenant": get_current_tenant(), "space": space_id, "reading": Lane.READING, "at": at}
    found = load_prepared_rows(Job, _NEXT_JOBS_SQL, asked)
    running = next((job for job in found if job.state == Job.State.RUNNING), None)
    if running is not None:
        return running if running.lease_until and running.lease_until < now else None
    found.sort(key=lambda job: job.lane != Lane.READING)
    return next((job for job in found if job.run_after <= at), None)


def _compute_lease_end(now: datetime) -> datetime:
    return now + timedelta(seconds=settings.JOB_LEASE_SECONDS)


def _query_unchanged(job: Job) -> QuerySet[Job]:
    rows: QuerySet[Job] = Job.objects.filter(id=job.id, state=job.state, attempts=job.attempts)
    return rows


def extend_lease(job: Job, now: datetime) -> bool:
    """Extend the lease. False when it was lost."""
    return _query_unchanged(job).update(lease_until=_compute_lease_end(now)) == 1


def is_finished(job: Job) -> bool:
    """Whether this worker's attempt has come to its end, and nobody's has begun since."""
    return Job.objects.filter(id=job.id, attempts=job.attempts, state=Job.State.DONE).exists()


def lock_job(job: Job) -> None:
    """Lock the job for the transaction that writes its effects. Raises LeaseLost."""
    if not _query_unchanged(job).select_for_update().exists():
        raise LeaseLost("another worker took this job over")


def finish_job(job: Job, result: dict[str, object], now: datetime) -> None:
    """In the transaction that wrote the effects. Raises LeaseLost, which undoes them."""
    done = _query_unchanged(job).update(
        state=Job.State.DONE, result=result, finished_at=now, lease_until=None, error=""
    )
    if done != 1:
        raise LeaseLost("another worker took this job over")
    _notify_job(job, "job.done", now)


def hasten_derivations(job: Job, now: datetime) -> None:
    """Somebody waits for this derivation: it and those before it need not gather more."""
    waiting = Job.objects.filter(
        space_id=job.space_id,
        lane=Lane.READING,
        state=Job.State.QUEUED,
        first_seq__lte=job.first_seq,
    )
    waiting.filter(run_after__gt=now).update(run_after=now)


def query_gathering_jobs(job: Job, now: datetime) -> QuerySet[Job]:
    """Derivations before this one that still wait for more to be said."""
    rows: QuerySet[Job] = Job.objects.filter(
        space_id=job.space_id,
        lane=Lane.READING,
        step=Job.Step.DERIVE,
        state=Job.State.QUEUED,
        run_after__gt=now,
        first_seq__lt=job.first_seq,
    )
    return rows


def list_jobs_behind(job: Job, most: int) -> list[Job]:
    """Derivations that wait right behind this one, in order; the first other job ends the row."""
    rows = Job.objects.filter(
        space_id=job.space_id, lane=Lane.READING, state__in=Job.UNFINISHED_STATES
    )
    found: list[Job] = []
    for after in rows.filter(first_seq__gt=job.last_seq).order_by("first_seq")[:most]:
        if after.step != Job.Step.DERIVE or after.state != Job.State.QUEUED:
            break
        found.append(after)
    return found


def finish_absorbed_jobs(
    job: Job, absorbed: Iterable[Job], results: Mapping[UUID, dict[str, object]], now: datetime
) -> None:
    """End jobs whose turns `job` has read along with its own, in the transaction that wrote the
    effects. Raises LeaseLost, which undoes them, when one of them is no longer waiting."""
    for each in absorbed:
        result = {"done_by": str(job.id)} | results[each.id]
        waiting = Job.objects.filter(id=each.id, state=Job.State.QUEUED, attempts=each.attempts)
        if not waiting.update(state=Job.State.DONE, result=result, finished_at=now):
            raise LeaseLost("a job read along with this one was taken over")
        _notify_job(each, "job.done", now)


def fail_job(job: Job, error: Exception, now: datetime) -> None:
    """Plan another attempt with backoff, or give up: permanent errors and spent attempts."""
    permanent = isinstance(error, EngineError) and error.permanent
    message = f"{type(error).__name__}: {error}"[:2000]
    if permanent or job.tries >= settings.JOB_MAX_ATTEMPTS:
        _end_job(job, Job.State.DEAD, now, error=message)
        return
    _retry_job(job, now + compute_backoff(job.tries), message, job.tries)


def end_overdue_job(job: Job, seconds: float, now: datetime) -> None:
    """Give up a job that has run for so long; whoever is at it finds its lease lost. A person may
    have it tried again."""
    _end_job(job, Job.State.DEAD, now, error=f"overdue: it ran for more than {seconds:,.0f} s")


def postpone_job(job: Job, until: datetime, error: Exception) -> None:
    """Put the job off without counting the attempt: models may not be asked before then."""
    code = getattr(error, "code", "paused")
    _retry_job(job, until, f"{code}: {error}"[:2000], max(0, job.tries - 1))


def _retry_job(job: Job, due: datetime, error: str, tries: int) -> None:
    _query_unchanged(job).update(
        state=Job.State.RETRY, tries=tries, run_after=due, error=error, lease_until=None
    )


def compute_backoff(attempts: int) -> timedelta:
    """The wait after this many attempts: doubling, an hour at most."""
    seconds = settings.JOB_BACKOFF_SECONDS * 2 ** (attempts - 1)
    return min(timedelta(seconds=seconds), LONGEST_BACKOFF)


def _end_job(job: Job, state: Job.State, now: datetime, error: str) -> bool:
    """Whether it was ended here: not if it went on meanwhile."""
    ended = _query_unchanged(job).update(
        state=state, error=error, finished_at=now, lease_until=None
    )
    if ended and job.step == Job.Step.DERIVE:
        _mark_turns(job, Turn.State.PENDING, Turn.State.FAILED)
    if ended and state == Job.State.DEAD:
        _notify_job(job, "job.failed", now)
    return bool(ended)


def _notify_job(job: Job, kind: str, at: datetime) -> None:
    data: dict[str, object] = {"job_id": str(job.id), "step": str(job.step)}
    data |= {"first_seq": job.first_seq, "last_seq": job.last_seq} if job.last_seq else {}
    notify_listeners(job.tenant_id, lambda: [News(kind, at, data, job.space_id)])


def _mark_turns(job: Job, old: Turn.State, new: Turn.State) -> None:
    """Turns say themselves whether they have been read (E12)."""
    turns = Turn.objects.filter(space_id=job.space_id, seq__range=job.seqs, state=old)
    turns.update(state=new)


def revive_job(job_id: UUID, now: datetime) -> Job:
    """Give a job that failed or was cancelled another round of attempts. Raises Conflict for any
    other."""
    revived = Job.objects.filter(id=job_id, state__in=Job.RETRYABLE_STATES).update(
        state=Job.State.QUEUED, tries=0, run_after=now, error="", finished_at=None
    )
    if revived != 1:
        raise Conflict(
            gettext("only a job that failed or was cancelled can be tried again"),
            code="job_not_failed",
        )
    job: Job = Job.objects.get(id=job_id)
    _mark_turns(job, Turn.State.FAILED, Turn.State.PENDING)
    return job


def cancel_job(job: Job, why: str, now: datetime) -> None:
    """End it undone. A worker that is at it finds its lease lost, and what it made is thrown away.
    Raises Conflict for one that has ended, or that something else waits for."""
    if job.step not in CANCELLABLE_STEPS:
        raise Conflict(
            gettext("other work waits for this step: %(step)s")
            % {"step": job.get_step_display().lower()},
            code="job_needed",
        )
    if job.state not in (*Job.UNFINISHED_STATES, Job.State.DEAD):
        raise Conflict(gettext("this job has ended"), code="job_ended")
    if not _end_job(job, Job.State.CANCELLED, now, error=why):
        raise Conflict(gettext("the job went on meanwhile: try again"), code="job_changed")


def list_due_spaces(now: datetime, most: int = 500) -> list[tuple[UUID, UUID]]:
    """(tenant, space) of every space with work that is due, over all tenants."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT tenant_id, space_id FROM memoryhub_due_spaces(%s, %s)", [now, most])
        return list(cursor.fetchall())


# Planning steps that gather: one waiting job a topic, whatever is said until it runs.


def plan_topic_step(
    space: Space,
    step: Job.Step,
    topic: str,
    due: datetime,
    *,
    last_seq: int,
    payload: Mapping[str, object] | None = None,
    put_off: bool = False,
) -> None:
    """Plan the step for `topic`, unless it waits already; `put_off` moves the waiting one to `due`.

    A job that was given up stays as it is and does not stand in the way of the next.
    """
    waiting = Job.objects.filter(
        space=space,
        step=step,
        state__in=Job.WAITING_STATES,
        dedupe_key__startswith=f"{step}:{topic}:",
    )
    moved = waiting.update(run_after=due) if put_off else waiting.count()
    if not moved:
        plan_step(space, step, f"{topic}:{last_seq}", due, payload=payload, seqs=(0, last_seq))
