"""Is the hub up? For load balancers and the launcher; says nothing a stranger may not know."""

from __future__ import annotations

from time import monotonic
from typing import NamedTuple

from celery import current_app
from django.db import DatabaseError, connection
from django.db.migrations.executor import MigrationExecutor
from django.http import HttpRequest, JsonResponse

from memoryhub.disk import is_disk_full
from memoryhub.errors import MemoryHubError

# Seconds between two looks while something is missing.
_RECHECK_SECONDS = 60.0
# Work that was due so long ago and not begun: nobody works, or not enough do.
MAX_LAG_SECONDS = 300.0
# How many migrations the database lacked, and when that was seen.
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


class Health(NamedTuple):
    """An HTTP status and what is told with it."""

    status: int
    told: dict[str, str]


DOWN = Health(503, {"status": "down", "database": "unreachable"})


def check_health() -> Health:
    """200 while requests are answered and what they bring can be kept."""
    if not is_database_answering():
        return DOWN
    if is_disk_full():
        return Health(503, {"status": "full", "disk": "full"})
    return Health(200, {"status": "ok"})


def healthz(request: HttpRequest) -> JsonResponse:
    """Where the web server is not the hub's own, which answers without a view."""
    health = check_health()
    return JsonResponse(health.told, status=health.status)


def is_database_answering() -> bool:
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
    except DatabaseError:
        return False
    return True


def readyz(request: HttpRequest) -> JsonResponse:
    """200 when all that the hub does is done in time; what is not is named."""
    checks = run_readiness_checks()
    is_ready = all(state == "ok" for state in checks.values())
    told = {"status": "ready" if is_ready else "not_ready", "checks": checks}
    return JsonResponse(told, status=200 if is_ready else 503)


def run_readiness_checks() -> dict[str, str]:
    """Each part's state, "ok" or what is wrong with it."""
    if not is_database_answering():
        return {"database": "unreachable"}
    return {
        "database": "ok" if not count_pending_migrations() else "migrations are missing",
        "disk": "full" if is_disk_full() else "ok",
        "broker": _check_broker(),
        "worker": _check_worker(),
        "embedder": _check_embedder(),
    }


def _check_broker() -> str:
    """Without it work waits for the next sweep, some seconds."""
    try:
        with current_app.connection_for_write() as broker:
            broker.ensure_connection(max_retries=1, timeout=2)
    except Exception as error:  # each transport has its own
        return f"unreachable ({type(error).__name__})"
    return "ok"


def _check_worker() -> str:
    """By what is due and was not begun."""
    lag = max((lane.seconds for lane in load_queue_lag()), default=0.0)
    return "ok" if lag < MAX_LAG_SECONDS else f"behind by {lag:.0f} s"


def _check_embedder() -> str:
    """Whether what makes vectors can be loaded; one elsewhere is not asked."""
    from memoryhub.inference.selection import get_current_embedder  # and what it loads

    try:
        get_current_embedder()
    except MemoryHubError as error:
        return error.code
    return "ok"


class LaneLag(NamedTuple):
    """Of a lane, over all tenants: steps that are due and not begun, and the seconds since the
    first of them was."""

    lane: str
    waiting: int
    seconds: float


def load_queue_lag() -> list[LaneLag]:
    with connection.cursor() as cursor:
        cursor.execute("SELECT lane, waiting, seconds FROM memoryhub_queue_lag()")
        return [LaneLag(*row) for row in cursor.fetchall()]
