"""The one error family. Every layer may import this module; it imports nothing of ours."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any


class MemoryHubError(Exception):
    """An error a caller can act on. One handler turns it into problem+json.

    `code` is stable and machine-readable, `message` is for people. `field` names the
    input at fault, `extra` adds members to the problem document.
    """

    status = 400
    code = "bad_request"

    def __init__(
        self,
        message: str,
        *,
        code: str | None = None,
        status: int | None = None,
        field: str | None = None,
        **extra: Any,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.code = code or type(self).code
        self.status = status or type(self).status
        self.field = field
        self.extra = extra


class InvalidInput(MemoryHubError):
    status = 422
    code = "invalid"


class TooLarge(MemoryHubError):
    status = 413
    code = "too_large"


class NotFound(MemoryHubError):
    """Unknown and foreign ids look the same (spec E30)."""

    status = 404
    code = "not_found"


class Conflict(MemoryHubError):
    status = 409
    code = "conflict"


class VersionOutdated(MemoryHubError):
    """What is to be written was changed since its writer read it; `version` is what it is now."""

    status = 412
    code = "precondition_failed"


class QueueFull(MemoryHubError):
    """A tenant has more waiting than it may have; answered with Retry-After."""

    status = 429
    code = "queue_full"


class QuotaReached(MemoryHubError):
    """A tenant keeps as many messages as it may; waiting does not help, so not a 429."""

    status = 403
    code = "quota_reached"


class TenantMoved(MemoryHubError):
    """The tenant is served by another cell now, or is about to be; answered with Retry-After."""

    status = 503
    code = "tenant_moved"


class EngineError(MemoryHubError):
    """A model or embedder failed. `permanent` decides whether a job retries."""

    status = 503
    code = "engine_failed"

    def __init__(self, message: str, *, permanent: bool = False, code: str | None = None) -> None:
        super().__init__(message, code=code)
        self.permanent = permanent


class EndpointRefusal(EngineError):
    """The endpoint answered a request that was handed on to it with another status than 2xx.

    `answered` is that status, `told` its error object, `waiting` its headers about when to come
    back. `is_of_the_request`: who sent it is to mend it, not the hub, and not the endpoint.
    """

    def __init__(
        self, error: EngineError, answered: int, told: Mapping[str, Any], waiting: Mapping[str, str]
    ) -> None:
        self.is_of_the_request = answered in {400, 404, 409, 413, 415, 422}
        code = "request_refused" if self.is_of_the_request else error.code
        super().__init__(error.message, permanent=error.permanent, code=code)
        self.answered, self.told, self.waiting = answered, told, waiting


class ModelsPaused(EngineError):
    """Models may not be asked before `until`: a spent budget, or one failure after the other.

    Work waits and loses none of its attempts; readers do without models.
    """

    code = "paused"

    def __init__(self, message: str, until: datetime, *, code: str) -> None:
        super().__init__(message, code=code)
        self.until = until
