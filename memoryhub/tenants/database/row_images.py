"""Rows as they were and as they became, of all that a transaction writes to tenants' tables.

Every table of tenants has a trigger that notes the rows which change, while the transaction asks
for it; else it costs a look at a setting. The notes are in a temporary table, which is in no
write-ahead log and ends with the transaction.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from django.db import connection, connections, transaction
from psycopg.sql import SQL, Composed, Identifier

_INSTALL_SQL = """
CREATE OR REPLACE FUNCTION memoryhub_note_row() RETURNS trigger LANGUAGE plpgsql
SET search_path = public, pg_temp AS $$
BEGIN
  INSERT INTO pg_temp.noted_rows (relation, was, became) VALUES (
    TG_TABLE_NAME,
    CASE WHEN TG_OP <> 'INSERT' THEN to_jsonb(OLD) END,
    CASE WHEN TG_OP <> 'DELETE' THEN to_jsonb(NEW) END
  );
  RETURN NULL;
END $$;
DO $$
DECLARE place regclass;
BEGIN
  FOR place IN
    SELECT c.oid FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid
    WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p')
      AND NOT c.relispartition AND a.attname = 'tenant_id' AND NOT a.attisdropped
      AND c.relname <> 'pipeline_sealederasure'
      AND NOT EXISTS (
        SELECT 1 FROM pg_trigger t WHERE t.tgrelid = c.oid AND t.tgname = 'note_row')
  LOOP
    EXECUTE format(
      'CREATE TRIGGER note_row AFTER INSERT OR UPDATE OR DELETE ON %s FOR EACH ROW '
      'WHEN (current_setting(''memoryhub.noting'', true) = ''on'') '
      'EXECUTE FUNCTION memoryhub_note_row()', place);
  END LOOP;
END $$;
"""
_BEGIN_SQL = """
CREATE TEMP TABLE noted_rows (
  at bigint GENERATED ALWAYS AS IDENTITY, relation text, was jsonb, became jsonb
) ON COMMIT DROP
"""
# Of a row that was made, what tells whose it is: its words are not needed to take it away.
_NAMING = ("id", "owner_id", "row_id", "child_id", "turn_id", "block_id")
_WHOLE = frozenset({"notes_indexentry"})  # whose rows are put back whole


@dataclass(frozen=True, slots=True)
class RowImage:
    """A row of `table`: what it was (None: not there) and what became of it (None: it went). Of
    one that was changed, the columns that were, but for tables that are put back whole."""

    table: str
    id: str
    before: dict[str, Any] | None
    after: dict[str, Any] | None

    @property
    def values(self) -> dict[str, Any]:
        return {"id": self.id, **(self.after or {}), **(self.before or {})}

    def to_json(self) -> list[Any]:
        return [self.table, self.id, self.before, self.after]

    @classmethod
    def from_json(cls, told: Sequence[Any]) -> RowImage:
        return cls(*told)


@dataclass(slots=True)
class NotedRows:
    """Filled when the noting ends."""

    images: list[RowImage] = field(default_factory=list)


def install_noting(using: str) -> None:
    """Give every table of tenants its trigger, after migrations. Another than the owner of the
    tables, who alone migrates, leaves them as they are."""
    with connections[using].cursor() as cursor:
        cursor.execute("SELECT has_schema_privilege('public', 'CREATE')")
        if cursor.fetchone() == (True,):
            cursor.execute(_INSTALL_SQL)


@contextmanager
def note_rows() -> Iterator[NotedRows]:
    """What is written meanwhile, each row once. Call inside a tenant's scope."""
    noted = NotedRows()
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(_BEGIN_SQL)
        cursor.execute("SELECT set_config('memoryhub.noting', 'on', true)")
        yield noted
        cursor.execute("SELECT set_config('memoryhub.noting', '', true)")
        cursor.execute("SELECT relation, was::text, became::text FROM noted_rows ORDER BY at")
        noted.images = _fold(cursor.fetchall())
        cursor.execute("DROP TABLE noted_rows")


