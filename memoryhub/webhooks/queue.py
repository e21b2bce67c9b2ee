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

from memoryhub.webhooks.event_names import TEST_EVENT
from memoryhub.webhooks.http_client import ReceiverReply
from memoryhub.webhooks.models import Delivery, Webhook

BACKOFF_FACTOR = 4
LONGEST_BACKOFF = timedelta(hours=6)
# While a receiver fails, nothing is sent to it by itself for this long at most.
LONGEST_QUIET = timedelta(minutes=5)
LONGEST_RETRY_AFTER = timedelta(hours=1)


def compute_backoff(tries: int, base: float, roll: float, asked: int = 0) -> timedelta:
    """The wait after this many tries: four times as long with each, six hours at most, and up to
    a quarter more or less by `roll` (0 to 1), so that what failed together does not come back
    together. `asked`: seconds the receiver asked for, which are kept up to an hour.
    """
    seconds = min(base * BACKOFF_FACTOR ** max(0, tries - 1), LONGEST_BACKOFF.total_seconds())
    wait = timedelta(seconds=seconds * (0.75 + 0.5 * roll))
    return max(wait, min(timedelta(seconds=asked), LONGEST_RETRY_AFTER))


def compute_quiet_time(failures: int, base: float) -> timedelta:
    """How long a receiver is left alone after so many failures running."""
    seconds = base * 2 ** min(max(0, failures - 1), 20)
    return min(timedelta(seconds=seconds), LONGEST_QUIET)


State = Delivery.State
# Deliveries given up one after the other before the webhook is switched off.
MOST_GIVEN_UP = 5
MAX_LOGGED_TRIES = 20
_GONE_STATUS = 410
# The receiver itself is in trouble: others of its deliveries would fail as well.
_TROUBLE_STATUSES = (408, 425, 429)


def claim_delivery(webhook_id: UUID, now: datetime) -> Delivery | None:
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
        said = found.error or _("its worker died every time")
        finish_attempt(found, ReceiverReply(None, error=said), now)
        return claim_delivery(webhook_id, now)
    return lease_delivery(found, now)


def lease_delivery(delivery: Delivery, now: datetime) -> Delivery | None:
    """This delivery, or None when another worker got there first."""
    try:
        with transaction.atomic():
            claimed = _match_unchanged(delivery).update(
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


def _match_unchanged(delivery: Delivery) -> QuerySet[Delivery]:
    rows: QuerySet[Delivery] = Delivery.objects.filter(
        id=delivery.id, state=delivery.state, attempts=delivery.attempts
    )
    return rows


def finish_attempt(delivery: Delivery, reply: ReceiverReply, now: datetime) -> bool:
    """Write what came of a try. False when another worker has the delivery now."""
    is_test = delivery.event.kind == TEST_EVENT
    over = (
        is_test or delivery.tries >= settings.WEBHOOK_MAX_ATTEMPTS or reply.status == _GONE_STATUS
    )
    state = State.DELIVERED if reply.is_ok else State.DEAD if over else State.RETRY
    asked = reply.retry_after if reply.status in (429, 503) else 0
    base = settings.WEBHOOK_BACKOFF_SECONDS
    wait = compute_backoff(delivery.tries, base, random.random(), asked)  # noqa: S311  # no secret
    line = {"at": now.isoformat(), "status": reply.status, "ms": reply.milliseconds}
    line["error"] = reply.error[:200]
    written = _match_unchanged(delivery).update(
        state=state,
        run_after=now + wait if state == State.RETRY else delivery.run_after,
        lease_until=None,
        finished_at=None if state == State.RETRY else now,
        status=reply.status,
        milliseconds=reply.milliseconds,
        error=reply.error[:500],
        reply=reply.text[:500],
        log=[*delivery.log, line][-MAX_LOGGED_TRIES:],
    )
    if written != 1:
        return False
    if reply.is_ok:
        fine = {"failures": 0, "given_up": 0, "quiet_until": None, "last_success_at": now}
        Webhook.objects.filter(id=delivery.webhook_id).update(**fine)
    elif not is_test:
        _record_failure(delivery.webhook_id, reply, now, given_up=state == State.DEAD)
    return True


def _record_failure(
    webhook_id: UUID, reply: ReceiverReply, now: datetime, *, given_up: bool
) -> None:
    rows = Webhook.objects.filter(id=webhook_id)
    rows.update(failures=F("failures") + 1, given_up=F("given_up") + int(given_up))
    hook: Webhook = rows.get()
    if reply.status is None or reply.status >= 500 or reply.status in _TROUBLE_STATUSES:
        wait = compute_quiet_time(hook.failures, settings.WEBHOOK_BACKOFF_SECONDS)
        rows.update(quiet_until=now + wait)
    if reply.status == _GONE_STATUS:
        _disable_webhook(hook, now, _("It answered 410: the receiver is gone."))
    elif hook.given_up >= MOST_GIVEN_UP:
        said = f"{hook.given_up} deliveries in a row were given up; the last: {reply.error}"
        _disable_webhook(hook, now, said)


def _disable_webhook(hook: Webhook, now: datetime, because: str) -> None:
    Webhook.objects.filter(id=hook.id, is_active=True).update(
        is_active=False, disabled_because=because[:500], version=F("version") + 1, changed_at=now
    )


def find_due_webhooks(now: datetime, most: int = 200) -> list[tuple[UUID, UUID]]:
    """(tenant, webhook) of every webhook with a delivery that is due, over all tenants."""
    with connection.cursor() as cursor:
        statement = "SELECT tenant_id, webhook_id FROM memoryhub_due_webhooks(%s, %s)"
        cursor.execute(statement, [now, most])
        return list(cursor.fetchall())
