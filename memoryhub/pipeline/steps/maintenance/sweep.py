"""By the clock: fading, warming up, merging names, ages, and what is kept for a time (spec §12.1).

A space is swept in the hour after it was spoken in, and again when something of it is due: an
idle space costs nothing.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from memoryhub.declarations import SpaceSweep, load_declarations
from memoryhub.pipeline.erasure import expire
from memoryhub.pipeline.jobs import queue
from memoryhub.pipeline.jobs.step import JobResult, Step
from memoryhub.pipeline.models import Job, Lane
from memoryhub.pipeline.steps.context import DerivedDialogue, StepContext, load_context
from memoryhub.policies.schema import Policy
from memoryhub.tenants.models import Space
from notes.history.change_set import ChangeSet
from notes.models import EvolutionEvent
from notes.retention import decay
from notes.retention.curve import is_hiding_enabled

HOUR = timedelta(hours=1)


def list_space_sweeps() -> list[SpaceSweep]:
    """What the apps have done in a sweep, in their order."""
    return [sweep for app in load_declarations().values() for sweep in app.space_sweeps]


class SweepStep(Step[StepContext, list[datetime | None]]):
    """Do every task that an app declared, let fade, and plan the next sweep if one is wanted.

    A task is no phase: it reads, asks and writes by itself while the step asks.
    """

    name = Job.Step.SWEEP
    lane = Lane.TIDYING

    def read(self) -> StepContext:
        return load_context(self.job, self.now)

    def ask(self, work: StepContext) -> list[datetime | None]:
        """When each task wants the next sweep."""
        return [task(work.space, work.policy, self.now) for task in list_space_sweeps()]

    def write(self, work: StepContext, wishes: list[datetime | None]) -> JobResult:
        faded, woken = _fade_memories(work)
        settings = work.policy.forget.model_dump()
        return {"faded": faded, "woken": woken, "forget": settings}

    def plan(self, work: StepContext, wishes: list[datetime | None]) -> None:
        if is_hiding_enabled(work.policy.forget):
            wishes = [*wishes, decay.find_next_fade_date(work.space, self.now)]
        wish = min((at for at in wishes if at is not None), default=None)
        plan_sweep(work.space, wish, self.now)


def schedule(due: DerivedDialogue) -> None:
    """Give what was derived its date of forgetting, and plan the hour's sweep."""
    if not is_sweep_wanted(due.policy) and not expire.has_expired_fingerprints(due.space, due.now):
        return
    decay.set_forget_dates(due.space, due.policy.forget)
    plan_sweep(due.space, due.now, due.now)


def is_sweep_wanted(policy: Policy) -> bool:
    """Whether this policy leaves anything to do by the clock."""
    limits = policy.retention
    ages = limits.max_age_days is not None or limits.turn_days is not None
    return (
        is_hiding_enabled(policy.forget) or policy.segments.enabled or policy.graph.enabled or ages
    )


def plan_sweep(space: Space, wish: datetime | None, now: datetime) -> None:
    """A sweep at the full hour after `wish`, at most one an hour; none without a wish."""
    if wish is None:
        return
    hour = max(wish, now).astimezone(UTC).replace(minute=0, second=0, microsecond=0)
    at = hour + HOUR
    queue.plan_step(space, Job.Step.SWEEP, f"{at:%Y-%m-%dT%H}", at)


def _fade_memories(at: StepContext) -> tuple[int, int]:
    """(faded, came back). Dates are reckoned anew when the policy's curve has changed."""
    job, space, now, forget = at.job, at.space, at.now, at.policy.forget
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
        policy_version=at.effective.version,
    )
    counts = decay.update_visibility(space, forget, now, changes)
    changes.save()
    return counts


def _find_last_curve(job: Job) -> object:
    """The curve that the last sweep reckoned by."""
    done = Job.objects.filter(space_id=job.space_id, step=Job.Step.SWEEP, state=Job.State.DONE)
    last = done.order_by("-finished_at").first()
    return last.result.get("forget") if last else None
