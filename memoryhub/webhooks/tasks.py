"""Celery tasks of webhooks: take ids, call a service."""

from __future__ import annotations

from uuid import UUID

import psycopg
import structlog
from celery import shared_task
from kombu.exceptions import KombuError

from memoryhub.webhooks import dispatch

log = structlog.get_logger()


@shared_task
def deliver(tenant_id: str, webhook_id: str) -> None:
    """Send what is due to a webhook; what is left over is rung for again."""
    ids = UUID(tenant_id), UUID(webhook_id)
    if dispatch.send_due_deliveries(*ids) == dispatch.MOST_AT_ONCE:
        ring_worker(*ids)


def ring_worker(tenant_id: UUID, webhook_id: UUID) -> bool:
    """Tell a worker. False when the broker is gone, which is only a delay: see `sweep`."""
    try:
        deliver.apply_async((str(tenant_id), str(webhook_id)))
    except (KombuError, OSError, psycopg.Error) as error:
        log.warning("broker.unreachable", error=str(error))
        return False
    return True
