"""MemoryHub from Python: `MemoryHub` for threads, `AsyncMemoryHub` for event loops."""

from __future__ import annotations

from memoryhub_client.calls.methods import AsyncPages, Pages
from memoryhub_client.errors import (
    BadRequest,
    Conflict,
    ConnectionFailed,
    FieldError,
    Gone,
    Invalid,
    JobFailed,
    MemoryHubError,
    NotAllowed,
    NotAuthenticated,
    NotFound,
    Outdated,
    ProblemError,
    ServerError,
    StillRunning,
    Throttled,
    TimedOut,
    TooLarge,
)
from memoryhub_client.flows import Retries
from memoryhub_client.rows.base import Page, Row, Written
from memoryhub_client.transport import AsyncMemoryHub, MemoryHub

__version__ = "0.1.0"

__all__ = [
    "AsyncMemoryHub",
    "AsyncPages",
    "BadRequest",
    "Conflict",
    "ConnectionFailed",
    "FieldError",
    "Gone",
    "Invalid",
    "JobFailed",
    "MemoryHub",
    "MemoryHubError",
    "NotAllowed",
    "NotAuthenticated",
    "NotFound",
    "Outdated",
    "Page",
    "Pages",
    "ProblemError",
    "Retries",
    "Row",
    "ServerError",
    "StillRunning",
    "Throttled",
    "TimedOut",
    "TooLarge",
    "Written",
]
