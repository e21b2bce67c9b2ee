"""When to leave a model alone: it failed the same way several times running. Pure.

The breaker is worked out from the calls themselves, so it needs no state of its own, survives a
restart, and all workers see the same one. Open, it refuses calls for a time that doubles with
every further failure; then one call is let through, and its success closes it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import takewhile

FIRST_WAIT = timedelta(seconds=30)
LONGEST_WAIT = timedelta(minutes=15)
# They say something of what was asked, not of the model: texts that are then asked in parts, and
# requests of the proxy's clients that the endpoint could not take.
_REQUEST_FAULT_CODES = frozenset({"reply_cut", "context_exceeded", "request_refused"})
# The endpoint's trouble, and not that of what it was asked.
OUTAGE_CODES = frozenset(
    {"unreachable", "timeout", "rate_limited", "endpoint_refused", "engine_failed"}
)


@dataclass(frozen=True, slots=True)
class CallOutcome:
    """How a call ended: `code` of its error, "" when it went well."""

    purpose: str
    model: str
    code: str
    at: datetime


def compute_open_until(
    history: Iterable[CallOutcome], purpose: str, model: str, most: int
) -> datetime | None:
    """Until when this model is not asked for this purpose; `history` is newest first.

    None when fewer than `most` calls running have failed in the same way. A time gone by means
    that the next call is a probe.
    """
    own = [o for o in history if (o.purpose, o.model) == (purpose, model)]
    if not own or not own[0].code or own[0].code in _REQUEST_FAULT_CODES:
        return None
    failures = sum(1 for _ in takewhile(lambda o: o.code == own[0].code, own))
    if failures < most:
        return None
    doublings = min(failures - most, 10)
    return own[0].at + min(FIRST_WAIT * int(2**doublings), LONGEST_WAIT)
