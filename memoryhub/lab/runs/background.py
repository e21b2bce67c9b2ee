"""Runs that workers carry out: asked for in the console, one at a time.

As with jobs the row is the truth and the broker a doorbell. Whoever carries out a run holds its
lock, which ends with the process: a run whose worker died is gone on with at the next sweep.
"""

from __future__ import annotations

from uuid import UUID

import structlog
from django.db import connection, transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from memoryhub.background.doorbell import ring_task
from memoryhub.errors import Conflict, MemoryHubError
from memoryhub.inference import selection
from memoryhub.lab.datasets import folder
from memoryhub.lab.datasets.read import read_dataset
from memoryhub.lab.locks import LOCKS
from memoryhub.lab.models import LabRun
from memoryhub.lab.runs import services
from memoryhub.lab.runs.execute import create_planned_run, resume_run
from memoryhub.lab.runs.plan import RunOptions, plan_run
from memoryhub.tenants.models import Tenant
from memoryhub.tenants.scope import tenant_scope

log = structlog.get_logger()
# Two at once would take each other's time, and time is measured.
BACKGROUND_LOCK = "background"
State = LabRun.State


def queue_run(owner: Tenant, options: RunOptions, file: str, actor: str) -> LabRun:
    """A run that waits for a worker. Opens its own scopes.

    Raises InvalidInput for a file that is not on the shelf or can't be read, unknown presets or
    no questions; EngineError without an endpoint.
    """
    dataset = read_dataset(folder.get_file_path(file))
    plan = plan_run(options, dataset)
    run = create_planned_run(owner, plan, dataset, state=State.QUEUED, file=file, actor=actor[:120])
    ring_worker_on_commit(run)
    return run


def stop_run(run: LabRun, actor: str) -> None:
    """It ends before its next question; what it has stays. Raises Conflict when it is over."""
    error = f"stopped by {actor}"[:200]
    with tenant_scope(run.tenant_id):
        rows = LabRun.objects.filter(id=run.id)
        waiting = rows.filter(state=State.QUEUED)
        if waiting.update(state=State.INTERRUPTED, stopping=True, error=error):
            return
        if not rows.filter(state=State.RUNNING).update(stopping=True, error=error):
            raise Conflict(_("this run is over"), code="run_state")


def queue_run_again(run: LabRun) -> None:
    """Queue it again: nothing is asked twice. Raises Conflict unless it was broken off."""
    if not run.file:
        raise Conflict(_("it was begun on the command line: go on with it there"), code="run_state")
    folder.get_file_path(run.file)
    with tenant_scope(run.tenant_id):
        rows = LabRun.objects.filter(id=run.id, state__in=(State.INTERRUPTED, State.FAILED))
        now = timezone.now()
        if not rows.update(state=State.QUEUED, stopping=False, error="", updated_at=now):
            raise Conflict(_("only a run that was broken off can be resumed"), code="run_state")
        ring_worker_on_commit(run)


def ring_worker_on_commit(run: LabRun) -> None:
    transaction.on_commit(lambda: ring_worker(run.tenant_id, run.id), robust=True)


def ring_worker(tenant_id: UUID, run_id: UUID) -> None:
    """Tell a worker. Without a broker the run waits until there is one again."""
    ring_task("memoryhub.lab.tasks.carry_out_run", tenant_id, run_id)


def list_waiting_runs() -> list[tuple[UUID, UUID]]:
    """(tenant, run) of every run that a worker is to carry out, the oldest first."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT tenant_id, run_id FROM memoryhub_waiting_lab_runs()")
        return list(cursor.fetchall())


def ring_for_next_run() -> None:
    """Of a sweep: what was not heard, and what a dead worker left."""
    for tenant_id, run_id in list_waiting_runs()[:1]:
        with LOCKS.hold(BACKGROUND_LOCK) as free:
            pass
        if free:
            ring_worker(tenant_id, run_id)


def work_on_run(tenant_id: UUID, run_id: UUID) -> bool:
    """Carry out the run to its end. False when another one is under way, or it is over."""
    with LOCKS.hold(BACKGROUND_LOCK) as free:
        if not free:
            return False
        with tenant_scope(tenant_id):
            tenant = Tenant.objects.get(id=tenant_id)
            run: LabRun | None = LabRun.objects.filter(id=run_id).first()
        if run is None or not run.file or run.state not in LabRun.ACTIVE_STATES:
            return False
        _execute_run(tenant, run)
        return True


def _execute_run(tenant: Tenant, run: LabRun) -> None:
    def log_progress(line: str) -> None:
        log.info("lab.run", run=str(run.id), at=line)

    try:
        dataset = read_dataset(folder.get_file_path(run.file))
        selection.get_current_embedder().embed(["loaded before anything is timed"])
        resume_run(tenant, str(run.id), dataset, log_progress, anew=False)
    except Conflict as error:
        log_progress(error.message)  # somebody goes on with it on the command line
    except Exception as error:
        # Whatever went wrong is kept on the run and shown; only the process's end escapes.
        if not isinstance(error, MemoryHubError):
            log.exception("lab.run_failed", run=str(run.id))
        said = getattr(error, "message", f"{type(error).__name__}: {error}")
        services.interrupt_run(run, State.FAILED, said)
