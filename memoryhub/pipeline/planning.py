"""Planning steps that gather: one waiting job a topic, whatever is said until it runs."""

from __future__ import annotations

from datetime import datetime

from memoryhub.pipeline import queue
from memoryhub.pipeline.models import Job
from memoryhub.tenants.models import Space

WAITING = (Job.State.QUEUED, Job.State.RETRY)


def gather(
    space: Space,
    step: Job.Step,
    lane: str,
    topic: str,
    due: datetime,
    *,
    last_seq: int,
    payload: dict[str, object] | None = None,
    put_off: bool = False,
) -> None:
    """Plan the step for `topic`, unless it waits already; `put_off` moves the waiting one to `due`.

    A job that was given up stays as it is and does not stand in the way of the next.
    """
    waiting = Job.objects.filter(
        space=space, step=step, state__in=WAITING, dedupe_key__startswith=f"{step}:{topic}:"
    )
    moved = waiting.update(run_after=due) if put_off else waiting.count()
    if not moved:
        key = f"{topic}:{last_seq}"
        queue.plan_step(space, step, lane, key, due, payload=payload, last_seq=last_seq)
