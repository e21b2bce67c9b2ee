"""What personas add to the hub."""

from __future__ import annotations

from memoryhub.declarations import AppDeclaration, ExportKind, Growth
from notes.history.row_kinds import RowKind
from personas.blocks import follow_revisions
from personas.models import CoreBlock, ProfileAttribute, Trait

DECLARATION = AppDeclaration(
    memory_kinds=(
        RowKind(Trait),
        RowKind(ProfileAttribute),
        RowKind(CoreBlock, follow=follow_revisions, is_scrubbed=True),
    ),
    erasable_texts={
        "blockversion": "personas.scrub",
        "window": "personas",
    },
    export_kinds={
        "trait": ExportKind(order=("valid_from", "id")),
        "profileattribute": ExportKind(),
        "coreblock": ExportKind(parts=frozenset({"space", "tenant"})),
        "blockversion": ExportKind(
            order=("block_id", "version"),
            of_space="block__space",
            shared=True,
            parts=frozenset({"space", "tenant"}),
        ),
        "blockattachment": ExportKind(of_space="", shared=True, parts=frozenset({"tenant"})),
        "window": ExportKind(),
    },
    growth={
        "blockversion": Growth(kind="history", at="created_at"),
        "blockattachment": Growth(kind="settings"),
        "window": Growth(kind="said"),
    },
)
