"""What memories add to the hub."""

from __future__ import annotations

from memoryhub.declarations import AppDeclaration, ExportKind, Growth
from notes.history.row_kinds import NOTE_KINDS

DECLARATION = AppDeclaration(
    memory_kinds=NOTE_KINDS,
    erasable_texts={
        "evolutionevent": "notes.erasure.erase empties the reason of an event that is purged",
        "revision": "notes.erasure.erase empties before and after",
        "indexentry": "notes.erasure.erase deletes entries of what goes, and writes others anew",
        "proposal": "notes.erasure.erase deletes those about what goes",
        "feedback": "notes.erasure.erase deletes that about what goes",
        "fingerprint": "notes.erasure.erase deletes those since the oldest turn that goes",
        "reviewrule": "a rule of the tenant's, in a person's words",
        "tombstone": "digests alone",
        "receipt": "digests, counts and the reason that a person gave",
    },
    export_kinds={
        "reviewrule": ExportKind(order=("created_at", "id")),
        "evolutionevent": ExportKind(order=("created_at", "id")),
        "chain": ExportKind(),
        "page": ExportKind(order=("first_seq",)),
        "fact": ExportKind(order=("recorded_at", "id")),
        "entity": ExportKind(),
        "relation": ExportKind(),
        "note": ExportKind(order=("created_at", "id")),
        "link": ExportKind(order=("created_at", "id")),
        "segment": ExportKind(),
        "segmentpage": ExportKind(),
        "episode": ExportKind(),
        "proposal": ExportKind(
            order=("created_at", "id"), keys=frozenset({"dedupe_key"}), is_last=True
        ),
        "feedback": ExportKind(order=("created_at", "id"), is_last=True),
        "fingerprint": ExportKind(order=("seen_at", "id"), is_last=True),
        "revision": ExportKind(is_last=True),
        "derivation": ExportKind(is_last=True),
        "tombstone": ExportKind(
            of_space="", shared=True, parts=frozenset({"tenant"}), is_last=True
        ),
        "receipt": ExportKind(of_space="", shared=True, parts=frozenset({"tenant"}), is_last=True),
        "indexentry": "made anew of the same texts; its vectors are told as their own lines",
    },
    growth={
        "indexentry": Growth(kind="memories"),
        "evolutionevent": Growth(kind="history", at="created_at"),
        "revision": Growth(kind="history"),
        "derivation": Growth(kind="history"),
        "proposal": Growth(kind="review", at="created_at"),
        "feedback": Growth(kind="review", at="created_at"),
        "reviewrule": Growth(kind="review", at="created_at"),
        "fingerprint": Growth(kind="erasures", at="seen_at"),
        "tombstone": Growth(kind="erasures", at="created_at"),
        "receipt": Growth(kind="erasures", at="created_at", days="receipt_days"),
    },
)
