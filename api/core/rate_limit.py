"""How many requests a key may make in a minute, counted for all processes in the database."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

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
    VALUES (%s, %s, %s, %s, 1)
    ON CONFLICT (key_id) DO UPDATE SET
        count = CASE WHEN held.minute = EXCLUDED.minute THEN held.count + 1 ELSE 1 END,
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


def count_request(key: KeyRow, limit: int, now: float) -> RateUsage:
    """Count one request at `now` (seconds since 1970)."""
    minute, gone = divmod(int(now), WINDOW_SECONDS)
    with tenant_scope(key.tenant_id), connection.cursor() as cursor:
        cursor.execute(_COUNT_SQL, [new_id(), key.tenant_id, key.id, minute])
        (used,) = cursor.fetchone()
    return RateUsage(limit, used, WINDOW_SECONDS - gone)
