"""Whose turn it is: a worker's threads shared among tenants, and those of a tenant among spaces.

A turn is one job of a space. However much a tenant has to be read, half of the threads at least
are left to others, and one of its spaces does not wait for all that another has.
"""

from __future__ import annotations

import threading
from collections import Counter, deque
from collections.abc import Callable
from uuid import UUID

SpaceKey = tuple[UUID, UUID]


class SpaceTurns:
    """Of one process, which has so many `threads`. Who is told that it must wait is remembered
    and not told again: a thread that has done its turn takes it up. What is forgotten with the
    process is rung for again."""

    def __init__(self, threads: int) -> None:
        self._free = threads
        self._working: set[SpaceKey] = set()
        self._held: Counter[UUID] = Counter()
        self._waiting: deque[SpaceKey] = deque()
        self._lock = threading.Lock()

    def run(self, tenant_id: UUID, space_id: UUID, run_one: Callable[[UUID, UUID], bool]) -> int:
        """Turns of this space and of those that wait, until nothing waits that this thread may
        do. `run_one` runs a job of a space and tells whether there was one. Returns how many ran.
        Raises what `run_one` raised last, in the end.
        """
        ran, current = 0, self._begin((tenant_id, space_id))
        failure: Exception | None = None
        while current is not None:
            again = False
            try:
                again = run_one(*current)
                ran += again
            except Exception as error:
                # Those that wait count on this thread, whatever became of the last.
                failure = error
            current = self._end(current, again)
        if failure is not None:
            raise failure
        return ran

    def is_known(self, tenant_id: UUID, space_id: UUID) -> bool:
        """Whether a thread of this process is at it, or will be."""
        with self._lock:
            return (tenant_id, space_id) in self._working or (tenant_id, space_id) in self._waiting

    def _begin(self, space: SpaceKey) -> SpaceKey | None:
        with self._lock:
            if space not in self._waiting:
                self._waiting.append(space)
            return self._take_next()

    def _end(self, space: SpaceKey, again: bool) -> SpaceKey | None:
        with self._lock:
            self._working.discard(space)
            self._held[space[0]] -= 1
            self._free += 1
            if again and space not in self._waiting:
                self._waiting.append(space)
            return self._take_next()

    def _take_next(self) -> SpaceKey | None:
        """The first that may: a tenant's first thread is always its, and further ones as long as
        more are left than it holds."""
        for space in self._waiting:
            held = self._held[space[0]]
            if space not in self._working and self._free and (not held or held < self._free):
                self._waiting.remove(space)
                self._working.add(space)
                self._held[space[0]] += 1
                self._free -= 1
                return space
        return None
