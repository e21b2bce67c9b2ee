"""The hub's health, told from the event loop: who asks waits for no thread and no database.

A thread looks every second from when health is first asked. Under load every step of a request
waits for the interpreter and the database's connections: asked the ordinary way, health is as slow
as what it is to tell of.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from dataclasses import dataclass
from threading import Event, Lock, Thread
from time import monotonic, sleep

from memoryhub.health import DOWN, Health
from memoryhub.serving.client import Send

LOOK_SECONDS = 1.0
# A look that takes as long has told enough: the database does not answer.
STALE_SECONDS = 10.0


@dataclass(frozen=True)
class _Look:
    health: Health
    at: float


class HealthWatch:
    """`look` is run in the watch's thread, which it has to itself."""

    def __init__(self, look: Callable[[], Health]) -> None:
        self._look, self._last = look, _Look(DOWN, 0.0)
        self._has_looked, self._start_lock = Event(), Lock()
        self._thread: Thread | None = None

    async def answer(self, send: Send) -> None:
        """What was seen last, or the first look's result."""
        if not self._has_looked.is_set():
            await asyncio.to_thread(self._wait_for_first_look)
        last = self._last
        health = last.health if monotonic() - last.at < STALE_SECONDS else DOWN
        body = json.dumps(health.told).encode()
        headers = [
            (b"Content-Type", b"application/json"),
            (b"Content-Length", str(len(body)).encode()),
            (b"Cache-Control", b"no-store"),
            (b"X-Content-Type-Options", b"nosniff"),
        ]
        await send({"type": "http.response.start", "status": health.status, "headers": headers})
        await send({"type": "http.response.body", "body": body})

    def _wait_for_first_look(self) -> None:
        with self._start_lock:
            if self._thread is None:
                self._thread = Thread(target=self._keep_looking, name="health", daemon=True)
                self._thread.start()
        self._has_looked.wait(STALE_SECONDS)

    def _keep_looking(self) -> None:
        while True:
            self._last = _Look(self._look(), monotonic())
            self._has_looked.set()
            sleep(LOOK_SECONDS)
