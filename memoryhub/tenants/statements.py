"""Statements that every question runs: PostgreSQL plans them once a connection, not every time.

Django puts the values into the text, so that each statement is parsed and planned anew; in a small
space that is a third of what PostgreSQL does for a search.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.db import connection
from django.db.backends.postgresql.base import ServerBindingCursor
from django.db.backends.utils import CursorDebugWrapper, CursorWrapper


class _Logged(CursorDebugWrapper):
    """Logs the statement as it is written: of what is prepared psycopg keeps no text."""

    def execute(self, sql: Any, params: Any = None) -> Any:
        with self.debug_sql(sql, params):
            return CursorWrapper.execute(self, sql, params)


@contextmanager
def prepared() -> Iterator[CursorWrapper]:
    """A cursor whose statements are kept, with one plan whatever the values are: not for those
    whose best index depends on a value. Call inside a scope, which asks for that plan.

    A value's type has to show in the statement where PostgreSQL can't tell (`%s::timestamptz`).
    """
    raw = ServerBindingCursor(connection.connection)  # type: ignore[call-arg]  # the stubs name no psycopg 3
    wrapper = _Logged if connection.queries_logged else CursorWrapper
    with wrapper(raw, connection) as cursor:
        yield cursor
