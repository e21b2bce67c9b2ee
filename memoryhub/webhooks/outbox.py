"""What there is to tell, written in the transaction in which it happened.

So nothing is lost between a change and its telling, and of what was rolled back nothing is told.
Without a webhook that asks for it, it costs one short statement.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from uuid import UUID

from django.db import transaction
from django.utils import timezone

from memoryhub.background.doorbell import ring_task
from memoryhub.background.news import News, NewsFactory
from memoryhub.tenants.database.prepared import load_prepared_rows
from memoryhub.tenants.models import Space
from memoryhub.webhooks import event_names
from memoryhub.webhooks.models import Delivery, Webhook, WebhookEvent

# Every change asks.
_ACTIVE_SQL = "tenant_id = %s AND is_active ORDER BY created_at DESC, id DESC"


def record_news(tenant_id: UUID, make: NewsFactory) -> None:
    """Listens to `memoryhub.background.news`. Call inside the tenant's scope."""
    hooks = load_prepared_rows(Webhook, _ACTIVE_SQL, [tenant_id])
    if not hooks:
        return
    wanted = [(news, names) for news in make() if (names := _find_subscribers(news, hooks))]
    if not wanted:
        return
    now = timezone.now()
    events = _write_events(tenant_id, [news for news, _ in wanted], now)
    deliveries = [
        build_delivery(hook, event, name, now)
        for event, (_, names) in zip(events, wanted, strict=True)
        if event is not None
        for hook, name in names
    ]
    Delivery.objects.bulk_create(deliveries, batch_size=500)
    ring_on_commit(tenant_id, {each.webhook_id for each in deliveries})


def build_delivery(hook: Webhook, event: WebhookEvent, name: str, now: datetime) -> Delivery:
    """A delivery that is due now, not yet stored."""
    due = {"run_after": now, "created_at": now}
    return Delivery(tenant_id=hook.tenant_id, webhook_id=hook.id, event=event, name=name, **due)


def _find_subscribers(news: News, hooks: Sequence[Webhook]) -> list[tuple[Webhook, str]]:
    """Who wants to hear of it, and under which name."""
    found = []
    for hook in hooks:
        name = event_names.find_event_name(hook.style, news.kind, news.data)
        if name in hook.events and hook.space_id in (None, news.space_id):
            found.append((hook, name))
    return found


def _write_events(
    tenant_id: UUID, told: Sequence[News], now: datetime
) -> list[WebhookEvent | None]:
    """A row for each; None for what was told once before."""
    events = [
        WebhookEvent(
            tenant_id=tenant_id,
            kind=news.kind,
            space_id=news.space_id,
            data=news.data,
            once=news.once,
            occurred_at=news.at,
            created_at=now,
        )
        for news in told
    ]
    WebhookEvent.objects.bulk_create(events, batch_size=500, ignore_conflicts=True)
    single = [event.id for event in events if event.once]
    if not single:
        return list(events)
    kept = set(WebhookEvent.objects.filter(id__in=single).values_list("id", flat=True))
    return [event if not event.once or event.id in kept else None for event in events]


def ring_on_commit(tenant_id: UUID, webhooks: Iterable[UUID]) -> None:
    """Robust: what is committed is found by the sweep, whatever becomes of the doorbell."""
    for webhook_id in webhooks:
        transaction.on_commit(lambda each=webhook_id: ring_worker(tenant_id, each), robust=True)  # type: ignore[misc]  # its default is the id


def ring_worker(tenant_id: UUID, webhook_id: UUID) -> bool:
    """Tell a worker. False when the broker is gone, which is only a delay."""
    return ring_task("memoryhub.webhooks.tasks.deliver", tenant_id, webhook_id)


def render_space(space: Space | None) -> dict[str, str] | None:
    """A space as events name it."""
    return {"id": str(space.id), "subject": space.subject} if space else None
