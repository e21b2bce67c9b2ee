"""Claiming and ending deliveries by compare-and-swap, as jobs are. Call inside the scope.

`attempts` is the fence: a worker that lost its lease finds that nothing matches.
"""

from __future__ import annotations

import random
from datetime import datetime, timedelta
from uuid import UUID

from django.conf import settings
from django.db import IntegrityError, connection, transaction
from django.db.models import F, Q, QuerySet
from django.utils.translation import gettext_noop as _

from memoryhub.webhooks.models import Delivery, Webhook
from memoryhub.webhooks.naming import TEST
from memoryhub.webhooks.sending import Reply
from memoryhub.webhooks.waiting import backoff, quiet

State = Delivery.State
# Deliveries given up one after the other before the webhook is switched off.
MOST_GIVEN_UP = 5
KEPT_TRIES = 20
_GONE = 410
# The receiver itself is in trouble: others of its deliveries would fail as well.
_TROUBLE = (408, 425, 429)


def claim(webhook_id: UUID, now: datetime) -> Delivery | None:
    """Lease the webhook's next delivery that is due, the oldest first; None when there is none,
    it is switched off or left alone, or another worker is sending to it."""
    rested = Q(webhook__quiet_until=None) | Q(webhook__quiet_until__lte=now)
    rows = Delivery.objects.filter(rested, webhook_id=webhook_id, webhook__is_active=True)
    sending = rows.filter(state=State.SENDING).first()
    if sending is not None and sending.lease_until and sending.lease_until >= now:
        return None
    due = rows.filter(state__in=(State.WAITING, State.RETRY), run_after__lte=now)
    found = sending or due.order_by("created_at", "id").first()
    if found is None:
        return None
    if found.tries >= settings.WEBHOOK_MAX_ATTEMPTS:
        settle(found, Reply(None, error=found.error or _("its worker died every time")), now)
        return claim(webhook_id, now)
    return lease(found, now)


def lease(delivery: Delivery, now: datetime) -> Delivery | None:
    """This delivery, or None when another worker got there first."""
    try:
        with transaction.atomic():
            claimed = _unchanged(delivery).update(
                state=State.SENDING,
                attempts=delivery.attempts + 1,
                tries=delivery.tries + 1,
                lease_until=now + timedelta(seconds=3 * settings.WEBHOOK_TIMEOUT_SECONDS + 30),
            )
    except IntegrityError:
        return None  # another one of the webhook is being sent
    if claimed != 1:
        return None
    rows = Delivery.objects.select_related("webhook", "event", "event__space")
    found: Delivery = rows.get(id=delivery.id)
    return found


def _unchanged(delivery: Delivery) -> QuerySet[Delivery]:
    rows: QuerySet[Delivery] = Delivery.objects.filter(
        id=delivery.id, state=delivery.state, attempts=delivery.attempts
    )
    return rows


def settle(delivery: Delivery, reply: Reply, now: datetime) -> bool:
    """Write what came of a try. False when another worker has the delivery now."""
    is_test = delivery.event.kind == TEST
    over = is_test or delivery.tries >= settings.WEBHOOK_MAX_ATTEMPTS or reply.status == _GONE
    state = State.DELIVERED if reply.is_ok else State.DEAD if over else State.RETRY
    asked = reply.retry_after if reply.status in (429, 503) else 0
    base = settings.WEBHOOK_BACKOFF_SECONDS
    wait = backoff(delivery.tries, base, random.random(), asked)  # noqa: S311  # no secret
    written = _unchanged(delivery).update(
        state=state,
        run_after=now + wait if state == State.RETRY else delivery.run_after,
        lease_until=None,
        finished_at=None if state == State.RETRY else now,
        status=reply.status,
        milliseconds=reply.milliseconds,
        error=reply.error[:500],
        reply=reply.text[:500],
        log=[*delivery.log, _line(reply, now)][-KEPT_TRIES:],
    )
    if written != 1:
        return False
    if reply.is_ok:
        _went_well(delivery.webhook_id, now)
    elif not is_test:
        _went_wrong(delivery.webhook_id, reply, now, given_up=state == State.DEAD)
    return True


def _line(reply: Reply, now: datetime) -> dict[str, object]:
    error = reply.error[:200]
    return {
        "at": now.isoformat(),
        "status": reply.status,
        "ms": reply.milliseconds,
        "error": error,
    }


def _went_well(webhook_id: UUID, now: datetime) -> None:
    Webhook.objects.filter(id=webhook_id).update(
        failures=0, given_up=0, quiet_until=None, last_success_at=now
    )


def _went_wrong(webhook_id: UUID, reply: Reply, now: datetime, *, given_up: bool) -> None:
    rows = Webhook.objects.filter(id=webhook_id)
    rows.update(failures=F("failures") + 1, given_up=F("given_up") + int(given_up))
    hook: Webhook = rows.get()
    if reply.status is None or reply.status >= 500 or reply.status in _TROUBLE:
        wait = quiet(hook.failures, settings.WEBHOOK_BACKOFF_SECONDS)
        rows.update(quiet_until=now + wait)
    if reply.status == _GONE:
        _switch_off(hook, now, _("It answered 410: the receiver is gone."))
    elif hook.given_up >= MOST_GIVEN_UP:
        said = f"{hook.given_up} deliveries in a row were given up; the last: {reply.error}"
        _switch_off(hook, now, said)


def _switch_off(hook: Webhook, now: datetime, because: str) -> None:
    Webhook.objects.filter(id=hook.id, is_active=True).update(
        is_active=False,
        disabled_because=because[:500],
        version=F("version") + 1,
        changed_at=now,
    )


def due(now: datetime, most: int = 200) -> list[tuple[UUID, UUID]]:
    """(tenant, webhook) of every webhook with a delivery that is due, over all tenants."""
    with connection.cursor() as cursor:
        statement = "SELECT tenant_id, webhook_id FROM memoryhub_due_webhooks(%s, %s)"
        cursor.execute(statement, [now, most])
        return list(cursor.fetchall())
