"""Sending, in a thread or on an event loop. All decisions are in the flows that are run here."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import AsyncIterator, Iterator
from typing import Any, Self

import httpx

from memoryhub_client.calls.hub import HubCalls
from memoryhub_client.calls.methods import Async, AsyncPages, Listing, Pages, Stream, Sync
from memoryhub_client.errors import ConnectionFailed, MemoryHubError
from memoryhub_client.flows import (
    Flow,
    Request,
    Retries,
    Send,
    Sleep,
    Step,
    T,
    check_outcome,
    send_with_retries,
)
from memoryhub_client.rows.base import R

URL, KEY = "MEMORYHUB_URL", "MEMORYHUB_KEY"
_SLACK_SECONDS = 10.0


class _Settings:
    """Where the hub is, the key, and how patient to be."""

    def __init__(self, url: str | None, key: str | None, timeout: float, retries: Retries) -> None:
        self.url = (url or os.environ.get(URL, "http://127.0.0.1:8000")).rstrip("/")
        self._key = key or os.environ.get(KEY, "")
        if not self._key:
            raise MemoryHubError(f"no API key: give `key`, or set {KEY}")
        self.timeout = timeout
        self.retries = retries

    def __repr__(self) -> str:
        """Where it is; never the key."""
        return self.url

    def exchange_request(self, request: Request) -> Flow[httpx.Response]:
        return send_with_retries(request, self.retries)

    def build_arguments(self, request: Request) -> dict[str, Any]:
        """As httpx takes them."""
        return {
            "method": request.method,
            "url": f"{self.url}/api/v1/{request.path}",
            "params": dict(request.query),
            "json": request.body,
            "content": request.content,
            "headers": {"Authorization": f"Bearer {self._key}", **request.headers},
            "timeout": max(self.timeout, request.patience and request.patience + _SLACK_SECONDS),
        }


class _SyncRunner(_Settings):
    def __init__(self, *given: Any, http: httpx.Client | None) -> None:
        super().__init__(*given)
        self.http = http or httpx.Client()

    def run(self, flow: Flow[T]) -> T:
        outcome: Any = None
        while True:
            try:
                step = flow.send(outcome)
            except StopIteration as end:
                result: T = end.value
                return result
            outcome = self._run_step(step)

    def _run_step(self, step: Step) -> Any:
        match step:
            case Sleep(seconds):
                return time.sleep(seconds)
            case Send(request):
                try:
                    return self.http.request(**self.build_arguments(request))
                except httpx.TransportError as error:
                    return error

    def pages(self, listing: Listing[R]) -> Pages[R]:
        return Pages(self, listing)

    def stream(self, stream: Stream[T]) -> Iterator[T]:
        again = True
        while again:
            reader = stream.build_reader()
            try:
                with self.http.stream(**self.build_arguments(stream.request)) as response:
                    if not response.is_success:
                        response.read()
                    for piece in check_outcome(response).iter_bytes():
                        yield from reader.read_piece(piece)
            except httpx.TransportError as error:
                raise ConnectionFailed(f"the stream broke: {error}") from error
            again = reader.must_repeat


class _AsyncRunner(_Settings):
    def __init__(self, *given: Any, http: httpx.AsyncClient | None) -> None:
        super().__init__(*given)
        self.http = http or httpx.AsyncClient()

    async def run(self, flow: Flow[T]) -> T:
        outcome: Any = None
        while True:
            try:
                step = flow.send(outcome)
            except StopIteration as end:
                result: T = end.value
                return result
            outcome = await self._run_step(step)

    async def _run_step(self, step: Step) -> Any:
        match step:
            case Sleep(seconds):
                return await asyncio.sleep(seconds)
            case Send(request):
                try:
                    return await self.http.request(**self.build_arguments(request))
                except httpx.TransportError as error:
                    return error

    def pages(self, listing: Listing[R]) -> AsyncPages[R]:
        return AsyncPages(self, listing)

    async def stream(self, stream: Stream[T]) -> AsyncIterator[T]:
        again = True
        while again:
            reader = stream.build_reader()
            try:
                async with self.http.stream(**self.build_arguments(stream.request)) as response:
                    if not response.is_success:
                        await response.aread()
                    async for piece in check_outcome(response).aiter_bytes():
                        for told in reader.read_piece(piece):
                            yield told
            except httpx.TransportError as error:
                raise ConnectionFailed(f"the stream broke: {error}") from error
            again = reader.must_repeat


class MemoryHub(HubCalls[Sync]):
    """A hub, for code that waits for its answers.

    `url` and `key` default to the environment's MEMORYHUB_URL and MEMORYHUB_KEY. `timeout`:
    seconds without an answer after which a try is over. `http`: a client of your own, with its
    proxies and certificates; it stays yours to close.
    """

    _runner: _SyncRunner

    def __init__(
        self,
        url: str | None = None,
        key: str | None = None,
        *,
        timeout: float = 30.0,
        retries: Retries | None = None,
        http: httpx.Client | None = None,
    ) -> None:
        super().__init__(_SyncRunner(url, key, timeout, retries or Retries(), http=http))
        self._owns = http is None

    def __repr__(self) -> str:
        return f"MemoryHub({self._runner.url!r})"

    def close(self) -> None:
        if self._owns:
            self._runner.http.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


class AsyncMemoryHub(HubCalls[Async]):
    """A hub, for code on an event loop: the same calls, awaited."""

    _runner: _AsyncRunner

    def __init__(
        self,
        url: str | None = None,
        key: str | None = None,
        *,
        timeout: float = 30.0,
        retries: Retries | None = None,
        http: httpx.AsyncClient | None = None,
    ) -> None:
        super().__init__(_AsyncRunner(url, key, timeout, retries or Retries(), http=http))
        self._owns = http is None

    def __repr__(self) -> str:
        return f"AsyncMemoryHub({self._runner.url!r})"

    async def aclose(self) -> None:
        if self._owns:
            await self._runner.http.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *error: object) -> None:
        await self.aclose()
