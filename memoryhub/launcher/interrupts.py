"""Ctrl-C, SIGTERM and a closed terminal all mean: stop in good order."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Interrupts:
    """Raises KeyboardInterrupt in the main thread until `ending`, but not while held."""

    def __init__(self) -> None:
        self.asked = False
        self.ending = False
        self.holds = 0

    def install(self) -> None:
        for number in STOP_SIGNALS:
            signal.signal(number, self.handle_signal)

    def handle_signal(self, number: int, frame: FrameType | None) -> None:
        self.asked = True
        self.raise_pending()

    def raise_pending(self) -> None:
        """Raises what is due; call it in loops, as an exception in a callback may be lost."""
        if self.asked and not self.ending and not self.holds:
            raise KeyboardInterrupt

    @contextmanager
    def hold_interrupts(self) -> Iterator[None]:
        """An interrupt that arrives inside is raised at the end."""
        self.holds += 1
        try:
            yield
        finally:
            self.holds -= 1
        self.raise_pending()
