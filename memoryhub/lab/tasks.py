"""Celery tasks of the lab: take ids, call a service."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from celery import shared_task
from celery.signals import worker_shutting_down

from memoryhub.lab import background, runs


@shared_task
def carry_out(tenant_id: str, run_id: str) -> None:
    """Run it, then have the next one heard."""
    if background.work(UUID(tenant_id), UUID(run_id)):
        background.ring_for_the_next()


@worker_shutting_down.connect
def put_off(**kwargs: Any) -> None:
    """A run may take hours, and a worker that is to end waits for what it is at."""
    runs.CLOSING.set()
