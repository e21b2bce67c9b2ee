"""A full scan of the database: every column of every table, as text (X6)."""

from __future__ import annotations

from collections.abc import Collection

from django.db import connection

_TABLES = """
SELECT quote_ident(table_schema) || '.' || quote_ident(table_name)
FROM information_schema.tables
WHERE table_type = 'BASE TABLE' AND table_schema NOT IN ('pg_catalog', 'information_schema')
  AND has_table_privilege(quote_ident(table_schema) || '.' || quote_ident(table_name), 'SELECT')
"""


def find_tables_with_word(word: str) -> list[str]:
    """The tables that say `word` anywhere, seen from within the test's own transaction."""
    return find_tables_with_words([word])


def find_tables_with_words(words: Collection[str]) -> list[str]:
    """The tables that say one of the words. One statement over all tables."""
    with connection.cursor() as cursor:
        cursor.execute(_TABLES)
        tables = [table for (table,) in cursor.fetchall()]
        looks = [
            f"(SELECT '{table}' FROM {table} AS r WHERE r::text ILIKE ANY(%(words)s) LIMIT 1)"
            for table in tables
        ]
        cursor.execute(" UNION ALL ".join(looks), {"words": [f"%{word}%" for word in words]})
        return [table for (table,) in cursor.fetchall()]
