"""Django behind an event loop: connections wait in the loop, requests are worked on in threads.

Django's own handler for ASGI goes back and forth between the loop and a thread made for the
request, for each layer of middleware and each signal. The hub's layers and nearly all of its views
are synchronous, so this one goes once.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextvars import Context, copy_context
from functools import partial
from typing import IO, Any, TypeVar, cast

from django.conf import settings
from django.core.exceptions import RequestAborted, RequestDataTooBig
from django.core.handlers.asgi import ASGIHandler, ASGIRequest, get_script_prefix
from django.core.signals import request_started
from django.db import connections
from django.http import FileResponse, HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.urls import set_script_prefix

from memoryhub.health import Health, check_health
from memoryhub.places import Places, hold_place
from memoryhub.serving.body import HeldBytes, Receive, RequestBody, SlowBody
from memoryhub.serving.client import Client, Send
from memoryhub.serving.health_watch import HealthWatch

T = TypeVar("T")
# Of a body, before the request takes a place.
READ_AHEAD_BYTES = 1024 * 1024
_HEALTH_PATH = "/healthz"


class HubHandler(ASGIHandler):
    """The application, one a process."""

    def __init__(self) -> None:
        self.load_middleware(is_async=False)
        self._places = Places(settings.WEB_PLACES, settings.WEB_WAITING)
        self._held_bytes = HeldBytes(settings.BODIES_BYTES)
        self._threads = ThreadPoolExecutor(settings.WEB_PLACES + settings.WEB_WAITING, "request")
        self._health = HealthWatch(_look_at_health)

    async def __call__(self, scope: dict[str, Any], receive: Receive, send: Send) -> None:
        # Who asks whether the hub is well does not queue behind what it has to do.
        if scope["path"] == _HEALTH_PATH:
            await self._health.answer(send)
            return
        body = RequestBody(receive, self._held_bytes)
        client = Client(body, receive, send)
        try:
            await self._exchange(scope, body, client)
        except RequestAborted:
            pass  # nobody is there to be told
        finally:
            client.forget()
            body.close()

    async def _exchange(self, scope: dict[str, Any], body: RequestBody, client: Client) -> None:
        try:
            await body.read_ahead(READ_AHEAD_BYTES)
        except (SlowBody, RequestDataTooBig) as error:
            status = 408 if isinstance(error, SlowBody) else 413
            await self.send_response(HttpResponse(status=status), client.send)
            return
        request, refusal = self.create_request(scope, cast("IO[bytes]", body))
        if request is None:
            assert refusal is not None
            await self.send_response(refusal, client.send)
            return
        context, answer = copy_context(), partial(self._answer, request)
        place = self._places.ask()
        if not place.done():
            await client.run_while_there(self._wait_for_place(place))
        response = await self._run_in_place(context, answer)
        if isinstance(response, StreamingHttpResponse):
            await self._stream(response, context, client)
        else:
            await self.send_response(response, client.send)

    def _answer(self, request: ASGIRequest) -> HttpResponseBase:
        """In a thread."""
        set_script_prefix(get_script_prefix(request.scope))
        request_started.send(sender=self.__class__, scope=request.scope)
        response = self.get_response(request)
        if isinstance(response, FileResponse):
            response.block_size = self.chunk_size
        if not response.streaming:
            response.close()  # its connection goes back to the pool
        return response

    async def _stream(
        self, response: StreamingHttpResponse, context: Context, client: Client
    ) -> None:
        """Until its end, or until the client hangs up; closed in either case."""
        if not response.is_async:
            response.streaming_content = self._iterate(iter(response), context)
        try:
            await client.run_while_there(self.send_response(response, client.send))
        finally:
            await self._work(context, response.close, returning=False)

    async def _iterate(self, pieces: Iterator[bytes], context: Context) -> AsyncIterator[bytes]:
        """What a synchronous view makes piece by piece: each in a thread, none of them kept."""
        while (piece := await self._work(context, partial(next, pieces, None))) is not None:
            yield piece

    async def _work(
        self, context: Context, function: Callable[[], T], *, returning: bool = True
    ) -> T:
        await self._wait_for_place(self._places.ask(returning=returning))
        return await self._run_in_place(context, function)

    async def _wait_for_place(self, place: Future[None]) -> None:
        try:
            await asyncio.wrap_future(place)
        except asyncio.CancelledError:
            if not place.cancel():  # it came at the same moment
                self._places.give_back()
            raise

    async def _run_in_place(self, context: Context, function: Callable[[], T]) -> T:
        """A thread that has begun is waited for, whatever becomes of the request."""
        loop = asyncio.get_running_loop()
        work = loop.run_in_executor(self._threads, context.run, self._hold_place_for, function)
        try:
            return await asyncio.shield(work)
        except asyncio.CancelledError:
            await asyncio.wait({work})
            raise

    def _hold_place_for(self, function: Callable[[], T]) -> T:
        try:
            with hold_place(self._places, release_connections):
                return function()
        finally:
            release_connections()
            self._places.give_back()


def _look_at_health() -> Health:
    try:
        return check_health()
    finally:
        release_connections()


def release_connections() -> None:
    """Give this thread's database connections back to their pools, unless a transaction is open."""
    for connection in connections.all(initialized_only=True):
        if not connection.in_atomic_block:
            connection.close()
