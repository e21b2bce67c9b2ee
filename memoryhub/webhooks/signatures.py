"""Signatures as Standard Webhooks has them (standardwebhooks.com). Pure.

Three headers: `webhook-id` (the event's id, the same with every try), `webhook-timestamp`
(seconds since 1970, of this try) and `webhook-signature`: `v1,` and the base64 of an HMAC-SHA256
over `id.timestamp.body`; several, with spaces, while two secrets are valid.
"""

from __future__ import annotations

import hmac
from base64 import b64decode, b64encode
from collections.abc import Sequence
from uuid import UUID

SECRET_PREFIX = "whsec_"


def derive_secret(hub_key: str, tenant_id: UUID, webhook_id: UUID, generation: int) -> str:
    """The secret of a webhook: it follows from the hub's key, so that none is stored."""
    said = f"memoryhub.webhook:{tenant_id}:{webhook_id}:{generation}"
    return (
        SECRET_PREFIX + b64encode(hmac.digest(hub_key.encode(), said.encode(), "sha256")).decode()
    )


def build_headers(event_id: UUID, at: int, body: bytes, secrets: Sequence[str]) -> dict[str, str]:
    """`at`: seconds since 1970. `secrets`: all that are valid now, the newest first."""
    return {
        "webhook-id": str(event_id),
        "webhook-timestamp": str(at),
        "webhook-signature": " ".join(sign_body(event_id, at, body, each) for each in secrets),
    }


def sign_body(event_id: UUID, at: int, body: bytes, secret: str) -> str:
    key = b64decode(secret.removeprefix(SECRET_PREFIX))
    signed = f"{event_id}.{at}.".encode() + body
    return "v1," + b64encode(hmac.digest(key, signed, "sha256")).decode()
