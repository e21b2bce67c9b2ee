"""Both of a released `mem0ai`'s clients behind one face: what is written for one runs on each."""

from __future__ import annotations

import asyncio
import inspect
import os
from typing import Any

from mem0 import AsyncMemoryClient, MemoryClient

HOST, KEY = os.environ["MEM0_HOST"], os.environ["MEM0_API_KEY"]


class AwaitedClient:
    """The asynchronous client, each of its calls awaited."""

    def __init__(self, awaited: Any, runner: asyncio.Runner) -> None:
        self._awaited, self._runner = awaited, runner

    def __getattr__(self, name: str) -> Any:
        if name == "client":
            return AwaitedClient(self._awaited.async_client, self._runner)
        found = getattr(self._awaited, name)
        if not callable(found):
            return AwaitedClient(found, self._runner) if name == "project" else found

        def call(*args: Any, **kwargs: Any) -> Any:
            answer = found(*args, **kwargs)
            return self._runner.run(answer) if inspect.iscoroutine(answer) else answer

        return call


def make_client(is_async: bool) -> Any:
    if not is_async:
        return MemoryClient(api_key=KEY, host=HOST)
    return AwaitedClient(AsyncMemoryClient(api_key=KEY, host=HOST), asyncio.Runner())
