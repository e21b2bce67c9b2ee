"""Requests of others, handed on to an OpenAI-compatible endpoint as they are."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

import openai

from memoryhub.engines.llm.endpoint import connect, translated
from memoryhub.errors import EngineError, Refused

Body = dict[str, Any]
_PATH = "/chat/completions"
# When to come back, in whichever form the endpoint says it.
_WAITING = ("Retry-After", "Retry-After-Ms")


class Chunks:
    """The events of a streamed answer, as JSON objects. Raises EngineError in the middle, too."""

    def __init__(self, stream: openai.Stream[object]) -> None:
        self._stream = stream

    def __iter__(self) -> Iterator[Body]:
        with _told():
            for event in self._stream:
                if not isinstance(event, dict):
                    raise ValueError("an event that is no object")
                yield event

    def close(self) -> None:
        """Hang up: the endpoint need not go on."""
        self._stream.close()


class Relay:
    """The way to one endpoint for chats that are not the hub's own."""

    def __init__(self, base_url: str, api_key: str, timeout: float) -> None:
        self._client = connect(base_url, api_key, timeout)

    def complete(self, body: Body) -> Body:
        """The whole answer. Raises EngineError; Refused where the endpoint says no."""
        with _told():
            reply = self._client.post(_PATH, body=body, cast_to=object)
            if not (isinstance(reply, dict) and isinstance(reply.get("choices"), list)):
                raise ValueError("an answer without choices")
        return reply

    def stream(self, body: Body) -> Chunks:
        """The answer as it comes, with tokens counted by the endpoint, unless it does not know
        how to be asked for that. Raises EngineError before the first event as `complete` does."""
        given = body.get("stream_options")
        counted = {**(given if isinstance(given, dict) else {}), "include_usage": True}
        try:
            return self._streamed(body | {"stream_options": counted})
        except Refused as error:
            if given is not None or "stream_options" not in error.message:
                raise
            return self._streamed(body)

    def _streamed(self, body: Body) -> Chunks:
        with _told():
            return Chunks(
                self._client.post(
                    _PATH,
                    body=body | {"stream": True},
                    cast_to=object,
                    stream=True,
                    stream_cls=openai.Stream[object],
                )
            )


# One an endpoint: its connections are kept open.
relay = cache(Relay)


@contextmanager
def _told() -> Iterator[None]:
    """Errors with what the endpoint said of them."""
    try:
        with translated():
            yield
    except EngineError as error:
        cause = error.__cause__
        if isinstance(cause, openai.APIStatusError):
            raise _refused(error, cause) from cause
        if type(cause) is openai.APIError:  # an event of a stream that tells of an error
            said = f"The model endpoint sent an error: {cause.message[:300]}"
            raise EngineError(said, code="endpoint_refused") from cause
        raise


def _refused(error: EngineError, cause: openai.APIStatusError) -> Refused:
    headers = cause.response.headers
    waiting = {name: headers[name] for name in _WAITING if name in headers}
    told = cause.body if isinstance(cause.body, dict) else {}
    return Refused(error, cause.status_code, told, waiting)
