"""What dialogues add to the hub."""

from __future__ import annotations

from memoryhub.declarations import AppDeclaration, ExportKind, Growth

DECLARATION = AppDeclaration(
    erasable_texts={
        "session": "notes.erasure.erase.erase_session_name",
        "turn": "notes.erasure.erase.redact_turns",
    },
    export_kinds={"session": ExportKind(order=("ordinal",)), "turn": ExportKind(order=("seq",))},
    growth={
        "session": Growth(kind="said", at="started_at"),
        "turn": Growth(kind="said", at="received_at", days="turn_days"),
    },
)
