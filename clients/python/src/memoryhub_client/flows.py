"""What a call does, apart from how it is sent: one description for threads and for event loops.

A flow is a generator that yields steps and is given their outcomes: for `Send` the response, or
the transport's error as a value; for `Sleep` nothing. What it returns is the call's result.
"""

from __future__ import annotations

import random
import uuid
from collections.abc import Generator, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar
from urllib.parse import quote

import httpx

from memoryhub_client.errors import (
    ConnectionFailed,
    TimedOut,
    build_problem_error,
    read_retry_after,
)

T = TypeVar("T")
_UNSENT_ERRORS = (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout)


@dataclass(frozen=True)
class Request:
    """A request under `/api/v1/`. `repeatable`: sent twice, it happens once.

    `content`: a body that is no JSON. `patience`: seconds it may take at least, whatever the
    client's timeout is.
    """

    method: str
    path: str
    query: Mapping[str, str] = field(default_factory=dict)
    body: Mapping[str, Any] | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    content: bytes | None = None
    repeatable: bool = True
    patience: float = 0.0


@dataclass(frozen=True)
class Send:
    request: Request


@dataclass(frozen=True)
class Sleep:
    seconds: float


Step = Send | Sleep
Flow = Generator[Step, Any, T]
Outcome = httpx.Response | httpx.TransportError


@dataclass(frozen=True)
class Retries:
    """How often is tried again, and after how long.

    Pauses double from `first` seconds, with chance in them, so that clients do not come back all
    at once; where the hub says `Retry-After`, that counts, up to `longest` seconds.
    """

    times: int = 3
    first: float = 0.5
    longest: float = 60.0

    def pause(self, request: Request, outcome: Outcome, tried: int) -> float | None:
        """Seconds until the next try, or None: this is how it ends. `tried` counts from 1."""
        if tried > self.times or not _is_worth_repeating(request, outcome):
            return None
        asked = read_retry_after(outcome) if isinstance(outcome, httpx.Response) else None
        if asked is not None:
            return asked if asked <= self.longest else None
        pause = min(self.longest, self.first * 2.0 ** (tried - 1))
        return pause * random.uniform(0.5, 1.0)


def _is_worth_repeating(request: Request, outcome: Outcome) -> bool:
    if isinstance(outcome, httpx.Response):
        if outcome.status_code in (429, 503):
            return True
        return request.repeatable and (outcome.status_code in (502, 504) or _is_under_way(outcome))
    return request.repeatable or isinstance(outcome, _UNSENT_ERRORS)


def _is_under_way(response: httpx.Response) -> bool:
    """Our own earlier try is still being worked on."""
    return response.status_code == 409 and build_problem_error(response).code == "request_under_way"


def send_with_retries(request: Request, retries: Retries) -> Flow[httpx.Response]:
    """The answer, after as many tries as it takes. Raises MemoryHubError."""
    tried = 0
    while True:
        tried += 1
        outcome: Outcome = yield Send(request)
        pause = retries.pause(request, outcome, tried)
        if pause is None:
            return check_outcome(outcome)
        yield Sleep(pause)


def check_outcome(outcome: Outcome) -> httpx.Response:
    """The response, if it is a good one. Raises MemoryHubError."""
    if isinstance(outcome, httpx.TimeoutException):
        raise TimedOut(f"no answer in time: {outcome}") from outcome
    if isinstance(outcome, httpx.TransportError):
        raise ConnectionFailed(f"the hub can't be reached: {outcome}") from outcome
    if not outcome.is_success:
        raise build_problem_error(outcome)
    return outcome


def build_idempotency_key() -> str:
    """An Idempotency-Key for one write and all its repetitions."""
    return str(uuid.uuid4())


def quote_path(text: str) -> str:
    """As part of a path. A subject keeps its slashes, as the hub's paths do."""
    return quote(text, safe="/")