def _fold(rows: Sequence[tuple[str, str | None, str | None]]) -> list[RowImage]:
    first: dict[tuple[str, str], dict[str, Any] | None] = {}
    last: dict[tuple[str, str], dict[str, Any] | None] = {}
    for table, was_text, became_text in rows:
        was = json.loads(was_text) if was_text else None
        became = json.loads(became_text) if became_text else None
        key = table, str((was or became or {})["id"])
        first.setdefault(key, was)
        last[key] = became
    images = (_build_image(*key, first[key], last[key]) for key in first)
    return [image for image in images if image is not None]


def _build_image(
    table: str, row_id: str, was: dict[str, Any] | None, became: dict[str, Any] | None
) -> RowImage | None:
    if was is None and became is None:
        return None
    if was is None and became is not None:
        named = {name: became[name] for name in _NAMING if name in became}
        return RowImage(table, row_id, None, named)
    if was is None or became is None:
        return RowImage(table, row_id, was, None)
    changed = [name for name, value in was.items() if became[name] != value]
    if not changed:
        return None
    before = was if table in _WHOLE else {name: was[name] for name in changed}
    return RowImage(table, row_id, before, {name: became[name] for name in changed})


def load_rows(table: str, ids: Sequence[str]) -> dict[str, dict[str, Any]]:
    """The rows as they are, locked."""
    if not ids:
        return {}
    query = SQL("SELECT id::text, to_jsonb(r)::text FROM {} r WHERE id = ANY(%s::{}[]) FOR UPDATE")
    with connection.cursor() as cursor:
        cursor.execute(query.format(Identifier(table), _find_type(table)), [list(ids)])
        return {row_id: json.loads(told) for row_id, told in cursor.fetchall()}


def delete_rows(table: str, ids: Sequence[str], column: str = "id") -> None:
    """Those with one of these ids in the column."""
    if not ids:
        return
    query = SQL("DELETE FROM {} WHERE {} = ANY(%s::{}[])")
    names = Identifier(table), Identifier(column), _find_type(table, column)
    with connection.cursor() as cursor:
        cursor.execute(query.format(*names), [list(ids)])


def insert_rows(table: str, rows: Sequence[Mapping[str, Any]]) -> None:
    """Each with every column that the table has."""
    if not rows:
        return
    query = SQL(
        "INSERT INTO {0} ({1}) SELECT {1} FROM jsonb_populate_recordset(NULL::{0}, %s::jsonb)"
    )
    told = json.dumps([dict(row) for row in rows])
    with connection.cursor() as cursor:
        cursor.execute(query.format(Identifier(table), _list_columns(table, rows[0])), [told])


def update_row(table: str, row_id: str, values: Mapping[str, Any]) -> None:
    """Give the row these values; the other columns stay."""
    if not values:
        return
    query = SQL(
        "UPDATE {0} SET ({1}) = (SELECT {1} FROM jsonb_populate_record(NULL::{0}, %s::jsonb)) "
        "WHERE id = %s::{2}"
    )
    names = Identifier(table), _list_columns(table, values), _find_type(table)
    with connection.cursor() as cursor:
        cursor.execute(query.format(*names), [json.dumps(dict(values)), row_id])


def _find_type(table: str, column: str = "id") -> SQL:
    """Of a column whose values are asked for as text."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT format_type(atttypid, NULL) FROM pg_attribute "
            "WHERE attrelid = %s::regclass AND attname = %s",
            [table, column],
        )
        (found,) = cursor.fetchone()
    return SQL(found)


def _list_columns(table: str, values: Mapping[str, Any]) -> Composed:
    """Those of the values that the table has and does not reckon itself."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT attname FROM pg_attribute WHERE attrelid = %s::regclass AND attnum > 0 "
            "AND NOT attisdropped AND attgenerated = ''",
            [table],
        )
        own = {name for (name,) in cursor.fetchall()}
    return SQL(", ").join(Identifier(name) for name in values if name in own)
