"""What recall adds to the hub."""

from __future__ import annotations

from memoryhub.declarations import AppDeclaration, Growth
from memoryhub.recall.log import retention

DECLARATION = AppDeclaration(
    erasable_texts={
        "recalllog": retention.delete_entries_since,
        "recalllogitem": "goes with the entry that it is of",
    },
    export_kinds={
        "recalllog": "a log of what was asked here",
        "recalllogitem": "a log of what was asked here",
    },
    growth={
        "recalllog": Growth(
            kind="recalls", at="asked_at", days="recall_days", hub_days="RECALL_LOG_DAYS"
        ),
        "recalllogitem": Growth(kind="recalls"),
    },
)
