"""The request log: what was asked of the API with a key, how it ended, and how long it took.

No bodies, no queries, no addresses with ids in them: a route as it is declared. An entry is made
of what is at hand when the answer is, and written some seconds later with the others.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from uuid import UUID

import structlog
from django.conf import settings
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.utils import timezone

from api.models import LoggedRequest
from memoryhub.background.deferred_writes import DeferredWriter
from memoryhub.tenants.keys import KeyRow
from memoryhub.tenants.models import Tenant
from memoryhub.tenants.scope import tenant_scope


class RequestLogMiddleware:
    """Leaves an entry for each request that came with a valid key. Of a streamed answer it tells
    the time until it began."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        started = time.perf_counter()
        response = self.get_response(request)
        key = getattr(request, "auth", None)
        if isinstance(key, KeyRow) and settings.REQUEST_LOG_DAYS:
            milliseconds = (time.perf_counter() - started) * 1000
            _entry_buffer.add(_build_entry(request, response, key, milliseconds))
        return response


def _build_entry(
    request: HttpRequest, response: HttpResponseBase, key: KeyRow, milliseconds: float
) -> LoggedRequest:
    match = request.resolver_match
    return LoggedRequest(
        tenant_id=key.tenant_id,
        key_id=key.id,
        at=timezone.now(),
        method=(request.method or "")[:10],
        route=(match.route if match else "")[:200],
        status=response.status_code,
        milliseconds=round(milliseconds, 1),
        request_id=str(structlog.contextvars.get_contextvars().get("request_id", ""))[:64],
        error=str(getattr(request, "problem_code", ""))[:60],
    )


def flush_entries() -> int:
    """Write down what this process's requests left. For tests, and for the end of a process."""
    return _entry_buffer.flush()


def _write_entries(entries: Sequence[LoggedRequest]) -> None:
    """Two statements a tenant."""
    by_tenant: dict[UUID, list[LoggedRequest]] = {}
    for entry in entries:
        by_tenant.setdefault(entry.tenant_id, []).append(entry)
    for tenant_id, theirs in by_tenant.items():
        with tenant_scope(tenant_id):
            if not Tenant.objects.filter(id=tenant_id).exists():
                continue  # gone meanwhile
            LoggedRequest.objects.bulk_create(theirs, batch_size=1000)


_entry_buffer = DeferredWriter("request log", _write_entries)
