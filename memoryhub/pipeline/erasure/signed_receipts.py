"""Receipts handed out with a signature: whoever holds one can have it looked at by the hub later.

The signature is under the first key that the hub had, as the digests of what was erased are, so
that it still counts after the key was rotated.
"""

from __future__ import annotations

import hmac
import json
from collections.abc import Mapping
from typing import Any

from memoryhub.dialogues.redaction import hash_with_secret
from notes.models import Receipt


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
    }
    return told | {"signature": _sign(told)}


def is_genuine(told: Mapping[str, Any]) -> bool:
    """Whether this hub signed exactly this."""
    said = {name: value for name, value in told.items() if name != "signature"}
    return hmac.compare_digest(_sign(said), str(told.get("signature", "")))


def _sign(told: Mapping[str, Any]) -> str:
    return hash_with_secret("receipt", json.dumps(told, sort_keys=True))
