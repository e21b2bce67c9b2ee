"""Advisory locks, of two kinds: until the transaction at hand ends, and such as outlast the
transactions of whoever holds them.

Each of those has a connection of its own with a transaction open on it, and ends with it: so no
error of the holder lets go of it, a process that ends does, and a pooler that gives connections out
for a transaction leaves this one alone. Idle as it is, it keeps no row from being cleared away.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from uuid import UUID

from django.db import connection
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.utils import Error


def acquire_lock(name: str, *, wait: bool) -> BaseDatabaseWrapper | None:
    """What holds it, for `release_lock` by any thread; None where somebody has it and nobody is to
    `wait`."""
    holder = connection.copy()
    holder.inc_thread_sharing()
    function = "pg_advisory_xact_lock" if wait else "pg_try_advisory_xact_lock"
    try:
        holder.set_autocommit(False)
        with holder.cursor() as cursor:
            cursor.execute(f"SELECT {function}(%s)", [compute_lock_key(name)])
            (taken,) = cursor.fetchone()
    except BaseException:
        holder.close()
        raise
    if taken is False:
        release_lock(holder)
        return None
    return holder


def release_lock(holder: BaseDatabaseWrapper) -> None:
    with suppress(Error):
        holder.rollback()
    with suppress(Error):
        holder.close()


@contextmanager
def hold_lock(name: str) -> Iterator[None]:
    """Wait for it, and hold it until the end of the block."""
    holder = acquire_lock(name, wait=True)
    assert holder is not None
    try:
        yield
    finally:
        release_lock(holder)


def lock_until_commit(name: str, row_id: UUID) -> None:
    """Wait for it, and hold it until the transaction at hand ends: for what no row stands for that
    could be locked, as one that is not there yet."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(%s)", [compute_lock_key(f"{name} {row_id}")])


def compute_lock_key(name: str) -> int:
    digest = hashlib.sha256(name.encode()).digest()
    return int.from_bytes(digest[:8], signed=True)
