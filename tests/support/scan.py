"""A full scan of the database: every column of every table, as text (X6)."""

from __future__ import annotations

from django.db import connection

_TABLES = """
SELECT quote_ident(table_schema), quote_ident(table_name)
FROM information_schema.tables
WHERE table_type = 'BASE TABLE' AND table_schema NOT IN ('pg_catalog', 'information_schema')
"""


def places_of(word: str) -> list[str]:
    """The tables that say `word` anywhere, seen from within the test's own transaction."""
    found = []
    with connection.cursor() as cursor:
        cursor.execute(_TABLES)
        for schema, table in cursor.fetchall():
            cursor.execute("SELECT has_table_privilege(%s, 'SELECT')", [f"{schema}.{table}"])
            if not cursor.fetchone()[0]:
                continue
            cursor.execute(
                f"SELECT count(*) FROM {schema}.{table} AS r WHERE r::text ILIKE %s",
                [f"%{word}%"],
            )
            if cursor.fetchone()[0]:
                found.append(f"{schema}.{table}")
    return found
