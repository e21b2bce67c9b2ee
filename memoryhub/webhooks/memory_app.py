"""What webhooks add to the hub."""

from __future__ import annotations

from memoryhub.declarations import AppDeclaration
from memoryhub.webhooks.dispatch import sweep_due_webhooks
from memoryhub.webhooks.outbox import record_news
from memoryhub.webhooks.services import erase_replies

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
)
