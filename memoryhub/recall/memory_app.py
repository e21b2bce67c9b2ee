"""What recall adds to the hub."""

from __future__ import annotations

from memoryhub.declarations import AppDeclaration
from memoryhub.recall.log import retention

DECLARATION = AppDeclaration(
    space_sweeps=(retention.sweep_recall_log,),
    erasable_texts={
        "recalllog": retention.delete_entries_since,
        "recalllogitem": "goes with the entry that it is of",
    },
    export_kinds={
        "recalllog": "a log of what was asked here",
        "recalllogitem": "a log of what was asked here",
    },
)
