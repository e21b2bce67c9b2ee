"""Celery tasks of imports: take ids, call a service."""

from __future__ import annotations

from uuid import UUID

from celery import shared_task

from memoryhub.importers import runs


@shared_task
def carry_out_import(tenant_id: str, run_id: str) -> None:
    runs.work_on_run(UUID(tenant_id), UUID(run_id))
