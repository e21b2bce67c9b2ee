"""Celery tasks: take ids, call a service."""

from __future__ import annotations

from uuid import UUID

import psycopg
import structlog
from celery import shared_task
from django.utils import timezone
from kombu.exceptions import KombuError

from memoryhub.pipeline import queue, runner

log = structlog.get_logger()


@shared_task
def work(tenant_id: str, space_id: str) -> None:
    """Run what is due in a space."""
    runner.run_space(UUID(tenant_id), UUID(space_id))


@shared_task
def sweep() -> None:
    """Ring for every space that waits: lost messages, retries, workers that died.

    Without a broker nobody hears it, so the work is done here, one space after the other.
    """
    for tenant_id, space_id in queue.due_spaces(timezone.now()):
        if not ring(tenant_id, space_id):
            runner.run_space(tenant_id, space_id)


def ring(tenant_id: UUID, space_id: UUID, after: float = 0.0) -> bool:
    """Tell a worker, to come in `after` seconds. False when the broker is gone, which is only a
    delay: see `sweep`."""
    try:
        work.apply_async((str(tenant_id), str(space_id)), countdown=after or None)
    except (KombuError, OSError, psycopg.Error) as error:
        log.warning("broker.unreachable", error=str(error))
        return False
    return True
