"""Filling the vectors of another embedder beside those a space is searched by (E17).

Jobs of the space's own queue, a few hundred memories each, so that dialogue comes first and a
worker that dies loses no more than one of them. Searches compare one model's vectors at a time:
the old one's until the space changes over, in the transaction that wrote the last new one. What
people decide about a migration is in `migrating`.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from datetime import datetime, timedelta
from time import perf_counter
from typing import Any
from uuid import UUID
from zoneinfo import ZoneInfo

import structlog
from django.db import connection
from django.db.models import F
from django.utils.translation import gettext as _

from memoryhub.errors import EngineError
from memoryhub.inference.selection import find_embedder, get_current_embedder
from memoryhub.pipeline.jobs import queue
from memoryhub.pipeline.jobs.step import JobResult, NothingToDo, Step
from memoryhub.pipeline.models import EmbeddingMigration, Job, Lane
from memoryhub.policies.schema import Policy
from memoryhub.tenants.models import Space
from memoryhub.tenants.scope import tenant_scope
from notes.history.row_kinds import rebuild_entries
from notes.index import indexer

log = structlog.get_logger()
State = EmbeddingMigration.State
MEMORIES_PER_JOB = 200  # memories a job
# How long something may be under way that was read before the space changed over.
LATE_ENTRIES_DELAY = timedelta(minutes=1)
_START_PLACE = ("", UUID(int=0))
MemoryPlace = tuple[str, UUID]


def start_due_migration(space: Space, now: datetime) -> EmbeddingMigration | None:
    """Begin to change over to the embedder in use, once; keep what is filled complete.

    None when there is nothing to do: the space is there, on its way, or was there and a person
    decided otherwise. Call inside the tenant's scope. Raises EngineError without an embedder.
    """
    model = get_current_embedder().name
    last = EmbeddingMigration.objects.filter(space=space).first()
    if last is not None and last.state in EmbeddingMigration.OPEN_STATES:
        if last.state != State.PAUSED and not is_under_way(last):
            plan_migration_job(last, now)
        return None
    if space.embedding_model in ("", model):
        return None
    if EmbeddingMigration.objects.filter(space=space, configured=model).exists():
        return None
    return create_migration(space, model, "the hub", now, flips=True)


def create_migration(
    space: Space, new: str, actor: str, now: datetime, *, flips: bool
) -> EmbeddingMigration:
    """Write the migration down and plan its first job. Call inside the tenant's scope."""
    migration = EmbeddingMigration.objects.create(
        tenant_id=space.tenant_id,
        space=space,
        old=space.embedding_model,
        new=new,
        configured=get_current_embedder().name,
        flips=flips,
        total=count_missing(space, new),
        actor=actor[:120],
        created_at=now,
        changed_at=now,
    )
    plan_migration_job(migration, now)
    return migration


def start_migration_by_clock(space: Space, policy: Policy, now: datetime) -> datetime | None:
    """Of a sweep: spaces where nobody says anything any more change over as well."""
    try:
        with tenant_scope(space.tenant_id):
            start_due_migration(space, now)
    except EngineError as error:
        log.warning("embedder.failed", error=str(error))
    return None


def query_migration_jobs(migration: EmbeddingMigration) -> Any:
    return Job.objects.filter(
        space_id=migration.space_id, step=Job.Step.EMBED, payload__migration=str(migration.id)
    )


def is_under_way(migration: EmbeddingMigration) -> bool:
    return bool(query_migration_jobs(migration).filter(state__in=Job.UNFINISHED_STATES).exists())


def plan_migration_job(migration: EmbeddingMigration, due: datetime, **payload: Any) -> None:
    """`payload`: `kind` and `after`, the last memory done; `made`, how many this round has
    embedded; `to`, where it is not the new one that is filled."""
    space = Space(id=migration.space_id, tenant_id=migration.tenant_id)
    planned = query_migration_jobs(migration).count()
    whole = {"migration": str(migration.id)} | payload
    queue.plan_step(space, Job.Step.EMBED, f"{migration.id}:{planned}", due, payload=whole)


