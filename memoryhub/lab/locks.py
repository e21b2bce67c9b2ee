"""Who is at work: advisory locks of this process, which end with it however it ends."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from django.db.backends.base.base import BaseDatabaseWrapper

from memoryhub.tenants.database.locks import acquire_lock, release_lock


class ProcessLocks:
    """By name. A process holds a lock at most once: what is its own is not free to it either."""

    def __init__(self) -> None:
        self._held: dict[str, BaseDatabaseWrapper] = {}
        self._turn = threading.Lock()

    def acquire(self, name: str) -> bool:
        """False when somebody has it, this process included."""
        with self._turn:
            if name in self._held:
                return False
            holder = acquire_lock(f"memoryhub.lab:{name}", wait=False)
            if holder is not None:
                self._held[name] = holder
            return holder is not None

    def release(self, name: str) -> None:
        with self._turn:
            holder = self._held.pop(name, None)
            if holder is not None:
                release_lock(holder)

    @contextmanager
    def hold(self, name: str) -> Iterator[bool]:
        """Until the end of a block. Inside: whether it was free."""
        taken = self.acquire(name)
        try:
            yield taken
        finally:
            if taken:
                self.release(name)


LOCKS = ProcessLocks()
