"""The write side's entrance: what was said goes in, a job comes out.

What is for a model to read waits until nothing has been said for a while, or until it fills a
question, so that one question reads several exchanges. Rules have nothing to gather for: the local
engine reads at once. Meanwhile the short-term memory serves what is not read yet (I10).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db import transaction
from django.db.models import Min
from django.utils import timezone
from django.utils.translation import gettext as _

from memoryhub.dialogues.messages import Message
from memoryhub.dialogues.models import Session, Turn
from memoryhub.dialogues.services import AppendedTurns, append_turns
from memoryhub.errors import NotFound, QueueFull
from memoryhub.metrics.counters import TURNS
from memoryhub.pipeline.jobs import queue, runner
from memoryhub.pipeline.jobs.runner import run_space
from memoryhub.pipeline.models import Job
from memoryhub.pipeline.naming import write_subject_name
from memoryhub.pipeline.steps.episodes import windows
from memoryhub.pipeline.tasks import ring_worker
from memoryhub.policies.schema import DerivePolicy
from memoryhub.policies.services import load_effective_policy
from memoryhub.tenants.models import Space, Tenant
from memoryhub.tenants.scope import tenant_scope
from memoryhub.tenants.services import ensure_space
from notes.models import Page
from notes.topics.segments import form_pages

__all__ = [
    "IngestRequest",
    "IngestResult",
    "cancel_job",
    "ingest_messages",
    "retry_job",
    "run_space",
    "wait_for_job",
]

WAIT_SECONDS = 30.0
# About ten seconds of reading by the local engine.
MAX_WAIT_CHARACTERS = 50_000


@dataclass(frozen=True, slots=True)
class IngestRequest:
    """Messages about a subject. Without a session's name they join the last unnamed one.

    `subject_name`: what the subject is called from now on, where that is told.
    `terms`: what is laid down for what will be read from them (`notes.facts.terms`).
    `despite_pause`: the person themselves wants them kept, also while the space is paused.
    `follows_window`: a window that they go into is warned of and flushed; not where an agent's turn
    looks at it anyway.
    """

    subject: str
    messages: Sequence[Message]
    session: str = ""
    agent: str = ""
    channel: str = ""
    terms: Mapping[str, Any] = field(default_factory=dict)
    despite_pause: bool = False
    follows_window: bool = True
    subject_name: str | None = None


@dataclass(frozen=True, slots=True)
class IngestResult:
    """`job` is None when every message had been delivered before and is derived already."""

    space: Space
    session: Session
    turns: list[Turn]
    new: list[Turn]
    job: Job | None


def append_messages(space: Space, request: IngestRequest, now: datetime) -> AppendedTurns:
    """Store what of it was not delivered before. Call inside the tenant's scope."""
    return append_turns(
        space,
        request.messages,
        received=now,
        session_id=request.session,
        agent=request.agent,
        channel=request.channel,
        terms=request.terms,
        despite_pause=request.despite_pause,
    )


def ingest_messages(
    tenant_id: UUID, request: IngestRequest, now: datetime | None = None
) -> IngestResult:
    """Store turns, pages and a job in one transaction, then ring. No model is called (spec §12.1).

    `now` is the time of receipt where it is not the present: a replay's clock.
    """
    now = now or timezone.now()
    with tenant_scope(tenant_id):
        space = ensure_space(tenant_id, request.subject)
        if request.subject_name is not None:
            write_subject_name(space, request.subject_name)
        appended = append_messages(space, request, now)
        if not appended.new:
            job = _find_earlier_job(space, appended.turns)
        else:
            _check_waiting_jobs()
            form_pages(appended.session, appended.new)
            job = _plan_derivation(space, appended.new, now)
            ring_on_commit(tenant_id, space.id, max(0.0, (job.run_after - now).total_seconds()))
        kept = windows.find_kept_window(appended.session) if appended.new else None
    if kept and request.follows_window:
        windows.follow_append(*kept, now)
    TURNS.inc(len(appended.new))
    return IngestResult(space, appended.session, appended.turns, appended.new, job)


def _check_waiting_jobs() -> None:
    """Raises QueueFull where a tenant has brought more than can be read soon."""
    most = settings.MAX_WAITING_JOBS
    if (
        most
        and Job.objects.filter(state__in=Job.UNFINISHED_STATES).order_by()[:most].count() >= most
    ):
        raise QueueFull(_("Too much of this tenant's waits to be read: try again later."))


def ring_on_commit(tenant_id: UUID, space_id: UUID, after: float = 0.0) -> None:
    """Robust: what is committed is answered for, whatever becomes of the doorbell."""

    def doorbell() -> None:
        ring_worker(tenant_id, space_id, *([after] if after else []))

    transaction.on_commit(doorbell, robust=True)


def _plan_derivation(space: Space, new: list[Turn], now: datetime) -> Job:
    """The job that reads the new turns, at once or when more has gathered."""
    how = _find_debounce(space)
    wait = how.debounce_seconds if how else 0.0
    job = queue.enqueue_derivation(space, new[0].seq, new[-1].seq, now, wait=wait)
    if how:
        _debounce_jobs(job, how, now)
    return job


def _find_debounce(space: Space) -> DerivePolicy | None:
    """How the space's dialogue is gathered; None when it is read at once."""
    if space.tenant.engine != Tenant.Engine.LLM:
        return None
    derive = load_effective_policy(space).policy.derive
    return derive if derive.debounce_seconds else None


def _debounce_jobs(job: Job, how: DerivePolicy, now: datetime) -> None:
    """What waits before this job is read now if it fills a question, else waits for silence again.

    Call once the job's turns have their pages: an exchange is whole when another has begun.
    """
    waiting = queue.query_gathering_jobs(job, now)
    first = waiting.aggregate(first=Min("first_seq"))["first"]
    if first is None:
        return
    exchanges = Page.objects.filter(space_id=job.space_id, last_seq__gte=first).count()
    is_full = exchanges > how.batch_exchanges
    waiting.update(run_after=now if is_full else now + timedelta(seconds=how.debounce_seconds))


def _find_earlier_job(space: Space, turns: list[Turn]) -> Job | None:
    """A repeated delivery is told of the job it made the first time."""
    last = max(turn.seq for turn in turns)
    derivations = Job.objects.filter(space=space, step=Job.Step.DERIVE)
    job: Job | None = derivations.filter(first_seq__lte=last, last_seq__gte=last).first()
    return job


def wait_for_job(tenant_id: UUID, job: Job, seconds: float = WAIT_SECONDS) -> Job:
    """Help the job along from a request, and wait for its end or the time's."""
    with tenant_scope(tenant_id):
        queue.hasten_derivations(job, timezone.now())
    return runner.run_until_done(tenant_id, job, seconds, most_characters=MAX_WAIT_CHARACTERS)


def cancel_job(job_id: UUID, actor: str, reason: str = "") -> None:
    """Have a step left undone; messages that it was to read stay, unread, and `retry_job` takes it
    back. Call inside the tenant's scope. Raises NotFound, Conflict."""
    job = Job.objects.filter(id=job_id).first()
    if job is None:
        raise NotFound(_("There is no such job."))
    why = f"Cancelled by {actor}: {reason}" if reason else f"Cancelled by {actor}"
    queue.cancel_job(job, why, timezone.now())
    # What waited behind it may be due.
    ring_on_commit(job.tenant_id, job.space_id)


def retry_job(job_id: UUID) -> Job:
    """Give a job that failed or was cancelled another round. Call inside the tenant's scope.
    Raises Conflict."""
    job = queue.revive_job(job_id, timezone.now())
    ring_on_commit(job.tenant_id, job.space_id)
    return job
