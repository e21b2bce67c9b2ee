"""What stored items add to the hub."""

from __future__ import annotations

from memoryhub.declarations import AppDeclaration, ExportKind, Growth

DECLARATION = AppDeclaration(
    erasable_texts={
        "item": "an agent's own store, no memory of what was said: it deletes what it put there",
        "itemtext": "goes with its item",
    },
    export_kinds={
        "item": ExportKind(order=("created_at", "id")),
        "itemtext": ExportKind(order=("item_id", "place")),
    },
    growth={
        "item": Growth(kind="items", at="created_at"),
        "itemtext": Growth(kind="items"),
    },
)
