"""By the clock: fading, warming up, merging names, ages, and what is kept for a time (§12.1).

A space is swept in the hour after it was spoken in, and again when something of it is due: an
idle space costs nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta

from memoryhub.pipeline import (
    digesting,
    erasing,
    expiring,
    measuring,
    merging,
    placing,
    promoting,
    queue,
    reembedding,
)
from memoryhub.pipeline.following import Derived
from memoryhub.pipeline.models import Job
from memoryhub.policies.schema import Policy
from memoryhub.policies.services import Effective, policy_of
from memoryhub.tenants.models import Space
from memoryhub.tenants.scope import tenant_scope
from notes import retention
from notes.forgetting import hides
from notes.models import EvolutionEvent
from notes.recording import ChangeSet

HOUR = timedelta(hours=1)

# What is done in a sweep: called with nothing open, so each opens its own scope, and may ask
# models outside it. Says when it wants the next sweep, None: not before something is said.
# Swept twice, nothing more may change: a sweep that failed half-way is run again whole.
Task = Callable[[Space, Policy, datetime], datetime | None]
TASKS: list[Task] = [
    digesting.renew_stale,
    placing.warm_up,
    erasing.erase_outlived,
    promoting.sweep,
    reembedding.sweep,
    merging.sweep,
    expiring.sweep,
    measuring.sweep,
]


def run(job: Job, now: datetime) -> None:
    """Do every task, and plan the next sweep if one is wanted. Raises LeaseLost, EngineError."""
    with tenant_scope(job.tenant_id):
        space = Space.objects.get(id=job.space_id)
        effective = policy_of(space)
    wishes = [task(space, effective.policy, now) for task in TASKS]
    with tenant_scope(job.tenant_id):
        queue.hold(job)
        faded, woken = _fade(job, space, effective, now)
        wishes.append(retention.next_date(space, now) if hides(effective.policy.forget) else None)
        plan(space, min((at for at in wishes if at is not None), default=None), now)
        settings = effective.policy.forget.model_dump()
        queue.finish(job, {"faded": faded, "woken": woken, "forget": settings}, now)


def schedule(due: Derived) -> None:
    """Give what was derived its date of forgetting, and plan the hour's sweep."""
    if not wanted(due.policy) and not expiring.is_due(due.space, due.now):
        return
    retention.set_dates(due.space, due.policy.forget)
    plan(due.space, due.now, due.now)


def wanted(policy: Policy) -> bool:
    """Whether this policy leaves anything to do by the clock."""
    ages = policy.retention.max_age_days is not None
    return hides(policy.forget) or policy.segments.enabled or policy.graph.enabled or ages


def plan(space: Space, wish: datetime | None, now: datetime) -> None:
    """A sweep at the full hour after `wish`, at most one an hour; none without a wish."""
    if wish is None:
        return
    at = _hour_after(max(wish, now))
    queue.plan_step(space, Job.Step.SWEEP, "D", f"{at:%Y-%m-%dT%H}", at)


def _hour_after(at: datetime) -> datetime:
    hour = at.astimezone(UTC).replace(minute=0, second=0, microsecond=0)
    return hour + HOUR


def _fade(job: Job, space: Space, effective: Effective, now: datetime) -> tuple[int, int]:
    """(faded, came back). Dates are reckoned anew when the policy's curve has changed."""
    forget = effective.policy.forget
    if not hides(forget):
        return 0, 0
    before = _last_settings(job)
    retention.set_dates(space, forget, anew=before not in (None, forget.model_dump()))
    changes = ChangeSet(
        space,
        EvolutionEvent.Kind.FORGET,
        "pipeline",
        now,
        reason=f"faded by the curve, mode {forget.mode}",
        job_id=job.id,
        trigger="sweep",
        policy_version=effective.version,
    )
    counts = retention.settle(space, forget, now, changes)
    changes.save()
    return counts


def _last_settings(job: Job) -> object:
    """The curve that the last sweep reckoned by."""
    done = Job.objects.filter(space_id=job.space_id, step=Job.Step.SWEEP, state=Job.State.DONE)
    last = done.order_by("-finished_at").first()
    return last.result.get("forget") if last else None
