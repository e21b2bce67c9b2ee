"""By the clock: fading, warming up, merging names, ages, and what is kept for a time (spec §12.1).

A space is swept in the hour after it was spoken in, and again when something of it is due: an
idle space costs nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta

from memoryhub.pipeline.embeddings import reembed
from memoryhub.pipeline.erasure import erase_targets, expire
from memoryhub.pipeline.jobs import queue
from memoryhub.pipeline.models import Job
from memoryhub.pipeline.steps import promotion
from memoryhub.pipeline.steps.derived import DerivedDialogue
from memoryhub.pipeline.steps.episodes import write_digests
from memoryhub.pipeline.steps.maintenance import merge_entities, quality_readings
from memoryhub.pipeline.steps.topics import placement
from memoryhub.policies.schema import Policy
from memoryhub.policies.services import EffectivePolicy, load_effective_policy
from memoryhub.tenants.models import Space
from memoryhub.tenants.scope import tenant_scope
from notes.history.change_set import ChangeSet
from notes.models import EvolutionEvent
from notes.retention import decay
from notes.retention.curve import is_hiding_enabled

HOUR = timedelta(hours=1)

# What is done in a sweep: called with nothing open, so each opens its own scope, and may ask
# models outside it. Says when it wants the next sweep, None: not before something is said.
# Swept twice, nothing more may change: a sweep that failed half-way is run again whole.
SweepTask = Callable[[Space, Policy, datetime], datetime | None]
SWEEP_TASKS: list[SweepTask] = [
    write_digests.plan_renewal_if_stale,
    placement.revive_visited_segments,
    erase_targets.erase_outlived_facts,
    promotion.refresh_by_clock,
    reembed.start_migration_by_clock,
    merge_entities.merge_duplicate_entities,
    expire.delete_expired,
    quality_readings.measure_if_changed,
]


def run(job: Job, now: datetime) -> None:
    """Do every task, and plan the next sweep if one is wanted. Raises LeaseLost, EngineError."""
    with tenant_scope(job.tenant_id):
        space = Space.objects.get(id=job.space_id)
        effective = load_effective_policy(space)
    wishes = [task(space, effective.policy, now) for task in SWEEP_TASKS]
    with tenant_scope(job.tenant_id):
        queue.lock_job(job)
        faded, woken = _fade_memories(job, space, effective, now)
        wishes.append(
            decay.find_next_fade_date(space, now)
            if is_hiding_enabled(effective.policy.forget)
            else None
        )
        plan_sweep(space, min((at for at in wishes if at is not None), default=None), now)
        settings = effective.policy.forget.model_dump()
        queue.finish_job(job, {"faded": faded, "woken": woken, "forget": settings}, now)


def schedule(due: DerivedDialogue) -> None:
    """Give what was derived its date of forgetting, and plan the hour's sweep."""
    if not is_sweep_wanted(due.policy) and not expire.has_expired_fingerprints(due.space, due.now):
        return
    decay.set_forget_dates(due.space, due.policy.forget)
    plan_sweep(due.space, due.now, due.now)


def is_sweep_wanted(policy: Policy) -> bool:
    """Whether this policy leaves anything to do by the clock."""
    ages = policy.retention.max_age_days is not None
    return (
        is_hiding_enabled(policy.forget) or policy.segments.enabled or policy.graph.enabled or ages
    )


def plan_sweep(space: Space, wish: datetime | None, now: datetime) -> None:
    """A sweep at the full hour after `wish`, at most one an hour; none without a wish."""
    if wish is None:
        return
    at = _compute_next_hour(max(wish, now))
    queue.plan_step(space, Job.Step.SWEEP, "D", f"{at:%Y-%m-%dT%H}", at)


def _compute_next_hour(at: datetime) -> datetime:
    hour = at.astimezone(UTC).replace(minute=0, second=0, microsecond=0)
    return hour + HOUR


def _fade_memories(
    job: Job, space: Space, effective: EffectivePolicy, now: datetime
) -> tuple[int, int]:
    """(faded, came back). Dates are reckoned anew when the policy's curve has changed."""
    forget = effective.policy.forget
    if not is_hiding_enabled(forget):
        return 0, 0
    before = _find_last_curve(job)
    decay.set_forget_dates(space, forget, anew=before not in (None, forget.model_dump()))
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
    counts = decay.update_visibility(space, forget, now, changes)
    changes.save()
    return counts


def _find_last_curve(job: Job) -> object:
    """The curve that the last sweep reckoned by."""
    done = Job.objects.filter(space_id=job.space_id, step=Job.Step.SWEEP, state=Job.State.DONE)
    last = done.order_by("-finished_at").first()
    return last.result.get("forget") if last else None
