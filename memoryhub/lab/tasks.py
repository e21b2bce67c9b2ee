"""Celery tasks of the lab: take ids, call a service."""

from __future__ import annotations

from uuid import UUID

from celery import shared_task

from memoryhub.lab import background


@shared_task
def carry_out(tenant_id: str, run_id: str) -> None:
    """Run it, then have the next one heard."""
    if background.work(UUID(tenant_id), UUID(run_id)):
        background.ring_for_the_next()
