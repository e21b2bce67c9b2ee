"""An approximate index (HNSW) for one large space, where an operator wants it.

Comparing exactly costs as much as a space has memories: far above 50,000 a graph finds nearly the
same in a fraction of the time. There is one for each kind, of this space, and of the model it is
searched by: of what a graph over more finds, most has to be thrown away, and what a question should
find is missed. Whoever owns the table makes it, so this is for commands, not for requests. See
docs/explanation/speed.md.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db import DatabaseError, connections
from django.db.backends.utils import CursorWrapper
from django.db.models import Count
from django.utils.translation import gettext
from psycopg import sql

from memoryhub.errors import InvalidInput, MemoryHubError
from memoryhub.tenants.models import Space
from memoryhub.tenants.scope import tenant_scope
from notes.models import IndexEntry

# From here on it pays: below it, exact search is as quick and misses nothing.
MIN_ENTRIES = 50_000
_NAME_PREFIX = "near_"
# A kind with fewer vectors than this is compared exactly.
_MIN_ENTRIES_OF_KIND = 5_000
# Links of a point, and how many are looked at when one is put in.
_LINKS, _CARE = 16, 200
# How many points a search looks at, and on until it has enough that may be seen.
SEARCH_SETTINGS: Mapping[str, str] = {
    "hnsw.ef_search": "400",
    "hnsw.iterative_scan": "relaxed_order",
    "hnsw.max_scan_tuples": "200000",
}


class NotDatabaseOwner(MemoryHubError):
    """Only whoever owns the table may."""

    status = 403
    code = "forbidden"


@dataclass(frozen=True, slots=True)
class ApproximateIndex:
    """One such index, of one kind. `space` is None once the space is gone; `valid`: its making was
    finished."""

    name: str
    space: UUID | None
    size: int
    valid: bool


def build_index_name(space: Space) -> str:
    """What the names of its indexes begin with."""
    return f"{_NAME_PREFIX}{space.id.hex}"


def build_indexes(space: Space, *, least: int = MIN_ENTRIES) -> int:
    """Make the indexes, or make them anew; writers are not kept waiting. Returns the entries in
    them.

    Raises InvalidInput for a space of fewer than `least` entries with a vector, NotOwner where the
    database's owner is not who we are.
    """
    model = space.embedding_model
    with tenant_scope(space.tenant_id):
        rows = IndexEntry.objects.filter(space=space, model=model, embedding__isnull=False)
        kinds = dict(rows.order_by().values_list("kind").annotate(count=Count("id")))
        first = rows.first()
    count = sum(kinds.values())
    if first is None or count < least:
        raise InvalidInput(
            gettext("it has %(count)s vectors: below %(least)s exact search is as quick")
            % {"count": f"{count:,}", "least": f"{least:,}"},
            field="space",
        )
    drop_indexes(space)
    large = [kind for kind, held in kinds.items() if held >= min(least, _MIN_ENTRIES_OF_KIND)]
    with _open_owner_cursor() as cursor:
        cursor.execute("SET maintenance_work_mem = '512MB'")
        for kind in large:
            cursor.execute(_build_statement(space, kind, len(first.embedding)))
        cursor.execute("RESET maintenance_work_mem")
    _set_approximate_model(space, model)
    return sum(kinds[kind] for kind in large)


# The length belongs to the index: the column has vectors of several models.
_CREATE_INDEX_SQL = """
CREATE INDEX CONCURRENTLY {name} ON notes_indexentry
USING hnsw ((embedding::halfvec({size})) halfvec_ip_ops)
WITH (m = {links}, ef_construction = {care})
WHERE space_id = {space} AND kind = {kind} AND model = {model}
"""


def _build_statement(space: Space, kind: str, size: int) -> sql.Composed:
    return sql.SQL(_CREATE_INDEX_SQL).format(
        name=sql.Identifier(f"{build_index_name(space)}_{kind}"),
        space=sql.Literal(str(space.id)),
        kind=sql.Literal(kind),
        model=sql.Literal(space.embedding_model),
        size=sql.Literal(size),
        links=sql.Literal(_LINKS),
        care=sql.Literal(_CARE),
    )


_LIST_INDEXES_SQL = """
SELECT c.relname, pg_relation_size(c.oid), i.indisvalid
FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
WHERE i.indrelid = 'notes_indexentry'::regclass AND c.relname ~ '^near_[0-9a-f]{32}(_[a-z]+)?$'
ORDER BY c.relname
"""


def drop_indexes(space: Space) -> bool:
    """Back to exact search. False if there was no such index."""
    _set_approximate_model(space, "")
    return _drop_by_name([each.name for each in list_indexes() if each.space == space.id]) > 0


def drop_orphan_indexes() -> int:
    """Drop those whose space is gone. Returns how many."""
    return _drop_by_name([each.name for each in list_indexes() if each.space is None])


def _drop_by_name(names: Sequence[str]) -> int:
    drop = sql.SQL("DROP INDEX CONCURRENTLY IF EXISTS {}")
    with _open_owner_cursor() as cursor:
        for name in names:
            cursor.execute(drop.format(sql.Identifier(name)))
    return len(names)


def list_indexes() -> list[ApproximateIndex]:
    with _open_owner_cursor() as cursor:
        cursor.execute(_LIST_INDEXES_SQL)
        found = cursor.fetchall()
        cursor.execute("SELECT id FROM tenants_space")
        spaces = {space for (space,) in cursor.fetchall()}
    places = [UUID(name.removeprefix(_NAME_PREFIX)[:32]) for name, *_ in found]
    return [
        ApproximateIndex(name, space if space in spaces else None, *rest)
        for space, (name, *rest) in zip(places, found, strict=True)
    ]


def _set_approximate_model(space: Space, model: str) -> None:
    """What searches go by: they would be right without the index as well, and slower."""
    with tenant_scope(space.tenant_id):
        Space.objects.filter(id=space.id).update(approximate_model=model)
    space.approximate_model = model


@contextmanager
def _open_owner_cursor() -> Iterator[CursorWrapper]:
    """The owner sees all tenants' rows. Outside transactions: indexes are made beside them."""
    try:
        with connections["owner"].cursor() as cursor:
            yield cursor
    except DatabaseError as error:
        if getattr(error.__cause__, "sqlstate", "") == "42501":
            raise NotDatabaseOwner(
                "only the database's owner may: set DATABASE_OWNER_URL"
            ) from error
        raise


def build_search_settings() -> tuple[str, list[Any]]:
    """The settings of a search that uses such an index, for the transaction it is in."""
    calls = ", ".join("set_config(%s, %s, true)" for _ in SEARCH_SETTINGS)
    return f"SELECT {calls}", [part for pair in SEARCH_SETTINGS.items() for part in pair]
