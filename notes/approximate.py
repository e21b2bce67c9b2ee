"""An approximate index (HNSW) for one large space, where an operator wants it.

Comparing exactly costs as much as a space has memories: above about 50,000 a graph finds nearly the
same in a fraction of the time. It is partial: of this space, and of the model it is searched by. An
index over all spaces would miss most of what a question off its topics should find. Whoever owns
the table makes it, so this is for commands, not for requests. See docs/explanation/speed.md.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db import DatabaseError, connections
from django.db.backends.utils import CursorWrapper
from psycopg import sql

from memoryhub.errors import InvalidInput, MemoryHubError
from memoryhub.tenants.models import Space
from memoryhub.tenants.scope import tenant_scope
from notes.models import IndexEntry

# From here on it pays: below it, exact search is as quick and misses nothing.
LEAST = 50_000
_NAME = "near_"
# Links of a point, and how many are looked at when one is put in.
_LINKS, _CARE = 16, 128
# How many points a search looks at, and on until it has enough of the kind that is wanted.
SEARCHED: Mapping[str, str] = {
    "hnsw.ef_search": "200",
    "hnsw.iterative_scan": "strict_order",
    "hnsw.max_scan_tuples": "200000",
}


class NotOwner(MemoryHubError):
    """Only whoever owns the table may."""

    status = 403
    code = "forbidden"


@dataclass(frozen=True, slots=True)
class Built:
    """One such index. `space` is None once the space is gone; `valid`: its making was finished."""

    name: str
    space: UUID | None
    size: int
    valid: bool


def name_of(space: Space) -> str:
    return f"{_NAME}{space.id.hex}"


def build(space: Space, *, least: int = LEAST) -> int:
    """Make the index, or make it anew; writers are not kept waiting. Returns the entries in it.

    Raises InvalidInput for a space of fewer than `least` entries with a vector, NotOwner where the
    database's owner is not who we are.
    """
    model = space.embedding_model
    with tenant_scope(space.tenant_id):
        rows = IndexEntry.objects.filter(space=space, model=model, embedding__isnull=False)
        count = rows.count()
        first = rows.first()
    if first is None or count < least:
        raise InvalidInput(
            f"it has {count:,} vectors: below {least:,} exact search is as quick", field="space"
        )
    drop(space)
    values = {"name": sql.Identifier(name_of(space)), "space": sql.Literal(str(space.id))}
    values |= {"model": sql.Literal(model), "size": sql.Literal(len(first.embedding))}
    values |= {"links": sql.Literal(_LINKS), "care": sql.Literal(_CARE)}
    with _owner() as cursor:
        cursor.execute("SET maintenance_work_mem = '512MB'")
        cursor.execute(sql.SQL(_BUILD).format(**values))
        cursor.execute("RESET maintenance_work_mem")
    _mark(space, model)
    return count


# The length belongs to the index: the column has vectors of several models.
_BUILD = """
CREATE INDEX CONCURRENTLY {name} ON notes_indexentry
USING hnsw ((embedding::halfvec({size})) halfvec_ip_ops)
WITH (m = {links}, ef_construction = {care})
WHERE space_id = {space} AND model = {model}
"""
_LISTED = """
SELECT c.relname, pg_relation_size(c.oid), i.indisvalid
FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
WHERE i.indrelid = 'notes_indexentry'::regclass AND c.relname ~ '^near_[0-9a-f]{32}$'
ORDER BY c.relname
"""


def drop(space: Space) -> bool:
    """Back to exact search. False if there was no such index."""
    _mark(space, "")
    return _dropped([name_of(space)]) > 0


def drop_lost() -> int:
    """Drop those whose space is gone. Returns how many."""
    return _dropped([each.name for each in listed() if each.space is None])


def _dropped(names: Sequence[str]) -> int:
    there = {each.name for each in listed()} & set(names)
    with _owner() as cursor:
        for name in sorted(there):
            cursor.execute(
                sql.SQL("DROP INDEX CONCURRENTLY IF EXISTS {}").format(sql.Identifier(name))
            )
    return len(there)


def listed() -> list[Built]:
    with _owner() as cursor:
        cursor.execute(_LISTED)
        found = cursor.fetchall()
        cursor.execute("SELECT id FROM tenants_space")
        spaces = {space for (space,) in cursor.fetchall()}
    return [
        Built(name, space if (space := UUID(name.removeprefix(_NAME))) in spaces else None, *rest)
        for name, *rest in found
    ]


def _mark(space: Space, model: str) -> None:
    """What searches go by: they would be right without the index as well, and slower."""
    with tenant_scope(space.tenant_id):
        Space.objects.filter(id=space.id).update(approximate_model=model)
    space.approximate_model = model


@contextmanager
def _owner() -> Iterator[CursorWrapper]:
    """The owner sees all tenants' rows. Outside transactions: indexes are made beside them."""
    try:
        with connections["owner"].cursor() as cursor:
            yield cursor
    except DatabaseError as error:
        if getattr(error.__cause__, "sqlstate", "") == "42501":
            raise NotOwner("only the database's owner may: set DATABASE_OWNER_URL") from error
        raise


def statement() -> tuple[str, list[Any]]:
    """The settings of a search that uses such an index, for the transaction it is in."""
    calls = ", ".join("set_config(%s, %s, true)" for _ in SEARCHED)
    return f"SELECT {calls}", [part for pair in SEARCHED.items() for part in pair]