@dataclass(frozen=True, slots=True)
class MigrationWork:
    migration: EmbeddingMigration
    to: str
    last: MemoryPlace | None  # of the next memories, None when they are the last
    entries: list[indexer.EntryDraft]
    began: float


class MigrateStep(Step[MigrationWork, indexer.Vectors | None]):
    """Embed the next memories for the job's migration."""

    name = Job.Step.EMBED
    lane = Lane.TIDYING

    def read(self) -> MigrationWork | NothingToDo:
        payload = self.job.payload
        migration = EmbeddingMigration.objects.filter(id=payload["migration"]).first()
        space = Space.objects.get(id=self.job.space_id)
        if migration is None or not _is_wanted(migration, space, self.job, self.now):
            return NothingToDo({"embedded": 0})
        to = payload.get("to", migration.new)
        last, entries = _load_next_entries(space, to, payload)
        return MigrationWork(migration, to, last, entries, perf_counter())

    def ask(self, work: MigrationWork) -> indexer.Vectors | None:
        """What fails is counted and told, and the job tried again."""
        if not work.entries:
            return None
        try:
            model = find_embedder(work.to)
            if model is None:
                said = _("the embedder %(to)s is gone") % {"to": work.to}
                raise EngineError(said, code="embedder_gone")
            return indexer.embed_entries(work.entries, model)
        except EngineError as error:
            told = {"error": str(error)[:2000], "changed_at": self.now}
            with tenant_scope(work.migration.tenant_id):
                rows = EmbeddingMigration.objects.filter(id=work.migration.id)
                rows.update(failures=F("failures") + 1, **told)
            raise

    def write(self, work: MigrationWork, vectors: indexer.Vectors | None) -> JobResult:
        space = Space.objects.select_for_update().get(id=self.job.space_id)
        indexer.write_entries(space, work.to, work.entries, vectors, beside=True)
        owners = {(entry.kind, entry.owner_id) for entry in work.entries}
        EmbeddingMigration.objects.filter(id=work.migration.id).update(
            done=F("done") + len(owners),
            seconds=F("seconds") + (perf_counter() - work.began),
            error="",
            changed_at=self.now,
        )
        return {"embedded": len(work.entries)}

    def plan(self, work: MigrationWork, vectors: indexer.Vectors | None) -> None:
        """From the last memory done; another round when this one was long, for what was said
        meanwhile; and when there is none left, it is filled."""
        payload, last = self.job.payload, work.last
        kept = {"to": payload["to"]} if "to" in payload else {}
        made = len(work.entries) + payload.get("made", 0)
        if last is not None:
            kept |= {"kind": last[0], "after": str(last[1]), "made": made}
            plan_migration_job(work.migration, self.now, **kept)
        elif "after" in payload and made:
            plan_migration_job(work.migration, self.now, **kept)
        elif not kept:
            space = Space.objects.get(id=self.job.space_id)
            _finish_filling(work.migration, space, self.now)


def _is_wanted(migration: EmbeddingMigration, space: Space, job: Job, now: datetime) -> bool:
    """Not while it is paused, nor once it was called off; afterwards only what came late."""
    if "to" in job.payload:
        return bool(job.payload["to"] == space.embedding_model)
    if migration.state not in (State.FILLING, State.FILLED):
        return False
    # It began because the hub was told to use the new embedder: not told so any more, it is moot.
    told = migration.flips and migration.configured == migration.new
    if not (told and get_current_embedder().name == migration.old):
        return True
    set_state(migration, State.CANCELLED, now)
    drop_vectors(space, migration.new)
    return False


def set_state(row: EmbeddingMigration, state: str, now: datetime) -> None:
    row.state, row.changed_at = state, now
    row.save(update_fields=["state", "changed_at"])


