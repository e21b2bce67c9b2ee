"""Imports over HTTP and in the console: asked for, tried or carried out, at once or by a worker.

The row is the truth and the broker a doorbell. A worker holds a run by a lease; one that died is
followed by another, which begins anew: what was taken in is there already.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

import psycopg
import structlog
from django.db import connection, transaction
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop
from kombu.exceptions import KombuError

from memoryhub.errors import Conflict, InvalidInput, MemoryHubError
from memoryhub.importers import storage
from memoryhub.importers.loading import Wanted, kinds_of, load
from memoryhub.importers.models import ImportFile, ImportRun
from memoryhub.importers.report import Report
from memoryhub.importers.sources import source_named
from memoryhub.languages import as_kept
from memoryhub.pipeline.queue import LeaseLost
from memoryhub.tenants.models import Space
from memoryhub.tenants.scope import tenant_scope
from memoryhub.tenants.services import clean_subject

log = structlog.get_logger()
State = ImportRun.State
# Of larger ones the work is left to a worker: a request is not to wait so long.
AT_ONCE_TRIED, AT_ONCE = 4 * 1024 * 1024, 128 * 1024
LEASE = timedelta(minutes=5)
TRIES = 3
# A file that was only tried is kept so long, to be taken in without being sent again.
KEPT = timedelta(hours=24)
MOST_KEPT = 5  # a tenant


@dataclass(frozen=True, slots=True)
class Sent:
    """What is to be brought in. `space`: the only one that may be written to."""

    source: str
    name: str
    chunks: Iterable[bytes]
    actor: str
    subject: str = ""
    only: Collection[str] = ()
    dry_run: bool = False
    space: Space | None = None


def begin(tenant_id: UUID, sent: Sent, now: datetime) -> ImportRun:
    """Keep the file, and carry the import out, or leave it to a worker. Opens its own scopes.

    Raises InvalidInput and TooLarge for what can be told at once; the run itself tells the rest.
    """
    source, only = source_named(sent.source), sorted(kinds_of(sent.only))
    subject = clean_subject(sent.subject) if sent.subject else ""
    forget_old_files(tenant_id, now)
    file = storage.keep(tenant_id, sent.name, sent.chunks, now)
    run = ImportRun(
        tenant_id=tenant_id,
        source=source.name,
        file=file,
        file_name=file.name,
        size=file.size,
        subject=sent.space.subject if sent.space else subject,
        space=sent.space,
        only=only,
        dry_run=sent.dry_run,
        actor=sent.actor[:120],
        created_at=now,
    )
    return _begun(run)


def take(tried: ImportRun, actor: str, now: datetime) -> ImportRun:
    """Take in the file that was tried. Raises Conflict where it is not kept any more."""
    if not tried.dry_run or tried.state != State.DONE:
        raise Conflict(_("only what was tried can be taken in"), code="import_state")
    file = kept_file(tried)
    if file is None:
        raise Conflict(_("the file is not kept any more: send it again"), code="import_file_gone")
    run = ImportRun(
        tenant_id=tried.tenant_id,
        source=tried.source,
        file=file,
        file_name=tried.file_name,
        size=tried.size,
        subject=tried.subject,
        space_id=tried.space_id,
        only=tried.only,
        actor=actor[:120],
        created_at=now,
    )
    return _begun(run)


def kept_file(run: ImportRun) -> ImportFile | None:
    """The run's file, if it is still there. Opens its own scope."""
    if run.file_id is None:
        return None
    with tenant_scope(run.tenant_id):
        file: ImportFile | None = ImportFile.objects.filter(id=run.file_id).first()
    return file


def _begun(run: ImportRun) -> ImportRun:
    at_once = run.size <= (AT_ONCE_TRIED if run.dry_run else AT_ONCE)
    with tenant_scope(run.tenant_id):
        run.save(force_insert=True)
        if not at_once:
            transaction.on_commit(lambda: ring(run.tenant_id, run.id), robust=True)
    if at_once:
        with as_kept():  # as a worker does it
            work(run.tenant_id, run.id)
        with tenant_scope(run.tenant_id):
            run.refresh_from_db()
    return run


def ring(tenant_id: UUID, run_id: UUID) -> None:
    """Tell a worker. Without a broker the run waits for the sweep."""
    from memoryhub.importers.tasks import carry_out

    try:
        carry_out.apply_async((str(tenant_id), str(run_id)))
    except (KombuError, OSError, psycopg.Error) as error:
        log.warning("broker.unreachable", error=str(error))


