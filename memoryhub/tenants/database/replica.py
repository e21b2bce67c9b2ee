"""Reads that a streaming copy of the database serves.

Whoever asks must see what was written before, by whomever and through whichever process. So the
primary says up to where it has written, and the copy answers once it has played back as far; where
that takes too long, the primary answers itself. Nothing is remembered about clients.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from time import monotonic, sleep
from typing import Any

import structlog
from django.conf import settings
from django.db import DatabaseError, connection, connections
from django.db.backends.base.base import BaseDatabaseWrapper

log = structlog.get_logger()
REPLICA = "replica"
_LOOK_SECONDS = 0.002
# After a copy that could not be reached the primary serves alone for so long.
_REST_SECONDS = 5.0
_rests_until = 0.0


class PrimaryRouter:
    """What is not asked for by name goes to the default connection, also for a row that a copy
    served."""

    def db_for_read(self, model: Any, **hints: Any) -> str:
        return "default"

    db_for_write = db_for_read


@contextmanager
def use_replica() -> Iterator[None]:
    """Within, this thread's default connection is the copy's, if there is one that knows all. Call
    outside of transactions; nothing may be written."""
    copy = _find_current_copy()
    if copy is None:
        yield
        return
    primary = connections["default"]
    connections["default"] = copy
    try:
        yield
    finally:
        connections["default"] = primary
        copy.close_if_unusable_or_obsolete()


def _find_current_copy() -> BaseDatabaseWrapper | None:
    global _rests_until
    if REPLICA not in connections.settings or monotonic() < _rests_until:
        return None
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_current_wal_flush_lsn()::text")
        (position,) = cursor.fetchone()
    try:
        copy = connections[REPLICA]
        return copy if _wait_for_position(copy, position) else None
    except DatabaseError as error:
        log.warning("replica.unreachable", error=str(error))
        _rests_until = monotonic() + _REST_SECONDS
        return None


def _wait_for_position(copy: BaseDatabaseWrapper, position: str) -> bool:
    """Whether it is a copy still, and has played back all up to there, in time."""
    deadline = monotonic() + settings.REPLICA_WAIT_SECONDS
    while True:
        with copy.cursor() as cursor:
            cursor.execute(
                "SELECT pg_is_in_recovery() AND pg_last_wal_replay_lsn() >= %s::pg_lsn", [position]
            )
            (is_current,) = cursor.fetchone()
        if is_current or monotonic() >= deadline:
            return bool(is_current)
        sleep(_LOOK_SECONDS)
