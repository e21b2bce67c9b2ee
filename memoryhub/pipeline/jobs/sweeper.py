"""A worker's own watch over due work: it needs no scheduler and no broker.

Messages make work start at once; this makes sure that it starts at all.
"""

from __future__ import annotations

import threading
from collections.abc import Callable

import structlog
from django.db import connection

log = structlog.get_logger()


class Sweeper(threading.Thread):
    """Calls `sweep` every `seconds` until stopped, whatever happens in between."""

    def __init__(self, sweep: Callable[[], None], seconds: float) -> None:
        super().__init__(name="sweeper", daemon=True)
        self._sweep = sweep
        self._seconds = seconds
        self._stopped = threading.Event()

    def run(self) -> None:
        while not self._stopped.wait(self._seconds):
            try:
                self._sweep()
            except Exception:
                # A broker or database that is gone shows itself in many ways. The next round
                # tries again; a watch that ended here would end unseen.
                log.exception("sweep.failed")
            finally:
                connection.close()

    def stop(self) -> None:
        self._stopped.set()