def ring_for_waiting() -> None:
    """Of a sweep: what was not heard, and what a dead worker left."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT tenant_id, run_id FROM memoryhub_waiting_imports(%s)", [_now()])
        waiting = cursor.fetchall()
    for tenant_id, run_id in waiting:
        ring(tenant_id, run_id)


def _now() -> datetime:
    return timezone.now()


def work(tenant_id: UUID, run_id: UUID) -> bool:
    """Carry out the run. False when another worker has it, or it is over."""
    run = _claimed(tenant_id, run_id, _now())
    if run is None:
        return False
    try:
        _carried_out(run)
    except Exception as error:
        # Whatever went wrong is kept on the run and shown; only the process's end escapes.
        if not isinstance(error, MemoryHubError):
            log.exception("import.failed", run=str(run.id))
        _ended(run, State.FAILED, error=_told(error))
    return True


def _claimed(tenant_id: UUID, run_id: UUID, now: datetime) -> ImportRun | None:
    """Lease the run, if nobody else has."""
    with tenant_scope(tenant_id):
        run: ImportRun | None = ImportRun.objects.filter(id=run_id).first()
        if run is None or run.state not in (State.QUEUED, State.RUNNING):
            return None
        if run.state == State.RUNNING and run.lease_until and run.lease_until > now:
            return None
        rows = ImportRun.objects.filter(id=run.id, state=run.state, attempts=run.attempts)
        claim = {"state": State.RUNNING, "attempts": run.attempts + 1, "lease_until": now + LEASE}
        if rows.update(**claim) != 1:
            return None
        run.refresh_from_db()
    if run.attempts > TRIES:
        _ended(run, State.FAILED, error=gettext_noop("its worker died every time"))
        return None
    return run


def _carried_out(run: ImportRun) -> None:
    file = kept_file(run)
    if file is None:
        raise InvalidInput(_("the file is not kept any more: send it again"), field="file")
    wanted = Wanted(
        source=source_named(run.source),
        open_file=lambda: storage.opened(file),
        file=run.file_name,
        actor=run.actor,
        subject=run.subject,
        only=kinds_of(run.only),
        dry_run=run.dry_run,
    )
    report = load(run.tenant_id, wanted, _now(), _progress(run))
    _ended(run, State.DONE, report=report)


def _progress(run: ImportRun) -> Callable[[int, int], None]:
    """Says how far it is, and that somebody is at it; a few times a second at most."""
    last = _now() - LEASE

    def told(done: int, total: int) -> None:
        nonlocal last
        now = _now()
        if now - last < timedelta(seconds=0.5):
            return
        last = now
        with tenant_scope(run.tenant_id):
            rows = ImportRun.objects.filter(id=run.id, attempts=run.attempts)
            if not rows.update(done=done, total=total, lease_until=now + LEASE):
                raise LeaseLost("another worker took this import over")

    return told


def _told(error: Exception) -> str:
    if isinstance(error, MemoryHubError):
        return f"{error.field}: {error.message}" if error.field else error.message
    return f"{type(error).__name__}: {error}"


def _ended(
    run: ImportRun, state: ImportRun.State, *, report: Report | None = None, error: str = ""
) -> None:
    """What was tried may still be taken in; of everything else the file is dropped."""
    told = {"total": report.total, "done": report.total} if report else {}
    with tenant_scope(run.tenant_id):
        ImportRun.objects.filter(id=run.id, attempts=run.attempts).update(
            state=state,
            report=report.as_json() if report else {},
            error=error[:2000],
            finished_at=_now(),
            lease_until=None,
            **told,
        )
        if run.file_id and not (run.dry_run and state == State.DONE):
            ImportFile.objects.filter(id=run.file_id).delete()


def forget_old_files(tenant_id: UUID, now: datetime) -> None:
    """Files that were tried and not taken in: after a day, or when there are newer ones. Opens
    its own scope."""
    with tenant_scope(tenant_id):
        active = ImportRun.objects.filter(state__in=(State.QUEUED, State.RUNNING))
        idle = ImportFile.objects.exclude(id__in=active.exclude(file=None).values("file_id"))
        newest = list(idle.order_by("-created_at").values_list("id", flat=True)[:MOST_KEPT])
        idle.filter(Q(created_at__lt=now - KEPT) | ~Q(id__in=newest)).delete()
