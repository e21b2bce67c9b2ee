"""Whether the database is as far as the code."""

from __future__ import annotations

from time import monotonic

from django.db import connection
from django.db.migrations.executor import MigrationExecutor

# Seconds between two looks while something is missing.
_AGAIN = 60.0
_known: tuple[int, float] | None = None


def pending() -> int:
    """Migrations of the code that the database has not had. Once there are none it stays so, as
    long as the process has the code it has."""
    global _known
    if _known and (_known[0] == 0 or monotonic() - _known[1] < _AGAIN):
        return _known[0]
    executor = MigrationExecutor(connection)
    count = len(executor.migration_plan(executor.loader.graph.leaf_nodes()))
    _known = (count, monotonic())
    return count
