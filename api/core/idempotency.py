"""`Idempotency-Key`: the same write sent twice is done once, and answered alike."""

from __future__ import annotations

import hashlib
import hmac
import json
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.conf import settings
from django.core.files.uploadedfile import UploadedFile
from django.http import QueryDict
from django.utils import timezone
from rest_framework.request import Request
from rest_framework.utils.encoders import JSONEncoder

from api.models import IdempotentRequest
from memoryhub.dialogues.redaction import hash_with_secret
from memoryhub.errors import Conflict, InvalidInput, MemoryHubError
from memoryhub.tenants.models import Space
from memoryhub.tenants.scope import tenant_scope

IDEMPOTENCY_HEADER = "Idempotency-Key"
StoredAnswer = dict[str, Any]
# Of an answer that told of something erased since.
_ERASED_ANSWER: StoredAnswer = {"turns": [], "job_id": None}
# `status` of a request that is being worked on, and how long that may take: a hub that was
# stopped in the middle must not keep its key for ever.
_UNDER_WAY, _LONGEST = 102, timedelta(minutes=5)


def run_once(
    tenant_id: UUID, request: Request, route: str, write: Callable[[], StoredAnswer]
) -> tuple[StoredAnswer, bool]:
    """(what `write` returned, whether it had run before). One transaction with the write.

    A second request with the key waits for the first one's end. Raises Conflict when the key
    was used for another body.
    """
    key = read_idempotency_key(request)
    with tenant_scope(tenant_id):
        if not key:
            return write(), False
        record, fresh = _claim_record(tenant_id, request, route, key, status=0)
        if fresh:
            record.body = write()
            # Not before what it tells of came in, or an erasure would pass it over.
            record.created_at = timezone.now()
            record.save(update_fields=["body", "created_at"])
        return dict(record.body), not fresh


def run_once_in_own_transactions(
    tenant_id: UUID,
    request: Request,
    route: str,
    write: Callable[[], StoredAnswer],
    *,
    keeps: bool = False,
) -> tuple[StoredAnswer, bool]:
    """The same for a write with transactions of its own, which may take as long as models do.

    A second request meanwhile is refused: Conflict. A write that fails leaves the key free.
    `keeps`: its answer tells nothing that could be erased.
    """
    key = read_idempotency_key(request)
    if not key:
        return write(), False
    with tenant_scope(tenant_id):
        record, fresh = _claim_record(tenant_id, request, route, key, status=_UNDER_WAY)
        if not fresh and record.status == _UNDER_WAY:
            _take_over_record(record)
            fresh = True
    if not fresh:
        if record.body == _ERASED_ANSWER:
            told = "This was done, and what it told of has been erased since."
            raise MemoryHubError(told, code="answer_erased", status=410)
        return dict(record.body), True
    try:
        answer = write()
    except BaseException:
        with tenant_scope(tenant_id):
            IdempotentRequest.objects.filter(id=record.id).delete()
        raise
    kept: StoredAnswer = json.loads(json.dumps(answer, cls=JSONEncoder))
    with tenant_scope(tenant_id):
        rows = IdempotentRequest.objects.filter(id=record.id)
        # Erased in the meantime: nothing of it is kept.
        (rows if keeps else rows.filter(body={})).update(body=kept, created_at=timezone.now())
        rows.update(status=200)
    return kept, False


def _claim_record(
    tenant_id: UUID, request: Request, route: str, key: str, *, status: int
) -> tuple[IdempotentRequest, bool]:
    # The key is words of a client, so a digest stands for it; keys of before stand as they came.
    digest, asked = hash_with_secret("idempotency", key), _hash_request(request)
    record, fresh = IdempotentRequest.objects.filter(key__in=[digest, key]).get_or_create(
        tenant_id=tenant_id,
        route=route,
        defaults={"key": digest, "request_hash": asked, "status": status, "body": {}},
    )
    if not fresh and record.request_hash != asked:
        raise Conflict(
            f"This {IDEMPOTENCY_HEADER} was used with another body.", code="idempotency_key_reused"
        )
    return record, fresh


def _take_over_record(record: IdempotentRequest) -> None:
    """Go on with what nobody works on any more. Raises Conflict."""
    now = timezone.now()
    stale = IdempotentRequest.objects.filter(
        id=record.id, status=_UNDER_WAY, created_at__lt=now - _LONGEST
    )
    if stale.update(created_at=now) != 1:
        raise Conflict(
            f"The request with this {IDEMPOTENCY_HEADER} is still being worked on.",
            code="request_under_way",
        )


def mark_replayed(replayed: bool) -> dict[str, str]:
    """The headers that say so."""
    return {"Idempotent-Replayed": "true"} if replayed else {}


def read_idempotency_key(request: Request) -> str:
    """The request's Idempotency-Key, or "". Raises InvalidInput."""
    key = request.headers.get(IDEMPOTENCY_HEADER, "")
    if len(key) > 200 or not (key.isascii() and key.isprintable()):
        raise InvalidInput("at most 200 printable ASCII characters", field=IDEMPOTENCY_HEADER)
    return key


def _hash_request(request: Request) -> str:
    sent = dict(request.data.lists()) if isinstance(request.data, QueryDict) else request.data
    body = json.dumps(
        [request.path, sent], sort_keys=True, ensure_ascii=False, default=_digest_file
    )
    secret = settings.SECRET_KEY.encode()
    return hmac.new(secret, body.encode(errors="surrogatepass"), "sha256").hexdigest()


def _digest_file(file: UploadedFile[Any]) -> list[Any]:
    """What stands for a file of a form."""
    found = hashlib.sha256()
    for chunk in file.chunks():  # from its beginning, wherever it was left
        found.update(chunk)
    return [file.name, found.hexdigest()]


def erase_answers(space: Space, since: datetime) -> int:
    """Drop what was answered from then on, for an erasure; the keys still count as used, and are
    kept as what stands for them."""
    kept = IdempotentRequest.objects.filter(tenant_id=space.tenant_id, created_at__gte=since)
    for each in kept.exclude(key__regex=r"^[0-9a-f]{64}$"):
        each.key = hash_with_secret("idempotency", each.key)
        each.save(update_fields=["key"])
    return kept.exclude(body=_ERASED_ANSWER).update(body=_ERASED_ANSWER)
