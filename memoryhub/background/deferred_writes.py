"""What may be written after the answer: gathered in the process, written by a thread of its own.

For counters and logs. A process that is killed loses what its last seconds left; when more waits
than may, the oldest goes. Nothing that must not be lost belongs here.
"""

from __future__ import annotations

import atexit
import threading
from collections import deque
from collections.abc import Callable
from typing import Generic, TypeVar

import structlog
from django.conf import settings
from django.db import connection

log = structlog.get_logger()
T = TypeVar("T")
MAX_WAITING = 10_000


class DeferredWriter(Generic[T]):
    """`write` gets what waits, oldest first, every MEMORYHUB_FLUSH_SECONDS; 0: never."""

    def __init__(
        self, name: str, write: Callable[[list[T]], None], most: int = MAX_WAITING
    ) -> None:
        self._name = name
        self._write = write
        self._waiting: deque[T] = deque(maxlen=most)
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._stop = threading.Event()

    def add(self, one: T) -> None:
        """Touches no database."""
        with self._lock:
            self._waiting.append(one)
            if self._thread is None and settings.FLUSH_SECONDS > 0:
                self._thread = threading.Thread(
                    target=self._flush_forever, name=self._name, daemon=True
                )
                self._thread.start()
                atexit.register(self.stop)

    def flush(self) -> int:
        """Write down what waits. Returns how many waited."""
        with self._lock:
            waiting = list(self._waiting)
            self._waiting.clear()
        if waiting:
            self._write(waiting)
        return len(waiting)

    def stop(self) -> None:
        """Write down what is left; the process ends."""
        self._stop.set()
        try:
            self.flush()
        finally:
            connection.close()

    def _flush_forever(self) -> None:
        while not self._stop.wait(settings.FLUSH_SECONDS):
            try:
                self.flush()
            except Exception:
                # What was to be written is gone; what comes next is tried again, by this thread.
                log.exception("later.unwritten", what=self._name)
            finally:
                connection.close()
