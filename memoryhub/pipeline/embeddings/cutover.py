"""What people decide about an embedding migration: one function a decision (E17).

They open their own scopes, lock the migration, and raise Conflict where it is in another state.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.db import IntegrityError, connection, transaction
from django.utils.translation import gettext as _

from memoryhub.errors import Conflict, InvalidInput, NotFound
from memoryhub.inference.selection import embed_or_none, find_embedder
from memoryhub.pipeline.embeddings import reembed
from memoryhub.pipeline.ingest.services import ring_on_commit
from memoryhub.pipeline.models import EmbeddingMigration, Job
from memoryhub.tenants.models import Space
from memoryhub.tenants.scope import tenant_scope

State = EmbeddingMigration.State


def begin_migration(
    space: Space, new: str, actor: str, now: datetime, *, flips: bool = False
) -> EmbeddingMigration:
    """Have the vectors of another embedder made beside those there are.

    `flips`: change over with the last one; else the migration waits to be compared and cut over.
    Raises InvalidInput for an embedder there is none of, Conflict while another one is under way.
    """
    with tenant_scope(space.tenant_id):
        space.refresh_from_db(fields=["embedding_model"])
        if not space.embedding_model:
            raise Conflict(_("nothing is embedded here yet"), code="migration_state")
        if new == space.embedding_model:
            raise Conflict(_("it is searched by %(new)s already") % {"new": new}, code="no_change")
        if not new or embed_or_none(lambda: find_embedder(new)) is None:
            raise InvalidInput(
                _("there is no embedder %(new)s here") % {"new": repr(new)}, field="to"
            )
        try:
            with transaction.atomic():
                made = reembed.create_migration(space, new, actor, now, flips=flips)
        except IntegrityError as error:
            raise Conflict(_("a migration of this space is under way"), code="under_way") from error
        ring_on_commit(space.tenant_id, space.id)
    return made


def pause_migration(migration: EmbeddingMigration, now: datetime) -> None:
    """No further memory is embedded until it is resumed; turns are read and found as ever."""
    with _lock_migration(migration, (State.FILLING, State.FILLED)) as row:
        reembed.set_state(row, State.PAUSED, now)


def resume_migration(migration: EmbeddingMigration, now: datetime) -> None:
    """Go on where it stopped: after a pause, or after its job was given up."""
    with _lock_migration(migration, (State.PAUSED, State.FILLING)) as row:
        if row.state == State.FILLING and reembed.is_under_way(row) and not row.error:
            raise Conflict(_("it is under way"), code="under_way")
        reembed.set_state(row, State.FILLING, now)
        _plan_job_now(row, now)


def cancel_migration(migration: EmbeddingMigration, now: datetime) -> int:
    """The new vectors go, the old ones never left. Returns how many went."""
    with _lock_migration(migration, EmbeddingMigration.OPEN_STATES) as row:
        reembed.set_state(row, State.CANCELLED, now)
        return reembed.drop_vectors(_lock_space(row), row.new)


def cut_over_migration(migration: EmbeddingMigration, now: datetime) -> None:
    """Search by the new vectors as soon as the last one is written: at once, where none is
    missing. In one transaction either way."""
    with _lock_migration(migration, (State.FILLED, State.FILLING)) as row:
        row.flips = True
        row.save(update_fields=["flips"])
        space = _lock_space(row)
        if row.state == State.FILLED and not reembed.count_missing(space, row.new):
            reembed.switch_space_model(row, space, row.new, State.LIVE, now)
        else:
            reembed.set_state(row, State.FILLING, now)
            _plan_job_now(row, now)
        ring_on_commit(row.tenant_id, row.space_id)


def force_cut_over(migration: EmbeddingMigration, now: datetime) -> None:
    """Search by the new vectors at once: what has none yet is found by its words until it does."""
    with _lock_migration(migration, EmbeddingMigration.OPEN_STATES) as row:
        space = _lock_space(row)
        reembed.switch_space_model(row, space, row.new, State.LIVE, now)
        reembed.plan_migration_job(row, now, to=row.new)
        ring_on_commit(row.tenant_id, row.space_id)


def roll_back_migration(migration: EmbeddingMigration, now: datetime) -> None:
    """Search by the old vectors again, at once. What came or changed since the cutover is found
    by its words until it has a vector of the old embedder too.

    Raises Conflict where the old vectors were dropped or the old embedder is gone.
    """
    with _lock_migration(migration, (State.LIVE,)) as row:
        space = _lock_space(row)
        if space.embedding_model != row.new:
            raise Conflict(_("the space has moved on since"), code="migration_state")
        if embed_or_none(lambda: find_embedder(row.old)) is None:
            raise Conflict(
                _("the embedder %(old)s is gone") % {"old": row.old}, code="embedder_gone"
            )
        reembed.switch_space_model(row, space, row.old, State.BACK, now)
        reembed.plan_migration_job(row, now, to=row.old)
        ring_on_commit(row.tenant_id, row.space_id)


def drop_unused_vectors(migration: EmbeddingMigration, now: datetime) -> int:
    """The vectors that are not searched any more go; there is no way back then. How many went.

    After a cutover these are the old ones, after a roll-back the new ones.
    """
    with _lock_migration(migration, (State.LIVE, State.BACK)) as row:
        space = _lock_space(row)
        unused = row.old if row.state == State.LIVE else row.new
        if space.embedding_model == unused:
            raise Conflict(_("the space is searched by these vectors"), code="migration_state")
        reembed.set_state(row, State.DONE, now)
        return reembed.drop_vectors(space, unused)


def get_migration(space: Space, migration_id: UUID | None = None) -> EmbeddingMigration:
    """The space's last migration, or this one. Call inside the scope. Raises NotFound."""
    rows = EmbeddingMigration.objects.filter(space=space)
    found: EmbeddingMigration | None = (
        rows.filter(id=migration_id) if migration_id else rows
    ).first()
    if found is None:
        raise NotFound(_("there is no migration of this space"))
    return found


