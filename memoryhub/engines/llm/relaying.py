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
    """The way to one endpoint for requests that are not the hub's own."""

    def __init__(self, base_url: str, api_key: str, timeout: float) -> None:
        self._client = connect(base_url, api_key, timeout)

    def complete(self, path: str, body: Body, member: str) -> Body:
        """The whole answer. Raises EngineError; Refused where the endpoint says no.

        `member` is the list that an answer of this path has.
        """
        with _told():
            reply = self._client.post(path, body=body, cast_to=object)
            if not (isinstance(reply, dict) and isinstance(reply.get(member), list)):
                raise ValueError(f"an answer without {member}")
        return reply

    def stream(self, path: str, body: Body) -> Chunks:
        """The answer as it comes. Raises EngineError before the first event as `complete` does."""
        with _told():
            return Chunks(
                self._client.post(
                    path,
                    body=body,
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
