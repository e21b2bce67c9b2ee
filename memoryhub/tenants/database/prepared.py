"""Statements that every question or step runs: PostgreSQL plans them once a connection.

Django puts the values into the text, so that each statement is parsed and planned anew; in a small
space that is a third of what PostgreSQL does for a search.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache, lru_cache
from typing import Any, TypeVar

from django.db import connection, models
from django.db.backends.postgresql.base import ServerBindingCursor
from django.db.backends.utils import CursorDebugWrapper, CursorWrapper
from psycopg.pq import Format

M = TypeVar("M", bound=models.Model)


class _LoggedCursor(CursorDebugWrapper):
    """Logs the statement as it is written: of what is prepared psycopg keeps no text."""

    def execute(self, sql: Any, params: Any = None) -> Any:
        with self.debug_sql(sql, params):
            return CursorWrapper.execute(self, sql, params)


@contextmanager
def open_prepared_cursor(*, binary: bool = False) -> Iterator[CursorWrapper]:
    """A cursor whose statements are kept, with one plan whatever the values are: not for those
    whose best index depends on a value. Call inside a scope, which asks for that plan.

    A value's type has to show in the statement where PostgreSQL can't tell (`%s::timestamptz`).
    `binary`: ids, numbers and times come as they are stored, so that neither side has to write
    them out and read them again; not for JSON, which models expect as text.
    """
    # As Django does for each cursor; in a scope both have been done.
    connection.close_if_health_check_failed()
    connection.ensure_connection()
    raw: Any = ServerBindingCursor(connection.connection)  # type: ignore[call-arg]  # the stubs name no psycopg 3
    raw.format = Format.BINARY if binary else Format.TEXT
    wrapper = _LoggedCursor if connection.queries_logged else CursorWrapper
    with wrapper(raw, connection) as cursor:
        yield cursor


def load_prepared_rows(
    model: type[M], condition: str, values: Sequence[Any] | Mapping[str, Any]
) -> list[M]:
    """The rows of a model that meet a condition, by a prepared statement.

    For what every question or every step reads: a queryset takes longer to put together than
    PostgreSQL takes to answer it. Nobody else's rows: the condition names the tenant. Call inside
    a scope.
    """
    statement, names, converters = _build_select(model)
    with open_prepared_cursor() as cursor:
        cursor.execute(f"{statement} WHERE {condition}", values)
        found = [list(row) for row in cursor.fetchall()]
    for row in found:
        for place, convert in converters:
            row[place] = convert(row[place], None, connection)
    return [model.from_db(connection.alias, names, row) for row in found]


def insert_rows(model: type[models.Model], values: Sequence[Mapping[str, Any]]) -> None:
    """Insert rows that are given by attribute; what a row does not give is the field's default,
    nothing that a save would fill in.

    For many rows of many columns. `bulk_create` hands over an array a column, in which psycopg
    quotes JSON a character at a time: that took longer than all the rest. Here all is one JSON
    value, read by PostgreSQL. Call inside a scope.
    """
    if not values:
        return
    fields = model._meta.concrete_fields
    made = [
        {
            str(field.column): row[field.attname] if field.attname in row else field.get_default()
            for field in fields
        }
        for row in values
    ]
    table, columns = _quote_table(model), ", ".join(_quote_column(field) for field in fields)
    _execute_with_rows(
        f"INSERT INTO {table} ({columns}) SELECT {columns} "  # noqa: S608  # the model's own names
        f"FROM json_populate_recordset(NULL::{table}, %s::json)",
        made,
    )


def update_rows(rows: Sequence[models.Model], names: Collection[str]) -> None:
    """Write these fields of rows of one model, by their names; as `insert_rows` does it.

    For many rows: `bulk_update` puts together a case for each row and field. Call inside a scope.
    """
    if not rows or not names:
        return
    model, key = type(rows[0]), rows[0]._meta.pk
    assert key is not None
    fields = [field for field in model._meta.concrete_fields if field.name in names]
    made = [{str(f.column): getattr(row, f.attname) for f in (key, *fields)} for row in rows]
    table, pk = _quote_table(model), _quote_column(key)
    values = ", ".join(f"{_quote_column(field)} = given.{_quote_column(field)}" for field in fields)
    _execute_with_rows(
        f"UPDATE {table} held SET {values} "  # noqa: S608  # the model's own names
        f"FROM json_populate_recordset(NULL::{table}, %s::json) given WHERE held.{pk} = given.{pk}",
        made,
    )


def _execute_with_rows(statement: str, made: Sequence[Mapping[str, Any]]) -> None:
    with open_prepared_cursor() as cursor:
        cursor.execute(statement, [json.dumps(made, default=str)])


def _quote_table(model: type[models.Model]) -> str:
    return connection.ops.quote_name(model._meta.db_table)


def _quote_column(field: models.Field[Any, Any]) -> str:
    return connection.ops.quote_name(str(field.column))


@lru_cache(maxsize=64)
def squeeze_statement(statement: str) -> str:
    """Without comments, and with single spaces: psycopg takes statements of more than 4,096
    characters apart anew each time. Not for one with two dashes or spaces within quotes."""
    lines = (line.partition("-- ")[0] for line in statement.splitlines())
    return " ".join(" ".join(lines).split())


@cache
def _build_select(
    model: type[models.Model],
) -> tuple[str, list[str], list[tuple[int, Callable[[Any, None, Any], Any]]]]:
    """The statement, the fields' names in its order, and by place what reads their values."""
    fields = model._meta.concrete_fields
    quote = connection.ops.quote_name
    columns = ", ".join(quote(str(field.column)) for field in fields)
    converters = [
        (place, convert)
        for place, field in enumerate(fields)
        for convert in field.get_db_converters(connection)
    ]
    statement = f"SELECT {columns} FROM {quote(model._meta.db_table)}"  # noqa: S608  # the model's own names
    return statement, [field.attname for field in fields], converters
