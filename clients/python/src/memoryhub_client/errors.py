"""What can go wrong, by kind. What the hub refuses is a `ProblemError` with its stable code."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import httpx


class MemoryHubError(Exception):
    """Anything that went wrong between you and the hub."""


class ConnectionFailed(MemoryHubError):
    """The hub could not be reached, or the connection broke; repeated as far as it is safe."""


class TimedOut(ConnectionFailed):
    """No answer came in time. A write may have happened: with its key it can be sent again."""


class JobFailed(MemoryHubError):
    """The job that was waited for was given up; `state` and `error` say how."""

    def __init__(self, state: str, error: str) -> None:
        super().__init__(f"the job is {state}: {error}" if error else f"the job is {state}")
        self.state = state
        self.error = error


class StillRunning(MemoryHubError):
    """The job that was waited for has not ended in the time given; it goes on."""


@dataclass(frozen=True)
class FieldError:
    """What is wrong with one field of what was sent: `field` as in "messages[0].content"."""

    field: str
    message: str


class ProblemError(MemoryHubError):
    """An error answer (RFC 9457).

    `code` is stable, `detail` is for people, `errors` names the fields at fault, `request_id` is
    what the hub's log has, `retry_after` the seconds it asks to wait (None: nothing said), and
    `problem` the whole document.
    """

    def __init__(self, response: httpx.Response) -> None:
        self.problem = _parse_document(response)
        self.status = response.status_code
        self.code = str(self.problem.get("code", "")) or f"http_{response.status_code}"
        self.detail = str(self.problem.get("detail", "")) or response.reason_phrase
        self.errors = [
            FieldError(str(each.get("field", "")), str(each.get("message", "")))
            for each in self.problem.get("errors") or []
        ]
        self.request_id = response.headers.get("X-Request-Id", "")
        self.retry_after = read_retry_after(response)
        super().__init__(f"{self.status} {self.code}: {self.detail}")

    @property
    def field(self) -> str:
        """The first field at fault, or an empty string."""
        return self.errors[0].field if self.errors else ""


class BadRequest(ProblemError):
    """The hub could not read the request (400, 405, 406, 411, 415)."""


class NotAuthenticated(ProblemError):
    """No key, or one that is unknown, expired or revoked (401)."""


class NotAllowed(ProblemError):
    """The key's scopes do not allow it (403)."""


class NotFound(ProblemError):
    """There is no such row or subject, or it is not yours (404)."""


class Conflict(ProblemError):
    """It does not go with what is held now; the code says why (409)."""


class Gone(ProblemError):
    """It was done, and what it told of has been erased since (410)."""


class Outdated(ProblemError):
    """The row changed since it was read: `version` is what it is in now (412)."""

    @property
    def version(self) -> int | None:
        return self.problem.get("version")


class TooLarge(ProblemError):
    """Too large a body or text (413)."""


class Invalid(ProblemError):
    """A field is wrong; `errors` says which, and what its limit is (422)."""


class Throttled(ProblemError):
    """The key has had its requests of this minute (429)."""


class ServerError(ProblemError):
    """A fault of the hub, or of what stands before it (5xx)."""


_ERROR_BY_STATUS: Mapping[int, type[ProblemError]] = {
    401: NotAuthenticated,
    403: NotAllowed,
    404: NotFound,
    409: Conflict,
    410: Gone,
    412: Outdated,
    413: TooLarge,
    422: Invalid,
    429: Throttled,
}


def build_problem_error(response: httpx.Response) -> ProblemError:
    """The error that an error answer is."""
    usual = ServerError if response.status_code >= 500 else BadRequest
    return _ERROR_BY_STATUS.get(response.status_code, usual)(response)


def read_retry_after(response: httpx.Response) -> float | None:
    """Seconds, where the header gives a number of them."""
    given = response.headers.get("Retry-After", "")
    return float(given) if given.isascii() and given.isdecimal() else None


def _parse_document(response: httpx.Response) -> dict[str, Any]:
    """The problem document; empty for the page of some proxy."""
    try:
        told = response.json()
    except ValueError:
        return {}
    return told if isinstance(told, dict) else {}
