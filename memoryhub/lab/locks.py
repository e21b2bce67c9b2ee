"""Who is at work: advisory locks of this process, which end with it however it ends.

They are held on a connection of their own, so that no transaction and no error lets go of them.
"""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from django.db import connection
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.utils import Error


class ProcessLocks:
    """By name. A process holds a lock at most once: what is its own is not free to it either."""

    def __init__(self) -> None:
        self._connection: BaseDatabaseWrapper | None = None
        self._held: set[str] = set()
        # A worker's threads share the connection.
        self._turn = threading.Lock()

    def acquire(self, name: str) -> bool:
        """False when somebody has it, this process included."""
        with self._turn:
            if name in self._held:
                return False
            if self._connection is None:
                self._connection = connection.copy()
                self._connection.inc_thread_sharing()
            with self._connection.cursor() as cursor:
                cursor.execute("SELECT pg_try_advisory_lock(%s)", [_compute_lock_key(name)])
                (taken,) = cursor.fetchone()
            if taken:
                self._held.add(name)
            return bool(taken)

    def release(self, name: str) -> None:
        """Let go of it. The last one closes the connection."""
        with self._turn:
            if name not in self._held or self._connection is None:
                return
            self._held.discard(name)
            with suppress(Error), self._connection.cursor() as cursor:
                cursor.execute("SELECT pg_advisory_unlock(%s)", [_compute_lock_key(name)])
            if not self._held:
                self._connection.close()
                self._connection = None

    @contextmanager
    def hold(self, name: str) -> Iterator[bool]:
        """Until the end of a block. Inside: whether it was free."""
        taken = self.acquire(name)
        try:
            yield taken
        finally:
            if taken:
                self.release(name)


def _compute_lock_key(name: str) -> int:
    digest = hashlib.sha256(f"memoryhub.lab:{name}".encode()).digest()
    return int.from_bytes(digest[:8], signed=True)


LOCKS = ProcessLocks()
