"""Celery tasks of the lab: take ids, call a service."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from celery import shared_task
from celery.signals import worker_shutting_down

from memoryhub.lab.runs import background, services


@shared_task
def carry_out_run(tenant_id: str, run_id: str) -> None:
    """Run it, then have the next one heard."""
    if background.work_on_run(UUID(tenant_id), UUID(run_id)):
        background.ring_for_next_run()


@worker_shutting_down.connect
def postpone_runs(**kwargs: Any) -> None:
    """A run may take hours, and a worker that is to end waits for what it is at."""
    services.WORKER_IS_ENDING.set()
