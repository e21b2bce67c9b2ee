"""A request's body as it comes, cut where it comes too slowly or is too large."""

from __future__ import annotations

import asyncio
import io
import threading
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from django.conf import settings
from django.core.exceptions import RequestAborted, RequestDataTooBig

from memoryhub.places import step_aside

Message = Mapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
# Beyond the first seconds a body has to come at this rate on the whole.
LEAST_BYTES_PER_SECOND = 4096


class SlowBody(OSError):
    """Less came than has to in the time."""


class HeldBytes:
    """Bytes of bodies that the process holds, of all its requests: those of `most` may be read
    ahead."""

    def __init__(self, most: int) -> None:
        self._most, self._held, self._lock = most, 0, threading.Lock()

    @property
    def are_too_many(self) -> bool:
        return self._held >= self._most

    def add(self, count: int) -> None:
        """Of so many more, or, below 0, fewer."""
        with self._lock:
            self._held += count


class RequestBody(io.RawIOBase):
    """Made in the event loop, read in a thread.

    What `fill` got is at hand. The rest of a large body is fetched as it is read, when the view
    knows who sends it; the thread steps aside meanwhile.
    """

    def __init__(self, receive: Receive, all_held: HeldBytes) -> None:
        self._all_held = all_held
        self._receive, self._loop = receive, asyncio.get_running_loop()
        self._began, self._came, self._held = self._loop.time(), 0, bytearray()
        self._most = max(settings.MAX_IMPORT_BYTES, settings.DATA_UPLOAD_MAX_MEMORY_SIZE)
        self.is_whole = False

    async def read_ahead(self, size: int) -> None:
        """`fill`, as long as not too much is held for requests that wait."""
        await self.fill(size, only_while=lambda: not self._all_held.are_too_many)

    async def fill(self, size: int, only_while: Callable[[], bool] = lambda: True) -> None:
        """Until so many bytes are at hand, or all. Raises SlowBody, RequestDataTooBig, and
        RequestAborted where the client hangs up."""
        while not self.is_whole and len(self._held) < size and only_while():
            message = await self._receive_in_time()
            if message["type"] == "http.disconnect":
                raise RequestAborted
            piece = message.get("body", b"")
            self._held += piece
            self._all_held.add(len(piece))
            self._came += len(piece)
            self.is_whole = not message.get("more_body", False)
            if self._came > self._most:
                raise RequestDataTooBig(f"A body has at most {self._most:,} bytes")

    async def _receive_in_time(self) -> Message:
        pause = self._loop.time() + settings.BODY_SECONDS
        whole = self._began + settings.BODY_SECONDS + self._came / LEAST_BYTES_PER_SECOND
        try:
            async with asyncio.timeout_at(min(pause, whole)):
                return await self._receive()
        except TimeoutError:
            raise SlowBody("the body comes too slowly") from None

    def readable(self) -> bool:
        return True

    def read(self, size: int | None = -1) -> bytes:
        """Raises OSError where the client is gone or too slow, RequestDataTooBig."""
        wanted = self._most + 1 if size is None or size < 0 else size
        if not self.is_whole and len(self._held) < wanted:
            with step_aside():
                self._fetch(wanted)
        piece = bytes(self._held[:wanted])
        del self._held[:wanted]
        self._all_held.add(-len(piece))
        return piece

    def close(self) -> None:
        self._all_held.add(-len(self._held))
        self._held = bytearray()
        super().close()

    def _fetch(self, size: int) -> None:
        try:
            asyncio.run_coroutine_threadsafe(self.fill(size), self._loop).result()
        except RequestAborted as error:
            raise OSError("the client hung up") from error
