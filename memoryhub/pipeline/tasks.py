"""Celery tasks: take ids, call a service."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from time import monotonic
from uuid import UUID

from celery import shared_task
from django.conf import settings
from django.utils import timezone

from memoryhub.background.doorbell import ring_task
from memoryhub.declarations import load_declarations
from memoryhub.pipeline.jobs import queue, runner
from memoryhub.pipeline.jobs.turns import SpaceTurns

# A message that nobody took up in this time is rung for again.
RING_SECONDS = 60.0
_turns = SpaceTurns(settings.WORKER_THREADS)
_rung: dict[tuple[UUID, UUID], float] = {}
_is_silenced: ContextVar[bool] = ContextVar("unheard", default=False)


@shared_task
def run_space_jobs(tenant_id: str, space_id: str) -> None:
    """Run what is due in a space, and in others that wait for this thread."""
    _rung.pop((UUID(tenant_id), UUID(space_id)), None)
    _turns.run(UUID(tenant_id), UUID(space_id), runner.run_next_job)


@shared_task
def ring_due_spaces() -> None:
    """Ring for every space that waits and is not known of: lost messages, retries, workers that
    died.

    Without a broker nobody hears it, so the work is done here, one space after the other.
    """
    for tenant_id, space_id in queue.list_due_spaces(timezone.now()):
        if _turns.is_known(tenant_id, space_id) or _was_rung(tenant_id, space_id):
            continue
        if not ring_worker(tenant_id, space_id):
            runner.run_space(tenant_id, space_id)
    for app in load_declarations().values():
        for sweep in app.hub_sweeps:
            sweep()


def _was_rung(tenant_id: UUID, space_id: UUID) -> bool:
    """Whether a sweep of this process rang for the space a moment ago; if not, it is about to."""
    now = monotonic()
    for key in [key for key, at in _rung.items() if now - at >= RING_SECONDS]:
        _rung.pop(key, None)
    return _rung.setdefault((tenant_id, space_id), now) != now


@contextmanager
def silence_doorbell() -> Iterator[None]:
    """Nobody is rung for in here: the work is done by whoever plans it, on a clock of its own."""
    token = _is_silenced.set(True)
    try:
        yield
    finally:
        _is_silenced.reset(token)


def ring_worker(tenant_id: UUID, space_id: UUID, after: float = 0.0) -> bool:
    """Tell a worker, to come in `after` seconds. False when the broker is gone, which is only a
    delay: see `sweep`."""
    return _is_silenced.get() or ring_task(run_space_jobs.name, tenant_id, space_id, after=after)
