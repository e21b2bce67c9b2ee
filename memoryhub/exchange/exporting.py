"""Writing a space, or all of a tenant's, as a file: row by row, as of one moment."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import IO, Any
from uuid import UUID

from django.db import connection, transaction
from django.db.models import QuerySet
from django.utils.translation import gettext as _

from memoryhub.dialogues.models import Turn
from memoryhub.errors import NotFound
from memoryhub.exchange import vectors
from memoryhub.exchange.columns import plain
from memoryhub.exchange.kinds import OF_SPACE, OF_TENANT, SPACE, Kind
from memoryhub.exchange.lines import Writer
from memoryhub.tenants.models import Space, Tenant
from memoryhub.tenants.scope import tenant_scope
from notes.models import Revision
from personas.models import CoreBlock

BATCH = 1_000  # rows in memory
Edit = Callable[[dict[str, Any]], dict[str, Any]]


@dataclass(frozen=True, slots=True)
class Written:
    """How many rows of each kind a file has."""

    counts: Mapping[str, int]


def write_space(
    tenant_id: UUID, space_id: UUID, out: IO[bytes], now: datetime, *, embeddings: bool = False
) -> Written:
    """Everything of a space. Opens its own scope; nobody's writes are waited for or held up.

    `embeddings`: also the vectors it is searched by; else whoever imports it makes them anew.
    Raises NotFound.
    """
    with _as_of_now(tenant_id):
        space = Space.objects.filter(id=space_id).first()
        if space is None:
            raise NotFound(_("there is no such space"))
        writer = Writer(out)
        counts = _counted([space], embeddings=embeddings)
        writer.header("space", counts, **_about([space], now, embeddings=embeddings))
        _space(writer, space, _without_shared(space), embeddings=embeddings)
        writer.end()
    return Written(writer.counts)


def write_tenant(
    tenant_id: UUID, out: IO[bytes], now: datetime, *, embeddings: bool = False
) -> Written:
    """Every space of a tenant, then what is of no space: its policy, shared blocks, and what is
    left of erasures. Opens its own scope."""
    with _as_of_now(tenant_id):
        spaces = Space.objects.order_by("subject")
        writer = Writer(out)
        counts = _counted(spaces, embeddings=embeddings)
        for kind in OF_TENANT.values():
            counts[kind.name] += kind.of_tenant().count()
        counts["tenant"] = 1
        writer.header("tenant", counts, **_about(spaces, now, embeddings=embeddings))
        for space in spaces:
            _space(writer, space, {}, embeddings=embeddings)
        tenant = Tenant.objects.get(id=tenant_id)
        told = {"name": tenant.name, "slug": tenant.slug, "engine": tenant.engine}
        writer.row("tenant", told)
        for kind in OF_TENANT.values():
            _rows(writer, kind, kind.of_tenant())
        writer.end()
    return Written(writer.counts)


@contextmanager
def _as_of_now(tenant_id: UUID) -> Iterator[None]:
    """The tenant's scope in a transaction that sees one moment, however long it reads: what is
    erased meanwhile is in all of the file or in nothing of it."""
    outermost = not connection.in_atomic_block
    with transaction.atomic():
        if outermost:
            with connection.cursor() as cursor:
                cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")
        with tenant_scope(tenant_id):
            yield


def _about(spaces: Any, now: datetime, *, embeddings: bool) -> dict[str, Any]:
    """What else the header says; `embedding_models` are those whose vectors spaces are searched
    by, so that an importing hub can look for them before it begins."""
    models = sorted({space.embedding_model for space in spaces} - {""})
    return {"made_at": plain(now), "embeddings": embeddings, "embedding_models": models}


def _counted(spaces: Any, *, embeddings: bool) -> Counter[str]:
    counts: Counter[str] = Counter()
    for space in spaces:
        counts[SPACE] += 1
        counts.update({kind.name: kind.of(space).count() for kind in OF_SPACE.values()})
        if embeddings:
            counts[vectors.KIND] += vectors.of(space).count()
    return +counts


_OF_A_SPACE = (
    "id",
    "subject",
    "name",
    "timezone",
    "speakers",
    "next_seq",
    "embedding_model",
    "created_at",
    "last_activity_at",
    "paused_at",
    "paused_by",
)


def _space(writer: Writer, space: Space, edits: dict[str, Edit], *, embeddings: bool) -> None:
    writer.row(SPACE, {name: plain(getattr(space, name)) for name in _OF_A_SPACE})
    for kind in OF_SPACE.values():
        _rows(writer, kind, kind.of(space), _EDITS | edits)
    if embeddings:
        for told in vectors.told(space):
            writer.row(vectors.KIND, told)


def _rows(
    writer: Writer, kind: Kind, rows: QuerySet[Any], edits: Mapping[str, Edit] | None = None
) -> None:
    edit = (edits or {}).get(kind.name)
    names = [column.name for column in kind.columns]
    for values in rows.values_list(*names).iterator(chunk_size=BATCH):
        told = {name: plain(value) for name, value in zip(names, values, strict=True)}
        writer.row(kind.name, edit(told) if edit else told)


def _read_anew(turn: dict[str, Any]) -> dict[str, Any]:
    """Jobs do not travel: what could not be read here is to be read where it comes to."""
    return turn | {"state": Turn.State.PENDING} if turn["state"] == Turn.State.FAILED else turn


_EDITS: dict[str, Edit] = {"turn": _read_anew}


def _without_shared(space: Space) -> dict[str, Edit]:
    """What was changed from this space of blocks that are the tenant's is not its own: that it
    was is told, and no word of it. As after an erasure, it can't be undone then."""
    shared = CoreBlock.objects.filter(space=None).values("id")
    changed = Revision.objects.filter(space=space, row_type="coreblock", row_id__in=shared)
    ids, events = set(), set()
    for row_id, event_id in changed.values_list("id", "event_id"):
        ids.add(str(row_id))
        events.add(str(event_id))

    def revision(told: dict[str, Any]) -> dict[str, Any]:
        return told | {"before": None, "after": None} if told["id"] in ids else told

    def event(told: dict[str, Any]) -> dict[str, Any]:
        return told | {"is_purged": True, "reason": ""} if told["id"] in events else told

    return {"revision": revision, "evolutionevent": event} if ids else {}
