"""Is the hub up? For load balancers and the launcher; says nothing a stranger may not know."""

from __future__ import annotations

from time import monotonic

from django.db import DatabaseError, connection
from django.db.migrations.executor import MigrationExecutor
from django.http import HttpRequest, JsonResponse

# Whether the database is as far as the code.


# Seconds between two looks while something is missing.
_RECHECK_SECONDS = 60.0
_known_pending: tuple[int, float] | None = None


def count_pending_migrations() -> int:
    """Migrations of the code that the database has not had. Once there are none it stays so, as
    long as the process has the code it has."""
    global _known_pending
    if _known_pending and (
        _known_pending[0] == 0 or monotonic() - _known_pending[1] < _RECHECK_SECONDS
    ):
        return _known_pending[0]
    executor = MigrationExecutor(connection)
    count = len(executor.migration_plan(executor.loader.graph.leaf_nodes()))
    _known_pending = (count, monotonic())
    return count


def healthz(request: HttpRequest) -> JsonResponse:
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
    except DatabaseError:
        return JsonResponse({"status": "down", "database": "unreachable"}, status=503)
    return JsonResponse({"status": "ok"})
