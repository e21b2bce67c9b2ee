"""What webhooks add to the hub."""

from __future__ import annotations

from django.db.models import Q

from memoryhub.declarations import AppDeclaration, Growth
from memoryhub.webhooks.dispatch import sweep_due_webhooks
from memoryhub.webhooks.outbox import record_news
from memoryhub.webhooks.services import erase_replies

# An event that is still to be sent stays.
_ALL_SENT = ~Q(deliveries__state__in=["waiting", "sending", "retry"])

DECLARATION = AppDeclaration(
    hub_sweeps=(sweep_due_webhooks,),
    listeners=(record_news,),
    erasable_texts={
        "webhook": "an operator's address and names for it",
        "webhookevent": "ids and figures, never words",
        "delivery": erase_replies,
    },
    export_kinds={
        "webhook": "its secret comes of this hub's key",
        "webhookevent": "sent from here",
        "delivery": "a log of what was sent from here",
    },
    growth={
        "webhook": Growth(kind="settings", at="created_at"),
        "webhookevent": Growth(
            kind="webhooks",
            at="created_at",
            days="delivery_days",
            hub_days="WEBHOOK_LOG_DAYS",
            only=_ALL_SENT,
        ),
        "delivery": Growth(kind="webhooks", at="created_at"),
    },
)
