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
    """Ring for every space that waits: lost messages, retries, workers that died."""
    for tenant_id, space_id in queue.due_spaces(timezone.now()):
        ring(tenant_id, space_id)


def ring(tenant_id: UUID, space_id: UUID) -> None:
    """Tell a worker. A broker that is gone is only a delay: the sweeper rings again."""
    try:
        work.delay(str(tenant_id), str(space_id))
    except (KombuError, OSError, psycopg.Error) as error:
        log.warning("broker.unreachable", error=str(error))
