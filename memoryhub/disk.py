"""Whether there is room to write: what the database said last, and what the disk under it has."""

from __future__ import annotations

import shutil
from time import monotonic

from django.conf import settings
from django.db import DatabaseError, OperationalError, connection, transaction

DISK_FULL = "53100"  # PostgreSQL's own word for it
# With less the embedded database can't be relied on to write what it has promised.
LEAST_FREE_BYTES = 32 * 1024 * 1024
_PROBE_SECONDS = 2.0
_full_since: float | None = None
_probed_at = 0.0


def is_disk_full_error(error: BaseException | None) -> bool:
    """Whether a statement failed for want of room; if so it is remembered until there is some."""
    global _full_since
    cause = error.__cause__ if isinstance(error, OperationalError) else error
    if getattr(cause, "sqlstate", None) != DISK_FULL:
        return False
    if _full_since is None:
        _full_since = monotonic()
    return True


def is_disk_full() -> bool:
    """Asked by those who look after the hub. One that was full is tried by writing something."""
    global _full_since, _probed_at
    if _full_since is not None and monotonic() - _probed_at >= _PROBE_SECONDS:
        _probed_at = monotonic()
        if _can_write():
            _full_since = None
    return _full_since is not None or read_free_bytes() < LEAST_FREE_BYTES


def read_free_bytes() -> float:
    """Of the disk that the embedded database lies on; endless where the database is elsewhere."""
    if not settings.EMBEDDED:
        return float("inf")
    home = settings.DATA_DIR / "postgres"
    return float(shutil.disk_usage(home if home.exists() else settings.DATA_DIR).free)


def _can_write() -> bool:
    """A table of 100 kB that nobody keeps."""
    try:
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute("CREATE TEMP TABLE room (line text) ON COMMIT DROP")
            cursor.execute("INSERT INTO room SELECT repeat('x', 1000) FROM generate_series(1, 100)")
    except DatabaseError:
        return False
    return True
