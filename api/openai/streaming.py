"""A streamed answer on its way to the client, as server-sent events.

The last chunk is held back until the endpoint is done, since what the hub did goes out with it:
a chunk more would be one that clients do not expect.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from django.http import StreamingHttpResponse

from api.openai.errors import of_engine
from api.openai.exchange import Exchange
from api.openai.memory import OFF, headers_of, report
from memoryhub.engines.llm.said import Said, choices, is_last
from memoryhub.errors import EngineError

DONE = "data: [DONE]\n\n"


class Streamed:
    """The events of one exchange. Closed in the middle, it ends what it began.

    Raises EngineError where the endpoint fails before its first event, so that a status can still
    tell of it.
    """

    def __init__(self, exchange: Exchange) -> None:
        self._exchange, self._said = exchange, Said()
        options = exchange.body.get("stream_options")
        self._tells_usage = isinstance(options, dict) and bool(options.get("include_usage"))
        self._upstream = exchange.streamed()
        self._chunks = iter(self._upstream)
        try:
            self._first = next(self._chunks, None)
            if self._first is None:
                raise EngineError("The model endpoint sent an empty answer")
        except EngineError as error:
            exchange.failed(error)
            raise
        self._events = self._told()

    def __iter__(self) -> Iterator[str]:
        return self._events

    def close(self) -> None:
        """Called by the server, also when the client has gone."""
        self._upstream.close()
        self._exchange.left(self._said)

    def _told(self) -> Iterator[str]:
        held: dict[str, Any] | None = None
        try:
            for chunk in self._all():
                if held is not None:
                    yield event(held)
                held = chunk if is_last(chunk) else None
                if held is None:
                    yield event(chunk)
            if not self._said.finished:
                raise EngineError("The model endpoint's answer was cut off", code="unreachable")
        except EngineError as error:
            if not self._said.finished:
                told = self._exchange.failed(error, self._said)
                yield event({"error": of_engine(error), "memoryhub": told})
                return
        yield event((held or _empty(self._first)) | {"memoryhub": self._exchange.ended(self._said)})
        yield DONE

    def _all(self) -> Iterator[dict[str, Any]]:
        """Every chunk to be told, in order. Tokens are counted for the hub whoever asked for it."""
        for chunk in _chained(self._first, self._chunks):
            self._said.take(chunk)
            if choices(chunk) or self._tells_usage or not chunk.get("usage"):
                yield chunk


def _chained(first: Any, others: Iterator[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    yield first
    yield from others


def _empty(first: Any) -> dict[str, Any]:
    """A chunk without words, of the same answer."""
    return {**first, "choices": []}


def event(data: dict[str, Any]) -> str:
    return f"data: {json.dumps(data, ensure_ascii=False)}\n\n"


def response_of(exchange: Exchange) -> StreamingHttpResponse:
    """Raises EngineError before anything is sent."""
    response = StreamingHttpResponse(Streamed(exchange), content_type="text/event-stream")
    response["Cache-Control"] = "no-store"
    response["X-Accel-Buffering"] = "no"
    for name, value in headers_of(report(exchange.found, OFF)).items():
        response[name] = value
    return response
