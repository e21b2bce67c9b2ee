"""Sending what is due. Claim, ask with nothing open, write what came of it.

At least once: whoever dies between a receiver's answer and its being written down leaves a
delivery that is sent again, with the same event id.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from uuid import UUID

from django.conf import settings
from django.utils import timezone

from memoryhub.errors import InvalidInput
from memoryhub.tenants.scope import tenant_scope
from memoryhub.webhooks import http_client, queue, signatures, targets
from memoryhub.webhooks.models import Delivery, Webhook, WebhookEvent
from memoryhub.webhooks.payloads import build_body

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
    if tried:
        _delete_old_events(tenant_id, at or timezone.now())
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
    try:
        # Judged again with each try: what is allowed may have changed since it was entered.
        target = targets.check_target_url(
            hook.url, http=settings.WEBHOOK_ALLOW_HTTP, allowed=allowed
        )
    except InvalidInput as error:
        return http_client.ReceiverReply(None, error=f"refused: {error.message}")
    with tenant_scope(delivery.tenant_id):
        body = build_body(delivery)
    signed = signatures.build_headers(
        delivery.event_id, int(now.timestamp()), body, list_valid_secrets(hook, now)
    )
    head = {"Content-Type": "application/json", "User-Agent": "MemoryHub-Webhooks/1"}
    timeout = settings.WEBHOOK_TIMEOUT_SECONDS
    return http_client.post_body(target, {**head, **signed}, body, timeout=timeout, allowed=allowed)


def list_valid_secrets(hook: Webhook, now: datetime) -> list[str]:
    """Those that are valid, the newest first."""
    both = hook.previous_until is not None and hook.previous_until > now and hook.generation > 1
    generations = [hook.generation, hook.generation - 1] if both else [hook.generation]
    return [derive_webhook_secret(hook, each) for each in generations]


def derive_webhook_secret(hook: Webhook, generation: int) -> str:
    return signatures.derive_secret(settings.SECRET_KEY, hook.tenant_id, hook.id, generation)


def _delete_old_events(tenant_id: UUID, now: datetime) -> None:
    """Events and their deliveries go when the log's days are over."""
    oldest = now - timedelta(days=settings.WEBHOOK_LOG_DAYS)
    with tenant_scope(tenant_id):
        WebhookEvent.objects.filter(created_at__lt=oldest).delete()


def sweep_due_webhooks() -> None:
    """Ring for every webhook that waits; without a broker the work is done here."""
    from memoryhub.webhooks.tasks import ring_worker

    for tenant_id, webhook_id in queue.find_due_webhooks(timezone.now()):
        if not ring_worker(tenant_id, webhook_id):
            send_due_deliveries(tenant_id, webhook_id)
