"""Imports over HTTP and in the console: asked for, tried or carried out, at once or by a worker.

The row is the truth and the broker a doorbell. A worker holds a run by a lease; one that died is
followed by another, which begins anew: what was taken in is there already.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

import structlog
from django.db import connection, transaction
from django.db.models import F, Q
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from memoryhub.background.doorbell import ring_task
from memoryhub.errors import Conflict, InvalidInput, MemoryHubError
from memoryhub.importers import storage
from memoryhub.importers.execute import ImportRequest, MisreadFile, import_file, parse_kinds
from memoryhub.importers.models import ImportFile, ImportRun
from memoryhub.importers.report import ImportReport
from memoryhub.importers.sources import get_source
from memoryhub.languages import use_stored_language
from memoryhub.pipeline.jobs.queue import LeaseLost
from memoryhub.tenants.models import Space
from memoryhub.tenants.scope import tenant_scope
from memoryhub.tenants.services import clean_subject

log = structlog.get_logger()
State = ImportRun.State
# Of larger ones the work is left to a worker: a request is not to wait so long.
AT_ONCE_TRIED, AT_ONCE = 4 * 1024 * 1024, 128 * 1024
LEASE_TIME = timedelta(minutes=5)
MOST_TRIES = 3
# A file that was only tried is kept so long, to be taken in without being sent again.
KEPT_FILE_TIME = timedelta(hours=24)
MOST_KEPT_FILES = 5  # a tenant


@dataclass(frozen=True, slots=True)
class ImportUpload:
    """What is to be brought in. `space`: the only one that may be written to."""

    source: str
    name: str
    chunks: Iterable[bytes]
    actor: str
    subject: str = ""
    only: Collection[str] = ()
    dry_run: bool = False
    space: Space | None = None


def start_import(tenant_id: UUID, sent: ImportUpload, now: datetime) -> ImportRun:
    """Keep the file, and carry the import out, or leave it to a worker. Opens its own scopes.

    Raises InvalidInput and TooLarge for what can be told at once; the run itself tells the rest.
    """
    asked = _clean_choice(sent.source, sent.only, sent.subject, sent.space)
    delete_old_files(tenant_id, now)
    file = storage.store_file(tenant_id, sent.name, sent.chunks, now)
    return _start_run(file, sent.actor, now, dry_run=sent.dry_run, **asked)


def _clean_choice(
    source: str, only: Collection[str], subject: str, space: Space | None
) -> dict[str, Any]:
    """How a file is to be read, as columns of a run. Raises InvalidInput."""
    return {
        "source": get_source(source).name,
        "only": sorted(parse_kinds(only)),
        "subject": space.subject if space else clean_subject(subject) if subject else "",
        "space": space,
    }


def try_file_again(
    tried: ImportRun,
    actor: str,
    now: datetime,
    *,
    source: str,
    only: Collection[str] = (),
    subject: str = "",
) -> ImportRun:
    """Try a kept file in another way. Opens its own scopes.

    Raises Conflict where the file is not kept any more, InvalidInput as `start_import` does.
    """
    with tenant_scope(tried.tenant_id):
        asked = _clean_choice(source, only, subject, tried.space)
    return _start_run(_get_kept_file(tried), actor, now, dry_run=True, **asked)


def import_tried_file(tried: ImportRun, actor: str, now: datetime) -> ImportRun:
    """Take in the file that was tried. Raises Conflict where it is not kept any more."""
    if not tried.dry_run or tried.state != State.DONE:
        raise Conflict(_("only what was tried can be taken in"), code="import_state")
    file = _get_kept_file(tried)
    asked = {name: getattr(tried, name) for name in ("source", "subject", "space_id", "only")}
    return _start_run(file, actor, now, **asked)


def find_kept_file(run: ImportRun) -> ImportFile | None:
    """The run's file, if it is still there. Opens its own scope."""
    if run.file_id is None:
        return None
    with tenant_scope(run.tenant_id):
        file: ImportFile | None = ImportFile.objects.filter(id=run.file_id).first()
    return file


def _get_kept_file(run: ImportRun) -> ImportFile:
    file = find_kept_file(run)
    if file is None:
        raise Conflict(_("the file is not kept any more: send it again"), code="import_file_gone")
    return file


def _start_run(file: ImportFile, actor: str, now: datetime, **asked: Any) -> ImportRun:
    about = {"tenant_id": file.tenant_id, "file_name": file.name, "size": file.size}
    run = ImportRun(file=file, actor=actor[:120], created_at=now, **about, **asked)
    at_once = run.size <= (AT_ONCE_TRIED if run.dry_run else AT_ONCE)
    with tenant_scope(run.tenant_id):
        run.save(force_insert=True)
        if not at_once:
            transaction.on_commit(lambda: ring_worker(run.tenant_id, run.id), robust=True)
    if at_once:
        with use_stored_language():  # as a worker does it
            work_on_run(run.tenant_id, run.id)
        with tenant_scope(run.tenant_id):
            run.refresh_from_db()
    return run