@dataclass(frozen=True, slots=True)
class VectorStorage:
    """Vectors of one model in a space: how many, of what length, in bytes."""

    model: str
    entries: int
    vectors: int
    dimension: int
    size: int

    @property
    def waiting(self) -> int:
        """Entries without a vector yet."""
        return self.entries - self.vectors


_VECTOR_STORAGE_SQL = """
SELECT model, count(*), count(embedding), coalesce(max(vector_dims(embedding)), 0),
       coalesce(sum(pg_column_size(embedding)), 0)
FROM notes_indexentry WHERE tenant_id = %s AND space_id = %s GROUP BY model ORDER BY model
"""


def list_vector_storage(space: Space) -> list[VectorStorage]:
    """Call inside the tenant's scope."""
    with connection.cursor() as cursor:
        cursor.execute(_VECTOR_STORAGE_SQL, [space.tenant_id, space.id])
        return [
            VectorStorage(name, *(int(n) for n in counts)) for name, *counts in cursor.fetchall()
        ]


@contextmanager
def _lock_migration(
    migration: EmbeddingMigration, states: Collection[str]
) -> Iterator[EmbeddingMigration]:
    with tenant_scope(migration.tenant_id):
        row = EmbeddingMigration.objects.select_for_update().get(id=migration.id)
        if row.state not in states:
            raise Conflict(
                _("the migration is in another state: %(state)s")
                % {"state": row.get_state_display().lower()},
                code="migration_state",
            )
        yield row


def _lock_space(row: EmbeddingMigration) -> Space:
    space: Space = Space.objects.select_for_update().get(id=row.space_id)
    return space


def _plan_job_now(row: EmbeddingMigration, now: datetime) -> None:
    """A job due now; one that waits to be tried again need not wait any longer."""
    waiting = reembed.query_migration_jobs(row).filter(state__in=Job.WAITING_STATES)
    if not waiting.update(state="queued", tries=0, run_after=now):
        reembed.plan_migration_job(row, now)
    ring_on_commit(row.tenant_id, row.space_id)