def _finish_filling(migration: EmbeddingMigration, space: Space, now: datetime) -> None:
    """Change over, or wait for a person to compare. Read anew: a person may have decided since."""
    row = EmbeddingMigration.objects.select_for_update().get(id=migration.id)
    if row.state not in (State.FILLING, State.FILLED):
        return
    if row.flips:
        switch_space_model(row, space, row.new, State.LIVE, now)
        return
    row.state, row.total, row.changed_at = State.FILLED, max(row.total, row.done), now
    row.save(update_fields=["state", "total", "changed_at"])


def switch_space_model(
    row: EmbeddingMigration, space: Space, to: str, state: str, now: datetime
) -> None:
    """Search by `to` from the end of this transaction on. Call with the space locked.

    A little later what was under way meanwhile is embedded as well.
    """
    Space.objects.filter(id=space.id).update(embedding_model=to)
    space.embedding_model = to
    set_state(row, state, now)
    plan_migration_job(row, now + LATE_ENTRIES_DELAY, to=to)


# What has no entry of the model, or one that waits for its vector.
_MISSING = """
FROM notes_indexentry e
WHERE e.tenant_id = %(tenant)s AND e.space_id = %(space)s AND e.model <> %(model)s
  AND NOT EXISTS (SELECT 1 FROM notes_indexentry n WHERE n.owner_id = e.owner_id
    AND n.kind = e.kind AND n.model = %(model)s AND n.embedding IS NOT NULL)
"""
_COUNT_MISSING_SQL = f"SELECT count(DISTINCT (e.kind, e.owner_id)) {_MISSING}"
_PAGE_MISSING_SQL = f"""
SELECT DISTINCT e.kind, e.owner_id {_MISSING} AND (e.kind, e.owner_id) > (%(kind)s, %(after)s)
ORDER BY e.kind, e.owner_id LIMIT %(batch)s
"""


def count_missing(space: Space, model: str) -> int:
    """How many memories have no vector of this model. Call inside the tenant's scope."""
    with connection.cursor() as cursor:
        cursor.execute(_COUNT_MISSING_SQL, _build_query_values(space, model))
        return int(cursor.fetchone()[0])


def _build_query_values(space: Space, model: str) -> dict[str, Any]:
    place = {"tenant": space.tenant_id, "space": space.id}
    return place | {"model": model, "held": space.embedding_model}


def _load_next_entries(
    space: Space, model: str, payload: dict[str, Any]
) -> tuple[MemoryPlace | None, list[indexer.EntryDraft]]:
    """(the last of the next memories, None when they are the last; their entries, made anew)."""
    place = (payload["kind"], UUID(payload["after"])) if "after" in payload else _START_PLACE
    values = {"kind": place[0], "after": place[1], "batch": MEMORIES_PER_JOB}
    values |= _build_query_values(space, model)
    with connection.cursor() as cursor:
        cursor.execute(_PAGE_MISSING_SQL, values)
        found = [(str(kind), owner) for kind, owner in cursor.fetchall()]
    owners: dict[str, set[UUID]] = defaultdict(set)
    for kind, owner in found:
        owners[kind].add(owner)
    last = found[-1] if len(found) == MEMORIES_PER_JOB else None
    return last, rebuild_entries(space, owners, ZoneInfo(space.timezone))


# Only what the model that is searched has as well: nothing stops being found.
_DROP_SQL = """
DELETE FROM notes_indexentry o
WHERE o.tenant_id = %(tenant)s AND o.space_id = %(space)s AND o.model = %(model)s
  AND EXISTS (SELECT 1 FROM notes_indexentry n WHERE n.owner_id = o.owner_id
    AND n.kind = o.kind AND n.model = %(held)s)
"""


def drop_vectors(space: Space, model: str) -> int:
    """Remove the vectors of a model that the space is not searched by. How many went."""
    with connection.cursor() as cursor:
        cursor.execute(_DROP_SQL, _build_query_values(space, model))
        return int(cursor.rowcount)
