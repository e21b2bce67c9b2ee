"""What policies add to the hub."""

from __future__ import annotations

from memoryhub.declarations import AppDeclaration, ExportKind, Growth

DECLARATION = AppDeclaration(
    erasable_texts={"policyversion": "settings, and why a person chose them"},
    export_kinds={
        "policyversion": ExportKind(order=("version",), parts=frozenset({"space", "tenant"}))
    },
    growth={
        "policyversion": Growth(kind="settings", at="created_at"),
    },
)
