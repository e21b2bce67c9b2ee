"""`Idempotency-Key`: the same write sent twice is done once, and answered alike."""

from __future__ import annotations

import hmac
import json
from collections.abc import Callable
from datetime import datetime
from typing import Any
from uuid import UUID

from django.conf import settings
from django.utils import timezone
from rest_framework.request import Request

from api.models import IdempotentRequest
from memoryhub.errors import Conflict, InvalidInput
from memoryhub.tenants.models import Space
from memoryhub.tenants.scope import tenant_scope

HEADER = "Idempotency-Key"
# Of an answer that told of something erased since.
_FORGOTTEN: dict[str, Any] = {"turns": [], "job_id": None}


def once(
    tenant_id: UUID, request: Request, route: str, write: Callable[[], dict[str, Any]]
) -> tuple[dict[str, Any], bool]:
    """(what `write` returned, whether it had run before). One transaction with the write.

    A second request with the key waits for the first one's end. Raises Conflict when the key
    was used for another body.
    """
    key = _key(request)
    with tenant_scope(tenant_id):
        if not key:
            return write(), False
        record, fresh = IdempotentRequest.objects.get_or_create(
            tenant_id=tenant_id,
            route=route,
            key=key,
            defaults={"request_hash": _hash(request), "status": 0, "body": {}},
        )
        if fresh:
            record.body = write()
            # Not before what it tells of came in, or an erasure would pass it over.
            record.created_at = timezone.now()
            record.save(update_fields=["body", "created_at"])
        elif record.request_hash != _hash(request):
            raise Conflict(
                f"This {HEADER} was used with another body.", code="idempotency_key_reused"
            )
        return dict(record.body), not fresh


def _key(request: Request) -> str:
    key = request.headers.get(HEADER, "")
    if len(key) > 200 or not key.isprintable():
        raise InvalidInput("at most 200 printable characters", field=HEADER)
    return key


def _hash(request: Request) -> str:
    body = json.dumps(request.data, sort_keys=True, ensure_ascii=False)
    secret = settings.SECRET_KEY.encode()
    return hmac.new(secret, body.encode(errors="surrogatepass"), "sha256").hexdigest()


def forget_answers(space: Space, since: datetime) -> int:
    """Drop what was answered from then on, for an erasure; the keys still count as used."""
    kept = IdempotentRequest.objects.filter(tenant_id=space.tenant_id, created_at__gte=since)
    return kept.exclude(body=_FORGOTTEN).update(body=_FORGOTTEN)
