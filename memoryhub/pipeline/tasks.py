"""Celery tasks: take ids, call a service."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from uuid import UUID

import psycopg
import structlog
from celery import shared_task
from django.utils import timezone
from kombu.exceptions import KombuError

from memoryhub.pipeline.jobs import queue, runner

log = structlog.get_logger()
# What else a sweep rings for: a layer above adds its own when its app is ready.
EXTRA_SWEEPS: list[Callable[[], None]] = []
_is_silenced: ContextVar[bool] = ContextVar("unheard", default=False)


@shared_task
def run_space_jobs(tenant_id: str, space_id: str) -> None:
    """Run what is due in a space."""
    runner.run_space(UUID(tenant_id), UUID(space_id))


@shared_task
def ring_due_spaces() -> None:
    """Ring for every space that waits: lost messages, retries, workers that died.

    Without a broker nobody hears it, so the work is done here, one space after the other.
    """
    for tenant_id, space_id in queue.list_due_spaces(timezone.now()):
        if not ring_worker(tenant_id, space_id):
            runner.run_space(tenant_id, space_id)
    for other in EXTRA_SWEEPS:
        other()


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
    if _is_silenced.get():
        return True
    try:
        run_space_jobs.apply_async((str(tenant_id), str(space_id)), countdown=after or None)
    except (KombuError, OSError, psycopg.Error) as error:
        log.warning("broker.unreachable", error=str(error))
        return False
    return True
