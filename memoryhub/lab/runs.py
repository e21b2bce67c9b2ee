"""Every change to a run of the lab. Each opens its own scope: runs are watched while they go on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from threading import Event
from typing import Any
from uuid import UUID

from django.utils import timezone
from django.utils.translation import gettext_noop as _

from memoryhub.errors import MemoryHubError, NotFound
from memoryhub.lab.locks import LOCKS
from memoryhub.lab.models import LabDerivation, LabOutcome, LabRun
from memoryhub.lab.reports import report_of
from memoryhub.lab.throwaway import new_slug
from memoryhub.tenants.models import Tenant
from memoryhub.tenants.scope import tenant_scope

Answered = set[tuple[str, str, int]]


# Set when this process is to end: what a worker carries out is put off for another one.
CLOSING = Event()


class PutOff(MemoryHubError):
    """The worker is to end: another one goes on with the run."""

    code = "run_put_off"


class Stopped(MemoryHubError):
    """Somebody asked that the run end."""

    code = "run_stopped"


def begin(
    owner: Tenant,
    *,
    settings: Mapping[str, Any],
    dataset: Mapping[str, Any],
    systems: Sequence[Mapping[str, Any]],
    environment: Mapping[str, Any],
    total: int,
    **more: Any,
) -> LabRun:
    now = timezone.now()
    run = LabRun(
        tenant=owner,
        settings=dict(settings),
        dataset=dict(dataset),
        systems=[dict(system) for system in systems],
        environment=dict(environment),
        total=total,
        **more,
        created_at=now,
        updated_at=now,
    )
    with tenant_scope(owner.id):
        run.save(force_insert=True)
    return run


def found(owner: Tenant, run_id: str) -> LabRun:
    """By its id, or the beginning of it. Raises NotFound, also for another tenant's."""
    with tenant_scope(owner.id):
        ids = LabRun.objects.filter(imported=False).values_list("id", flat=True)
        named = [each for each in ids if str(each).startswith(run_id.lower())]
        if len(named) != 1 or not run_id:
            raise NotFound(f"there is no run {run_id!r} of {owner.slug}", field="resume")
        run: LabRun = LabRun.objects.get(id=named[0])
    return run


def resume(run: LabRun) -> None:
    """Say that it goes on. Raises Stopped when somebody asked meanwhile that it does not."""
    wanted(run)
    _update(run, state=LabRun.State.RUNNING, error="", report=None, finished_at=None)


def unstop(run: LabRun) -> None:
    """What somebody asked earlier no longer holds."""
    _update(run, stopping=False)


def wanted(run: LabRun) -> None:
    """Raises Stopped once somebody asked that it end, PutOff when its worker is to end."""
    if run.file and CLOSING.is_set():
        raise PutOff("its worker is to end")
    with tenant_scope(run.tenant_id):
        row = LabRun.objects.filter(id=run.id, stopping=True).only("error").first()
    if row is not None:
        raise Stopped(row.error)


def at(run: LabRun, stage: str) -> None:
    """What is being done now."""
    _update(run, stage=stage[:200])


def answered(run: LabRun) -> Answered:
    """(system, dialogue, number) of what need not be asked again."""
    with tenant_scope(run.tenant_id):
        rows = LabOutcome.objects.filter(run=run).values_list("system", "dialogue", "number")
        return set(rows)


def keep(run: LabRun, outcome: LabOutcome, system: str, dialogue: str, number: int) -> None:
    """Store one outcome of the run and count it, in one transaction."""
    outcome.run, outcome.tenant_id = run, run.tenant_id
    outcome.system, outcome.dialogue, outcome.number = system, dialogue, number
    with tenant_scope(run.tenant_id):
        outcome.save(force_insert=True)
        run.done += 1
        LabRun.objects.filter(id=run.id).update(done=run.done, updated_at=timezone.now())


def derivation(run: LabRun, signature: str, dialogue: str) -> LabDerivation:
    """Where the dialogue is derived by this write policy; begun if it was not."""
    with tenant_scope(run.tenant_id):
        row, _ = LabDerivation.objects.get_or_create(
            run=run,
            signature=signature,
            dialogue=dialogue,
            defaults={"tenant_id": run.tenant_id, "slug": new_slug()},
        )
    return row


def derived(row: LabDerivation, **values: Any) -> None:
    for name, value in values.items():
        setattr(row, name, value)
    with tenant_scope(row.tenant_id):
        row.save(update_fields=list(values))


def slugs(run: LabRun) -> set[str]:
    """Of the throw-away tenants it may still want."""
    with tenant_scope(run.tenant_id):
        return set(LabDerivation.objects.filter(run=run).values_list("slug", flat=True))


def finish(run: LabRun) -> None:
    """With its report."""
    run.state, run.stage, run.finished_at = LabRun.State.DONE, "", timezone.now()
    with tenant_scope(run.tenant_id):
        made = report_of(run)
    _update(run, state=run.state, stage="", finished_at=run.finished_at, report=made)


def stop(run: LabRun, state: LabRun.State, error: str) -> None:
    """Interrupted or failed: it can be resumed."""
    _update(run, state=state, stage="", error=error[:2000])


def put_off(run: LabRun) -> None:
    """It waits for another worker."""
    _update(run, state=LabRun.State.QUEUED, stage="")


def note_dead(owner: Tenant) -> None:
    """Runs whose process is gone say so: nobody had the time to."""
    with tenant_scope(owner.id):
        # A worker goes on with those of the console by itself.
        running = list(LabRun.objects.filter(state=LabRun.State.RUNNING, file=""))
    for run in running:
        if LOCKS.take(lock_of(run.id)):
            LOCKS.give(lock_of(run.id))
            stop(run, LabRun.State.INTERRUPTED, _("its process was killed"))


def lock_of(run_id: UUID) -> str:
    return f"run {run_id}"


def delete(run: LabRun) -> None:
    """With its outcomes."""
    with tenant_scope(run.tenant_id):
        LabOutcome.objects.filter(run=run).delete()
        LabDerivation.objects.filter(run=run).delete()
        LabRun.objects.filter(id=run.id).delete()


def _update(run: LabRun, **values: Any) -> None:
    for name, value in values.items():
        setattr(run, name, value)
    with tenant_scope(run.tenant_id):
        LabRun.objects.filter(id=run.id).update(**values, updated_at=timezone.now())
