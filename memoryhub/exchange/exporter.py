"""Writing a space, or all of a tenant's, as a file: row by row, as of one moment."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from typing import IO, Any
from uuid import UUID

from django.db import connection, transaction
from django.db.models import QuerySet
from django.utils.translation import gettext as _

from memoryhub.dialogues.models import Turn
from memoryhub.errors import NotFound
from memoryhub.exchange import vectors
from memoryhub.exchange.columns import render_value
from memoryhub.exchange.file_format import LineWriter
from memoryhub.exchange.tables import SPACE_ROW, SPACE_TABLES, TENANT_TABLES, ExportTable
from memoryhub.tenants.models import Space, Tenant
from memoryhub.tenants.scope import tenant_scope
from notes.models import Revision
from personas.models import CoreBlock

ROWS_IN_MEMORY = 1_000  # rows in memory
EditRow = Callable[[dict[str, Any]], dict[str, Any]]


def export_space(
    tenant_id: UUID, space_id: UUID, out: IO[bytes], now: datetime, *, embeddings: bool = False
) -> Mapping[str, int]:
    """Everything of a space. Opens its own scope; nobody's writes are waited for or held up.

    `embeddings`: also the vectors it is searched by; else whoever imports it makes them anew.
    Returns how many rows of each kind the file has. Raises NotFound.
    """
    with _open_snapshot(tenant_id):
        space = Space.objects.filter(id=space_id).first()
        if space is None:
            raise NotFound(_("there is no such space"))
        writer = LineWriter(out)
        about = _describe_spaces([space], now, embeddings=embeddings)
        writer.write_header("space", _count_rows([space], embeddings=embeddings), **about)
        _write_space(writer, space, _hide_shared_block_changes(space), embeddings=embeddings)
        writer.write_end()
    return writer.counts


def export_tenant(
    tenant_id: UUID, out: IO[bytes], now: datetime, *, embeddings: bool = False
) -> Mapping[str, int]:
    """Every space of a tenant, then what is of no space: its policy, shared blocks, and what is
    left of erasures. Opens its own scope. Returns how many rows of each kind the file has."""
    with _open_snapshot(tenant_id):
        spaces = Space.objects.order_by("subject")
        writer = LineWriter(out)
        counts = _count_rows(spaces, embeddings=embeddings)
        for kind in TENANT_TABLES.values():
            counts[kind.name] += kind.select_tenant_rows().count()
        counts["tenant"] = 1
        about = _describe_spaces(spaces, now, embeddings=embeddings)
        writer.write_header("tenant", counts, **about)
        for space in spaces:
            _write_space(writer, space, {}, embeddings=embeddings)
        tenant = Tenant.objects.get(id=tenant_id)
        told = {"name": tenant.name, "slug": tenant.slug, "engine": tenant.engine}
        writer.write_row("tenant", told)
        for kind in TENANT_TABLES.values():
            _write_rows(writer, kind, kind.select_tenant_rows())
        writer.write_end()
    return writer.counts


@contextmanager
def _open_snapshot(tenant_id: UUID) -> Iterator[None]:
    """The tenant's scope in a transaction that sees one moment, however long it reads: what is
    erased meanwhile is in all of the file or in nothing of it."""
    outermost = not connection.in_atomic_block
    with transaction.atomic():
        if outermost:
            with connection.cursor() as cursor:
                cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")
        with tenant_scope(tenant_id):
            yield


def _describe_spaces(spaces: Any, now: datetime, *, embeddings: bool) -> dict[str, Any]:
    """What else the header says; `embedding_models` are those whose vectors spaces are searched
    by, so that an importing hub can look for them before it begins."""
    models = sorted({space.embedding_model for space in spaces} - {""})
    return {"made_at": render_value(now), "embeddings": embeddings, "embedding_models": models}


def _count_rows(spaces: Any, *, embeddings: bool) -> Counter[str]:
    counts: Counter[str] = Counter()
    for space in spaces:
        counts[SPACE_ROW] += 1
        for kind in SPACE_TABLES.values():
            counts[kind.name] += kind.select_rows(space).count()
        if embeddings:
            counts[vectors.VECTOR_ROW] += vectors.select_entries(space).count()
    return +counts


_SPACE_COLUMNS = (
    *(
        "id",
        "subject",
        "name",
        "former_names",
        "timezone",
        "speakers",
        "next_seq",
        "embedding_model",
    ),
    *("created_at", "last_activity_at", "paused_at", "paused_by"),
)


def _write_space(
    writer: LineWriter, space: Space, edits: dict[str, EditRow], *, embeddings: bool
) -> None:
    own = {name: render_value(getattr(space, name)) for name in _SPACE_COLUMNS}
    writer.write_row(SPACE_ROW, own)
    edits = {"turn": _reset_failed_turn, **edits}
    for kind in SPACE_TABLES.values():
        _write_rows(writer, kind, kind.select_rows(space), edits.get(kind.name))
    if embeddings:
        for told in vectors.render_vectors(space):
            writer.write_row(vectors.VECTOR_ROW, told)


def _write_rows(
    writer: LineWriter, kind: ExportTable, rows: QuerySet[Any], edit: EditRow | None = None
) -> None:
    names = [column.name for column in kind.columns]
    for values in rows.values_list(*names).iterator(chunk_size=ROWS_IN_MEMORY):
        told = {name: render_value(value) for name, value in zip(names, values, strict=True)}
        writer.write_row(kind.name, edit(told) if edit else told)


def _reset_failed_turn(turn: dict[str, Any]) -> dict[str, Any]:
    """Jobs do not travel: what could not be read here is to be read where it comes to."""
    return turn | {"state": Turn.State.PENDING} if turn["state"] == Turn.State.FAILED else turn


def _hide_shared_block_changes(space: Space) -> dict[str, EditRow]:
    """What was changed from this space of blocks that are the tenant's is not its own: that it
    was is told, and no word of it. As after an erasure, it can't be undone then."""
    shared = CoreBlock.objects.filter(space=None).values("id")
    changed = Revision.objects.filter(space=space, row_type="coreblock", row_id__in=shared)
    found = list(changed.values_list("id", "event_id"))
    ids, events = {str(row) for row, _ in found}, {str(event) for _, event in found}

    def revision(told: dict[str, Any]) -> dict[str, Any]:
        return told | {"before": None, "after": None} if told["id"] in ids else told

    def event(told: dict[str, Any]) -> dict[str, Any]:
        return told | {"is_purged": True, "reason": ""} if told["id"] in events else told

    return {"revision": revision, "evolutionevent": event} if ids else {}
