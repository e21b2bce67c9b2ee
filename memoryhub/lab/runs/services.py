"""Every change to a run of the lab. Each opens its own scope: runs are watched while they go on."""

from __future__ import annotations

from threading import Event
from typing import Any
from uuid import UUID

from django.utils import timezone
from django.utils.translation import gettext_noop as _

from memoryhub.errors import MemoryHubError, NotFound
from memoryhub.lab.locks import LOCKS
from memoryhub.lab.models import LabDerivation, LabOutcome, LabRun
from memoryhub.lab.reports.build import load_report
from memoryhub.lab.throwaway.tenants import build_tenant_slug
from memoryhub.tenants.models import Tenant
from memoryhub.tenants.scope import tenant_scope

# Set when this process is to end: what a worker carries out is put off for another one.
WORKER_IS_ENDING = Event()


class RunPostponed(MemoryHubError):
    """The worker is to end: another one goes on with the run."""

    code = "run_put_off"


class RunStopped(MemoryHubError):
    """Somebody asked that the run end."""

    code = "run_stopped"


def get_run(owner: Tenant, run_id: str) -> LabRun:
    """By its id, or the beginning of it. Raises NotFound, also for another tenant's."""
    with tenant_scope(owner.id):
        ids = LabRun.objects.filter(imported=False).values_list("id", flat=True)
        named = [each for each in ids if str(each).startswith(run_id.lower())]
        if len(named) != 1 or not run_id:
            raise NotFound(f"there is no run {run_id!r} of {owner.slug}", field="resume")
        run: LabRun = LabRun.objects.get(id=named[0])
    return run


def mark_run_running(run: LabRun) -> None:
    """Say that it goes on. Raises Stopped when somebody asked meanwhile that it does not."""
    check_not_stopped(run)
    update_run(run, state=LabRun.State.RUNNING, error="", report=None, finished_at=None)


def check_not_stopped(run: LabRun) -> None:
    """Raises Stopped once somebody asked that it end, PutOff when its worker is to end."""
    if run.file and WORKER_IS_ENDING.is_set():
        raise RunPostponed("its worker is to end")
    with tenant_scope(run.tenant_id):
        row = LabRun.objects.filter(id=run.id, stopping=True).only("error").first()
    if row is not None:
        raise RunStopped(row.error)


def load_answered_keys(run: LabRun) -> set[tuple[str, str, int]]:
    """(system, dialogue, number) of what need not be asked again."""
    with tenant_scope(run.tenant_id):
        rows = LabOutcome.objects.filter(run=run)
        return set(rows.values_list("system", "dialogue", "number"))


def save_outcome(run: LabRun, outcome: LabOutcome, system: str, dialogue: str, number: int) -> None:
    """Store one outcome of the run and count it, in one transaction."""
    outcome.run, outcome.tenant_id = run, run.tenant_id
    outcome.system, outcome.dialogue, outcome.number = system, dialogue, number
    with tenant_scope(run.tenant_id):
        outcome.save(force_insert=True)
        run.done += 1
        LabRun.objects.filter(id=run.id).update(done=run.done, updated_at=timezone.now())


def get_or_create_derivation(run: LabRun, signature: str, dialogue: str) -> LabDerivation:
    """Where the dialogue is derived by this write policy; begun if it was not."""
    with tenant_scope(run.tenant_id):
        row, _ = LabDerivation.objects.get_or_create(
            run=run,
            signature=signature,
            dialogue=dialogue,
            defaults={"tenant_id": run.tenant_id, "slug": build_tenant_slug()},
        )
    return row


def update_derivation(row: LabDerivation, **values: Any) -> None:
    for name, value in values.items():
        setattr(row, name, value)
    with tenant_scope(row.tenant_id):
        row.save(update_fields=list(values))


def list_tenant_slugs(run: LabRun) -> set[str]:
    """Of the throw-away tenants it may still want."""
    with tenant_scope(run.tenant_id):
        return set(LabDerivation.objects.filter(run=run).values_list("slug", flat=True))


def finish_run(run: LabRun) -> None:
    """With its report."""
    run.state, run.stage, run.finished_at = LabRun.State.DONE, "", timezone.now()
    with tenant_scope(run.tenant_id):
        made = load_report(run)
    update_run(run, state=run.state, stage="", finished_at=run.finished_at, report=made)


def interrupt_run(run: LabRun, state: LabRun.State, error: str) -> None:
    """Interrupted or failed: it can be resumed."""
    update_run(run, state=state, stage="", error=error[:2000])


def mark_dead_runs(owner: Tenant) -> None:
    """Runs whose process is gone say so: nobody had the time to."""
    with tenant_scope(owner.id):
        # A worker goes on with those of the console by itself.
        running = list(LabRun.objects.filter(state=LabRun.State.RUNNING, file=""))
    for run in running:
        with LOCKS.hold(build_lock_name(run.id)) as free:
            if free:
                interrupt_run(run, LabRun.State.INTERRUPTED, _("its process was killed"))


def build_lock_name(run_id: UUID) -> str:
    return f"run {run_id}"


def delete_run(run: LabRun) -> None:
    """With its outcomes."""
    with tenant_scope(run.tenant_id):
        LabOutcome.objects.filter(run=run).delete()
        LabDerivation.objects.filter(run=run).delete()
        LabRun.objects.filter(id=run.id).delete()


def update_run(run: LabRun, **values: Any) -> None:
    for name, value in values.items():
        setattr(run, name, value)
    with tenant_scope(run.tenant_id):
        LabRun.objects.filter(id=run.id).update(**values, updated_at=timezone.now())
