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
from memoryhub.webhooks import queue, sending, signing, targets
from memoryhub.webhooks.models import Delivery, Webhook, WebhookEvent
from memoryhub.webhooks.payloads import body_of

# A worker's thread is given back after so many; the rest is rung for again.
MOST_AT_ONCE = 50


def run_webhook(tenant_id: UUID, webhook_id: UUID, at: datetime | None = None) -> int:
    """Send what is due, one after the other, the oldest first; stops at the first that fails.

    Returns how many were sent or tried. `at`: a test's clock.
    """
    tried = 0
    while tried < MOST_AT_ONCE:
        with tenant_scope(tenant_id):
            delivery = queue.claim(webhook_id, at or timezone.now())
        if delivery is None:
            break
        tried += 1
        if not attempt(delivery, at).is_ok:
            break
    if tried:
        _forget_old(tenant_id, at or timezone.now())
    return tried


def attempt(delivery: Delivery, at: datetime | None = None) -> sending.Reply:
    """One try of a delivery that was leased. No transaction is open while it is sent."""
    now = at or timezone.now()
    reply = _posted(delivery, now)
    with tenant_scope(delivery.tenant_id):
        queue.settle(delivery, reply, at or timezone.now())
    return reply


def _posted(delivery: Delivery, now: datetime) -> sending.Reply:
    hook, allowed = delivery.webhook, settings.WEBHOOK_PRIVATE_NETWORKS
    try:
        # Judged again with each try: what is allowed may have changed since it was entered.
        target = targets.checked(hook.url, http=settings.WEBHOOK_ALLOW_HTTP, allowed=allowed)
    except InvalidInput as error:
        return sending.Reply(None, error=f"refused: {error.message}")
    with tenant_scope(delivery.tenant_id):
        body = body_of(delivery)
    signed = signing.headers(delivery.event_id, int(now.timestamp()), body, secrets(hook, now))
    head = {"Content-Type": "application/json", "User-Agent": "MemoryHub-Webhooks/1"}
    timeout = settings.WEBHOOK_TIMEOUT_SECONDS
    return sending.post(target, {**head, **signed}, body, timeout=timeout, allowed=allowed)


def secrets(hook: Webhook, now: datetime) -> list[str]:
    """Those that are valid, the newest first."""
    both = hook.previous_until is not None and hook.previous_until > now and hook.generation > 1
    generations = [hook.generation, hook.generation - 1] if both else [hook.generation]
    return [secret(hook, each) for each in generations]


def secret(hook: Webhook, generation: int) -> str:
    return signing.secret_of(settings.SECRET_KEY, hook.tenant_id, hook.id, generation)


def _forget_old(tenant_id: UUID, now: datetime) -> None:
    """Events and their deliveries go when the log's days are over."""
    oldest = now - timedelta(days=settings.WEBHOOK_LOG_DAYS)
    with tenant_scope(tenant_id):
        WebhookEvent.objects.filter(created_at__lt=oldest).delete()


def sweep() -> None:
    """Ring for every webhook that waits; without a broker the work is done here."""
    from memoryhub.webhooks.tasks import ring

    for tenant_id, webhook_id in queue.due(timezone.now()):
        if not ring(tenant_id, webhook_id):
            run_webhook(tenant_id, webhook_id)
