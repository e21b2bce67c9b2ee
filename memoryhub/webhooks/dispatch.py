"""Sending what is due. Claim, ask with nothing open, write what came of it.

At least once: whoever dies between a receiver's answer and its being written down leaves a
delivery that is sent again, with the same event id.
"""

from __future__ import annotations

import hmac
from base64 import b64decode, b64encode
from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from django.conf import settings
from django.utils import timezone

from memoryhub.errors import InvalidInput
from memoryhub.tenants.scope import tenant_scope
from memoryhub.webhooks import http_client, outbox, queue, targets
from memoryhub.webhooks.models import Delivery, Webhook
from memoryhub.webhooks.payloads import build_body

# Signatures as Standard Webhooks has them (standardwebhooks.com). Pure.
#
# Three headers: `webhook-id` (the event's id, the same with every try), `webhook-timestamp`
# (seconds since 1970, of this try) and `webhook-signature`: `v1,` and the base64 of an HMAC-SHA256
# over `id.timestamp.body`; several, with spaces, while two secrets are valid.


KEY_PREFIX = "whsec_"


def derive_secret(hub_key: str, tenant_id: UUID, webhook_id: UUID, generation: int) -> str:
    """The secret of a webhook: it follows from the hub's key, so that none is stored."""
    said = f"memoryhub.webhook:{tenant_id}:{webhook_id}:{generation}"
    return KEY_PREFIX + b64encode(hmac.digest(hub_key.encode(), said.encode(), "sha256")).decode()


def build_headers(event_id: UUID, at: int, body: bytes, secrets: Sequence[str]) -> dict[str, str]:
    """`at`: seconds since 1970. `secrets`: all that are valid now, the newest first."""
    return {
        "webhook-id": str(event_id),
        "webhook-timestamp": str(at),
        "webhook-signature": " ".join(sign_body(event_id, at, body, each) for each in secrets),
    }


def sign_body(event_id: UUID, at: int, body: bytes, secret: str) -> str:
    key = b64decode(secret.removeprefix(KEY_PREFIX))
    signed = f"{event_id}.{at}.".encode() + body
    return "v1," + b64encode(hmac.digest(key, signed, "sha256")).decode()


# A worker's thread is given back after so many; the rest is rung for again.
MOST_AT_ONCE = 50


def send_due_deliveries(tenant_id: UUID, webhook_id: UUID, at: datetime | None = None) -> int:
    """Send what is due, one after the other, the oldest first; stops at the first that fails.

    Returns how many were sent or tried. `at`: a test's clock.
    """
    tried = 0
    while tried < MOST_AT_ONCE:
        with tenant_scope(tenant_id):
            delivery = queue.claim_delivery(webhook_id, at or timezone.now())
        if delivery is None:
            break
        tried += 1
        if not attempt_delivery(delivery, at).is_ok:
            break
    return tried


def attempt_delivery(delivery: Delivery, at: datetime | None = None) -> http_client.ReceiverReply:
    """One try of a delivery that was leased. No transaction is open while it is sent."""
    now = at or timezone.now()
    reply = _post_delivery(delivery, now)
    with tenant_scope(delivery.tenant_id):
        queue.finish_attempt(delivery, reply, at or timezone.now())
    return reply


def _post_delivery(delivery: Delivery, now: datetime) -> http_client.ReceiverReply:
    hook, allowed = delivery.webhook, settings.WEBHOOK_PRIVATE_NETWORKS
    http, secrets = settings.WEBHOOK_ALLOW_HTTP, list_valid_secrets(hook, now)
    try:
        # Judged again with each try: what is allowed may have changed since it was entered.
        target = targets.check_target_url(hook.url, http=http, allowed=allowed)
    except InvalidInput as error:
        return http_client.ReceiverReply(None, error=f"refused: {error.message}")
    with tenant_scope(delivery.tenant_id):
        body = build_body(delivery)
    signed = build_headers(delivery.event_id, int(now.timestamp()), body, secrets)
    head = {"Content-Type": "application/json", "User-Agent": "MemoryHub-Webhooks/1"}
    timeout = settings.WEBHOOK_TIMEOUT_SECONDS
    return http_client.post_body(target, {**head, **signed}, body, timeout=timeout, allowed=allowed)


def list_valid_secrets(hook: Webhook, now: datetime) -> list[str]:
    """Those that are valid, the newest first; while the hub's key is rotated, those of before."""
    both = hook.previous_until is not None and hook.previous_until > now and hook.generation > 1
    generations = [hook.generation, hook.generation - 1] if both else [hook.generation]
    keys = [settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS]
    return [derive_secret(key, hook.tenant_id, hook.id, g) for key in keys for g in generations]


def derive_webhook_secret(hook: Webhook, generation: int) -> str:
    return derive_secret(settings.SECRET_KEY, hook.tenant_id, hook.id, generation)


def sweep_due_webhooks() -> None:
    """Ring for every webhook that waits; without a broker the work is done here."""
    for tenant_id, webhook_id in queue.find_due_webhooks(timezone.now()):
        if not outbox.ring_worker(tenant_id, webhook_id):
            send_due_deliveries(tenant_id, webhook_id)
