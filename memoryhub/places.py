"""Places: how many requests work at once, and how one that only waits lets others work.

A request takes a place before it works and gives it back when it is answered. While it waits for
something outside (a model's words, the end of a job, a body that is still on its way) it steps
aside: its thread sleeps, its place and its database connection are another's. So the number of
places bounds work and connections, and nothing that waits long starves what is answered at once.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass


class Places:
    """`count` work at once and `most_aside` sleep beside them; more of those keep their places."""

    def __init__(self, count: int, most_aside: int) -> None:
        self._free, self._may_leave = count, most_aside
        self._lock = threading.Lock()
        # They take turns: a word of a stream need not queue behind all who have just arrived, and
        # these not behind many streams.
        self._returning: deque[Future[None]] = deque()
        self._arriving: deque[Future[None]] = deque()
        self._queues = deque([self._returning, self._arriving])

    def ask(self, *, returning: bool = False) -> Future[None]:
        """Done when a place is yours; one that is cancelled in time is out of the queue.
        `returning`: to go on with a request that has begun."""
        place: Future[None] = Future()
        with self._lock:
            if not self._free:
                (self._returning if returning else self._arriving).append(place)
                return place
            self._free -= 1
        place.set_running_or_notify_cancel()
        place.set_result(None)
        return place

    def give_back(self) -> None:
        with self._lock:
            place = self._find_next()
            if place is None:
                self._free += 1
                return
        place.set_result(None)

    def _find_next(self) -> Future[None] | None:
        self._queues.rotate()
        for queue in self._queues:
            while queue:
                if (place := queue.popleft()).set_running_or_notify_cancel():
                    return place
        return None

    def leave(self) -> bool:
        """Give it back for a while. False where too many have done so: then it is kept."""
        with self._lock:
            if not self._may_leave:
                return False
            self._may_leave -= 1
        self.give_back()
        return True

    def come_back(self) -> None:
        """After `leave`; blocks until there is a place."""
        self.ask(returning=True).result()
        with self._lock:
            self._may_leave += 1


@dataclass(frozen=True, slots=True)
class _HeldPlace:
    places: Places
    let_go: Callable[[], None]


_held: ContextVar[_HeldPlace | None] = ContextVar("place", default=None)


@contextmanager
def hold_place(places: Places, let_go: Callable[[], None]) -> Iterator[None]:
    """Work inside has one of the places. `let_go` is called before it is left, for what else
    nobody should hold who waits."""
    token = _held.set(_HeldPlace(places, let_go))
    try:
        yield
    finally:
        _held.reset(token)


@contextmanager
def step_aside() -> Iterator[None]:
    """Wait inside, and do nothing else. Changes nothing where no place is held: in workers,
    commands and tests, and within another `step_aside`."""
    held = _held.get()
    if held is None:
        yield
        return
    token = _held.set(None)
    held.let_go()
    has_left = held.places.leave()
    try:
        yield
    finally:
        if has_left:
            held.places.come_back()
        _held.reset(token)
