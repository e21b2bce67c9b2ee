"""A streamed answer on its way to the client, as server-sent events.

The last chunk is held back until the endpoint is done, since what the hub did goes out with it:
a chunk more would be one that clients do not expect.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from typing import Any, Protocol

from django.http import StreamingHttpResponse

from api.core.server_events import build_event_response, format_event
from api.openai.errors import render_engine_error
from api.openai.exchange import ChatExchange
from api.openai.memory import LEARN_OFF, build_headers, render_report
from memoryhub.engines.llm.client.stream import AccumulatedAnswer, is_last_chunk, list_choices
from memoryhub.errors import EngineError

DONE_EVENT = "data: [DONE]\n\n"


class EventWriter(Protocol):
    """How a protocol tells of an answer, in events.

    `includes_usage`: also chunks of tokens alone.
    """

    includes_usage: bool

    def format_chunk(self, chunk: dict[str, Any]) -> Iterator[str]: ...

    def format_end(
        self, last: dict[str, Any], said: AccumulatedAnswer, memoryhub: dict[str, Any]
    ) -> Iterator[str]: ...

    def format_failure(self, error: dict[str, Any], memoryhub: dict[str, Any]) -> Iterator[str]: ...


class ChatEventWriter:
    """As a chat completion is told: the chunks as they are."""

    def __init__(self, asked: dict[str, Any]) -> None:
        options = asked.get("stream_options")
        self.includes_usage = isinstance(options, dict) and bool(options.get("include_usage"))

    def format_chunk(self, chunk: dict[str, Any]) -> Iterator[str]:
        yield format_event(chunk)

    def format_end(
        self, last: dict[str, Any], said: AccumulatedAnswer, memoryhub: dict[str, Any]
    ) -> Iterator[str]:
        yield format_event(last | {"memoryhub": memoryhub})
        yield DONE_EVENT

    def format_failure(self, error: dict[str, Any], memoryhub: dict[str, Any]) -> Iterator[str]:
        yield format_event({"error": error, "memoryhub": memoryhub})


class EventStream:
    """The events of one exchange. Closed in the middle, it ends what it began.

    Raises EngineError where the endpoint fails before its first event, so that a status can still
    tell of it.
    """

    def __init__(self, exchange: ChatExchange, telling: EventWriter) -> None:
        self._exchange, self._said, self._telling = exchange, AccumulatedAnswer(), telling
        self._upstream = exchange.stream_answer()
        self._chunks = iter(self._upstream)
        try:
            self._first: Any = next(self._chunks, None)
            if self._first is None:
                raise EngineError("The model endpoint sent an empty answer")
        except EngineError as error:
            exchange.fail_exchange(error)
            raise
        self._events = self._format_events()

    def __iter__(self) -> Iterator[str]:
        return self._events

    def close(self) -> None:
        """Called by the server, also when the client has gone."""
        self._upstream.close()
        self._exchange.abandon_exchange(self._said)

    def _format_events(self) -> Iterator[str]:
        held: dict[str, Any] | None = None
        try:
            for chunk in self._read_chunks():
                if held is not None:
                    yield from self._telling.format_chunk(held)
                held = chunk if is_last_chunk(chunk) else None
                if held is None:
                    yield from self._telling.format_chunk(chunk)
            if not self._said.finished:
                raise EngineError("The model endpoint's answer was cut off", code="unreachable")
        except EngineError as error:
            if not self._said.finished:
                told = self._exchange.fail_exchange(error, self._said)
                yield from self._telling.format_failure(render_engine_error(error), told)
                return
        # Else a chunk without words, of the same answer.
        last = held or {**self._first, "choices": []}
        told = self._exchange.finish_exchange(self._said)
        yield from self._telling.format_end(last, self._said, told)

    def _read_chunks(self) -> Iterator[dict[str, Any]]:
        """Every chunk to be told, in order. Tokens are counted for the hub whoever asked for it."""
        for chunk in chain([self._first], self._chunks):
            self._said.add_chunk(chunk)
            if list_choices(chunk) or self._telling.includes_usage or not chunk.get("usage"):
                yield chunk


def build_stream_response(exchange: ChatExchange, telling: EventWriter) -> StreamingHttpResponse:
    """Raises EngineError before anything is sent."""
    told = build_headers(render_report(exchange.recalled_context, LEARN_OFF))
    return build_event_response(EventStream(exchange, telling), **told)
