"""How many requests a key may make in a minute, counted for all processes in the database.

A process takes them there by the handful, a hundredth of the limit: a write for each request would
cost more than many a request does.
"""

from __future__ import annotations

from dataclasses import dataclass
from threading import Lock
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db import connection
from django.utils import timezone
from rest_framework.request import Request
from rest_framework.throttling import BaseThrottle

from memoryhub.tenants.ids import new_id
from memoryhub.tenants.keys import KeyRow
from memoryhub.tenants.scope import tenant_scope

WINDOW_SECONDS = 60
# In the environment of a request made on behalf of another, which has been counted.
COUNTED_MARK = "memoryhub.counted"
# One row a key: a new minute begins at one.
_COUNT_SQL = """
    INSERT INTO api_ratewindow AS held (id, tenant_id, key_id, minute, count)
    VALUES (%s, %s, %s, %s, %s)
    ON CONFLICT (key_id) DO UPDATE SET
        count = EXCLUDED.count + CASE WHEN held.minute = EXCLUDED.minute THEN held.count ELSE 0 END,
        minute = EXCLUDED.minute
    RETURNING count
"""


@dataclass(frozen=True, slots=True)
class RateUsage:
    """`reset`: seconds until the minute is over."""

    limit: int
    used: int
    reset: int

    def build_headers(self) -> dict[str, str]:
        return {
            "RateLimit-Limit": str(self.limit),
            "RateLimit-Remaining": str(max(0, self.limit - self.used)),
            "RateLimit-Reset": str(self.reset),
        }


class KeyThrottle(BaseThrottle):
    """Refuses with 429 what is over the limit. Without a limit or a key nothing is counted."""

    def allow_request(self, request: Request, view: Any) -> bool:
        limit, key = settings.RATE_LIMIT_PER_MINUTE, request.auth
        if not limit or not isinstance(key, KeyRow) or COUNTED_MARK in request.META:
            return True
        self.rate = count_request(key, limit, timezone.now().timestamp())
        request.rate = self.rate  # type: ignore[attr-defined]  # for HubView's headers
        return self.rate.used <= limit

    def wait(self) -> float:
        return float(self.rate.reset)


_HANDFULS_A_LIMIT = 100
_MOST_KEYS = 10_000  # of whom this process remembers what is left
# By key the minute and the numbers of it that this process has yet to give to requests, the next
# one last.
_handfuls: dict[UUID, tuple[int, list[int]]] = {}
_lock = Lock()


def count_request(key: KeyRow, limit: int, now: float) -> RateUsage:
    """Count one request at `now` (seconds since 1970)."""
    minute, gone = divmod(int(now), WINDOW_SECONDS)
    return RateUsage(limit, _take_number(key, limit, minute), WINDOW_SECONDS - gone)


def _take_number(key: KeyRow, limit: int, minute: int) -> int:
    """The number of this request among the key's of the minute."""
    with _lock:
        held, left = _handfuls.get(key.id, (minute, []))
        if held == minute and left:
            return left.pop()
    size = max(1, limit // _HANDFULS_A_LIMIT)
    with tenant_scope(key.tenant_id), connection.cursor() as cursor:
        cursor.execute(_COUNT_SQL, [new_id(), key.tenant_id, key.id, minute, size])
        (taken,) = cursor.fetchone()
    with _lock:
        if len(_handfuls) >= _MOST_KEYS:
            _handfuls.clear()
        held, left = _handfuls.get(key.id, (minute, []))
        # Others of this process that found none left took a handful meanwhile: none is lost.
        rest = range(taken, taken - size + 1, -1)
        _handfuls[key.id] = minute, [*rest, *(left if held == minute else ())]
    return int(taken - size + 1)
