"""Requests of others, handed on to an OpenAI-compatible endpoint as they are."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

import openai

from memoryhub.engines.llm.client.endpoint import build_client, translate_errors
from memoryhub.errors import EndpointRefusal, EngineError

JsonBody = dict[str, Any]
_CHAT_PATH = "/chat/completions"
# When to come back, in whichever form the endpoint says it.
_RETRY_AFTER_HEADERS = ("Retry-After", "Retry-After-Ms")


class AnswerChunks:
    """The events of a streamed answer, as JSON objects. Raises EngineError in the middle, too."""

    def __init__(self, stream: openai.Stream[object]) -> None:
        self._stream = stream

    def __iter__(self) -> Iterator[JsonBody]:
        events = iter(self._stream)
        while (event := self._read_event(events)) is not None:
            yield event

    def _read_event(self, events: Iterator[object]) -> JsonBody | None:
        with _translate_with_details():
            event = next(events, None)
            if event is None or isinstance(event, dict):
                return event
            raise ValueError("an event that is no object")

    def close(self) -> None:
        """Hang up: the endpoint need not go on."""
        self._stream.close()


class ChatRelay:
    """The way to one endpoint for chats that are not the hub's own."""

    def __init__(self, base_url: str, api_key: str, timeout: float) -> None:
        self._client = build_client(base_url, api_key, timeout)

    def complete(self, body: JsonBody) -> JsonBody:
        """The whole answer. Raises EngineError; Refused where the endpoint says no."""
        with _translate_with_details():
            reply = self._client.post(_CHAT_PATH, body=body, cast_to=object)
            if not (isinstance(reply, dict) and isinstance(reply.get("choices"), list)):
                raise ValueError("an answer without choices")
        return reply

    def stream(self, body: JsonBody) -> AnswerChunks:
        """The answer as it comes, with tokens counted by the endpoint, unless it does not know
        how to be asked for that. Raises EngineError before the first event as `complete` does."""
        given = body.get("stream_options")
        counted = {**(given if isinstance(given, dict) else {}), "include_usage": True}
        try:
            return self._open_stream(body | {"stream_options": counted})
        except EndpointRefusal as error:
            if given is not None or "stream_options" not in error.message:
                raise
            return self._open_stream(body)

    def _open_stream(self, body: JsonBody) -> AnswerChunks:
        with _translate_with_details():
            return AnswerChunks(
                self._client.post(
                    _CHAT_PATH,
                    body=body | {"stream": True},
                    cast_to=object,
                    stream=True,
                    stream_cls=openai.Stream[object],
                )
            )


# One an endpoint: its connections are kept open.
get_relay = cache(ChatRelay)


@contextmanager
def _translate_with_details() -> Iterator[None]:
    """Errors with what the endpoint said of them."""
    try:
        with translate_errors():
            yield
    except EngineError as error:
        cause = error.__cause__
        if isinstance(cause, openai.APIStatusError):
            raise _refusal_from_error(error, cause) from cause
        if type(cause) is openai.APIError:  # an event of a stream that tells of an error
            said = f"The model endpoint sent an error: {cause.message[:300]}"
            raise EngineError(said, code="endpoint_refused") from cause
        raise


def _refusal_from_error(error: EngineError, cause: openai.APIStatusError) -> EndpointRefusal:
    headers = cause.response.headers
    waiting = {name: headers[name] for name in _RETRY_AFTER_HEADERS if name in headers}
    told = cause.body if isinstance(cause.body, dict) else {}
    return EndpointRefusal(error, cause.status_code, told, waiting)
