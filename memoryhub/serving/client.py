"""Who is at the other end of a connection: sent to in time, and missed when gone."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from contextlib import suppress
from typing import Any, TypeVar

from django.core.exceptions import RequestAborted

from memoryhub.serving.body import Message, Receive, RequestBody

Send = Callable[[Message], Awaitable[None]]
T = TypeVar("T")
# For the client to take a piece of an answer.
SEND_SECONDS = 60.0


class Client:
    """Of one request, whose body is `body`."""

    def __init__(self, body: RequestBody, receive: Receive, send: Send) -> None:
        self._body, self._receive, self._send = body, receive, send
        self._hang_up: asyncio.Task[Message] | None = None

    async def send(self, message: Message) -> None:
        """Raises RequestAborted where nobody takes it."""
        try:
            async with asyncio.timeout(SEND_SECONDS):
                await self._send(message)
        except TimeoutError:
            raise RequestAborted from None

    async def run_while_there(self, work: Coroutine[Any, Any, T]) -> T:
        """Cancels the work and raises RequestAborted when the client hangs up. While a body is
        still to come, its reader notices that."""
        if not self._body.is_whole:
            return await work
        if self._hang_up is None:
            self._hang_up = asyncio.create_task(self._wait_for_hang_up())
        task = asyncio.create_task(work)
        try:
            await asyncio.wait({task, self._hang_up}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            if is_unfinished := not task.done():
                task.cancel()
                with suppress(asyncio.CancelledError):
                    await task
        if is_unfinished:
            raise RequestAborted
        return task.result()

    async def _wait_for_hang_up(self) -> Message:
        while (message := await self._receive())["type"] != "http.disconnect":
            pass
        return message

    def forget(self) -> None:
        """It has been answered."""
        if self._hang_up is not None:
            self._hang_up.cancel()
