"""A streamed answer on its way to the client, as server-sent events.

The last chunk is held back until the endpoint is done, since what the hub did goes out with it:
a chunk more would be one that clients do not expect.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, Protocol

from django.http import StreamingHttpResponse

from api.openai.errors import of_engine
from api.openai.exchange import Exchange
from api.openai.memory import OFF, headers_of, report
from memoryhub.engines.llm.said import Said, choices, is_last
from memoryhub.errors import EngineError

DONE = "data: [DONE]\n\n"


class Telling(Protocol):
    """How a protocol tells of an answer, in events. `tells_usage`: also chunks of tokens alone."""

    tells_usage: bool

    def more(self, chunk: dict[str, Any]) -> Iterator[str]: ...

    def ended(
        self, last: dict[str, Any], said: Said, memoryhub: dict[str, Any]
    ) -> Iterator[str]: ...

    def failed(self, error: dict[str, Any], memoryhub: dict[str, Any]) -> Iterator[str]: ...


class ChatTelling:
    """As a chat completion is told: the chunks as they are."""

    def __init__(self, asked: dict[str, Any]) -> None:
        options = asked.get("stream_options")
        self.tells_usage = isinstance(options, dict) and bool(options.get("include_usage"))

    def more(self, chunk: dict[str, Any]) -> Iterator[str]:
        yield event(chunk)

    def ended(self, last: dict[str, Any], said: Said, memoryhub: dict[str, Any]) -> Iterator[str]:
        yield event(last | {"memoryhub": memoryhub})
        yield DONE

    def failed(self, error: dict[str, Any], memoryhub: dict[str, Any]) -> Iterator[str]:
        yield event({"error": error, "memoryhub": memoryhub})


class Streamed:
    """The events of one exchange. Closed in the middle, it ends what it began.

    Raises EngineError where the endpoint fails before its first event, so that a status can still
    tell of it.
    """

    def __init__(self, exchange: Exchange, telling: Telling) -> None:
        self._exchange, self._said, self._telling = exchange, Said(), telling
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
                    yield from self._telling.more(held)
                held = chunk if is_last(chunk) else None
                if held is None:
                    yield from self._telling.more(chunk)
            if not self._said.finished:
                raise EngineError("The model endpoint's answer was cut off", code="unreachable")
        except EngineError as error:
            if not self._said.finished:
                told = self._exchange.failed(error, self._said)
                yield from self._telling.failed(of_engine(error), told)
                return
        last = held or _empty(self._first)
        yield from self._telling.ended(last, self._said, self._exchange.ended(self._said))

    def _all(self) -> Iterator[dict[str, Any]]:
        """Every chunk to be told, in order. Tokens are counted for the hub whoever asked for it."""
        for chunk in _chained(self._first, self._chunks):
            self._said.take(chunk)
            if choices(chunk) or self._telling.tells_usage or not chunk.get("usage"):
                yield chunk


def _chained(first: Any, others: Iterator[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    yield first
    yield from others


def _empty(first: Any) -> dict[str, Any]:
    """A chunk without words, of the same answer."""
    return {**first, "choices": []}


def event(data: dict[str, Any]) -> str:
    return f"data: {json.dumps(data, ensure_ascii=False)}\n\n"


def response_of(exchange: Exchange, telling: Telling) -> StreamingHttpResponse:
    """Raises EngineError before anything is sent."""
    response = StreamingHttpResponse(Streamed(exchange, telling), content_type="text/event-stream")
    response["Cache-Control"] = "no-store"
    response["X-Accel-Buffering"] = "no"
    for name, value in headers_of(report(exchange.found, OFF)).items():
        response[name] = value
    return response
