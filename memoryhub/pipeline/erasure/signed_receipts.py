"""Receipts handed out with a signature: whoever holds one can have it looked at by the hub later.

The signature is under the first key that the hub had, as the digests of what was erased are, so
that it still counts after the key was rotated. What can be undone for a time says so, and what
became of it by then: a receipt that was signed earlier stays genuine, and the hub tells what came
since.
"""

from __future__ import annotations

import hmac
import json
from collections.abc import Mapping
from datetime import datetime
from typing import Any
from uuid import UUID

from memoryhub.dialogues.redaction import hash_with_secret
from memoryhub.tenants.scope import tenant_scope
from notes.models import Receipt

# What may still change about an erasure, and is signed as it was by then.
_STANDING = ("undoable_until", "gone_at", "undone_at")


def sign_receipt(receipt: Receipt) -> dict[str, Any]:
    """What the receipt says, as JSON has it, with its `signature`."""
    told = {
        "id": str(receipt.id),
        "tenant": str(receipt.tenant_id),
        "target": receipt.target,
        "target_digest": receipt.target_digest,
        "actor": receipt.actor,
        "reason": receipt.reason,
        "counts": receipt.counts,
        "created_at": receipt.created_at.isoformat(),
        **_tell_standing(receipt),
    }
    return told | {"signature": _sign(told)}


def is_genuine(told: Mapping[str, Any]) -> bool:
    """Whether this hub signed exactly this."""
    said = {name: value for name, value in told.items() if name != "signature"}
    return hmac.compare_digest(_sign(said), str(told.get("signature", "")))


def list_changes_since(told: Mapping[str, Any]) -> dict[str, str]:
    """What became of the erasure since a genuine receipt of it was signed, as far as this hub still
    has it: when it was undone, or was gone for good. Call outside every scope."""
    with tenant_scope(UUID(told["tenant"])):
        receipt = Receipt.objects.filter(id=told["id"]).first()
    if receipt is None:
        return {}
    now = _tell_standing(receipt)
    return {name: said for name, said in now.items() if said and said != told.get(name)}


def _tell_standing(receipt: Receipt) -> dict[str, str | None]:
    times: dict[str, datetime | None] = {name: getattr(receipt, name) for name in _STANDING}
    return {name: time.isoformat() if time else None for name, time in times.items()}


def _sign(told: Mapping[str, Any]) -> str:
    return hash_with_secret("receipt", json.dumps(told, sort_keys=True))