def ring_worker(tenant_id: UUID, run_id: UUID) -> None:
    """Tell a worker. Without a broker the run waits for the sweep."""
    ring_task("memoryhub.importers.tasks.carry_out_import", tenant_id, run_id)


def ring_for_waiting_runs() -> None:
    """Of a sweep: what was not heard, and what a dead worker left."""
    with connection.cursor() as cursor:
        statement = "SELECT tenant_id, run_id FROM memoryhub_waiting_imports(%s)"
        cursor.execute(statement, [timezone.now()])
        waiting = cursor.fetchall()
    for tenant_id, run_id in waiting:
        ring_worker(tenant_id, run_id)


def work_on_run(tenant_id: UUID, run_id: UUID) -> bool:
    """Carry out the run. False when another worker has it, or it is over."""
    run = _claim_run(tenant_id, run_id, timezone.now())
    if run is None:
        return False
    try:
        _execute_run(run)
    except Exception as error:
        # Whatever went wrong is kept on the run and shown; only the process's end escapes.
        if not isinstance(error, MemoryHubError):
            log.exception("import.failed", run=str(run.id))
        misread = isinstance(error, MisreadFile)
        _finish_run(run, State.FAILED, error=_format_error(error), keeps_file=misread)
    return True


def _claim_run(tenant_id: UUID, run_id: UUID, now: datetime) -> ImportRun | None:
    """Lease the run, if nobody else has."""
    unleased = Q(lease_until=None) | Q(lease_until__lte=now)
    free = Q(state=State.QUEUED) | (Q(state=State.RUNNING) & unleased)
    claim = {"state": State.RUNNING, "attempts": F("attempts") + 1, "lease_until": now + LEASE_TIME}
    with tenant_scope(tenant_id):
        if not ImportRun.objects.filter(free, id=run_id).update(**claim):
            return None
        run: ImportRun = ImportRun.objects.get(id=run_id)
    if run.attempts > MOST_TRIES:
        _finish_run(run, State.FAILED, error=gettext_noop("its worker died every time"))
        return None
    return run


def _execute_run(run: ImportRun) -> None:
    file = find_kept_file(run)
    if file is None:
        raise InvalidInput(_("the file is not kept any more: send it again"), field="file")
    wanted = ImportRequest(
        source=get_source(run.source),
        open_file=lambda: storage.open_file(file),
        file=run.file_name,
        actor=run.actor,
        subject=run.subject,
        only=parse_kinds(run.only),
        dry_run=run.dry_run,
    )
    report = import_file(run.tenant_id, wanted, timezone.now(), _build_progress_reporter(run))
    _finish_run(run, State.DONE, report=report, keeps_file=True)


def _build_progress_reporter(run: ImportRun) -> Callable[[int, int], None]:
    """Says how far it is, and that somebody is at it; a few times a second at most."""
    last = timezone.now() - LEASE_TIME

    def report_progress(done: int, total: int) -> None:
        nonlocal last
        now = timezone.now()
        if now - last < timedelta(seconds=0.5):
            return
        last = now
        with tenant_scope(run.tenant_id):
            rows = ImportRun.objects.filter(id=run.id, attempts=run.attempts)
            if not rows.update(done=done, total=total, lease_until=now + LEASE_TIME):
                raise LeaseLost("another worker took this import over")

    return report_progress


def _format_error(error: Exception) -> str:
    if isinstance(error, MemoryHubError):
        return f"{error.field}: {error.message}" if error.field else error.message
    return f"{type(error).__name__}: {error}"


def _finish_run(
    run: ImportRun,
    state: ImportRun.State,
    *,
    report: ImportReport | None = None,
    error: str = "",
    keeps_file: bool = False,
) -> None:
    """`keeps_file`: what was only tried may still be taken in, or be tried in another way; of
    everything else the file is dropped."""
    told = {"total": report.total, "done": report.total} if report else {}
    with tenant_scope(run.tenant_id):
        ImportRun.objects.filter(id=run.id, attempts=run.attempts).update(
            state=state,
            report=report.to_dict() if report else {},
            error=error[:2000],
            finished_at=timezone.now(),
            lease_until=None,
            **told,
        )
        if run.file_id and not (run.dry_run and keeps_file):
            ImportFile.objects.filter(id=run.file_id).delete()


def delete_old_files(tenant_id: UUID, now: datetime) -> None:
    """Files that were tried and not taken in: after a day, or when there are newer ones. Opens
    its own scope."""
    with tenant_scope(tenant_id):
        active = ImportRun.objects.filter(state__in=ImportRun.ACTIVE_STATES)
        idle = ImportFile.objects.exclude(id__in=active.exclude(file=None).values("file_id"))
        newest = list(idle.order_by("-created_at").values_list("id", flat=True)[:MOST_KEPT_FILES])
        idle.filter(Q(created_at__lt=now - KEPT_FILE_TIME) | ~Q(id__in=newest)).delete()
