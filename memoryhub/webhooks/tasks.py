"""Celery tasks of webhooks: take ids, call a service."""

from __future__ import annotations

from uuid import UUID

from celery import shared_task

from memoryhub.webhooks import dispatch, outbox


@shared_task
def deliver(tenant_id: str, webhook_id: str) -> None:
    """Send what is due to a webhook; what is left over is rung for again."""
    ids = UUID(tenant_id), UUID(webhook_id)
    if dispatch.send_due_deliveries(*ids) == dispatch.MOST_AT_ONCE:
        outbox.ring_worker(*ids)
