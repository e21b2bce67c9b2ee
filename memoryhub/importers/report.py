"""What an import found, took, had already, and left behind, and why."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from memoryhub.importers.records import (
    RECORD_KINDS,
    Record,
    SessionRecord,
    SkippedRecord,
    UnknownFields,
)

# Of what is skipped, each is shown up to here; beyond it the reasons are counted.
MOST_LISTED_SKIPS = 200
MOST_FIELDS, MOST_SUBJECTS = 200, 200


@dataclass
class ImportReport:
    """`found` is what could be taken, by kind; all of it is `taken` (with a dry run: would be),
    was there `already`, or was skipped while it was written. `skipped` lists what is not taken
    with its place; `reasons` counts all of it. `unknown_fields` counts the items that had them.
    """

    source: str
    file: str
    dry_run: bool
    found: Counter[str] = field(default_factory=Counter)
    taken: Counter[str] = field(default_factory=Counter)
    already: Counter[str] = field(default_factory=Counter)
    sessions: int = 0
    skipped: list[dict[str, str]] = field(default_factory=list)
    reasons: Counter[str] = field(default_factory=Counter)
    unknown_fields: Counter[str] = field(default_factory=Counter)
    subjects: Counter[str] = field(default_factory=Counter)

    def count_record(self, record: Record, subject: str) -> None:
        """Count what the file has."""
        if isinstance(record, SkippedRecord):
            self.add_skipped(record)
        elif isinstance(record, UnknownFields):
            for name in record.fields:
                if name in self.unknown_fields or len(self.unknown_fields) < MOST_FIELDS:
                    self.unknown_fields[name] += 1
        else:
            self.found[record.kind] += record.count
            self.sessions += isinstance(record, SessionRecord)
            if subject in self.subjects or len(self.subjects) < MOST_SUBJECTS:
                self.subjects[subject] += record.count

    def add_skipped(self, record: SkippedRecord) -> None:
        reason = record.reason[:200]
        self.reasons[reason] += record.count
        if len(self.skipped) < MOST_LISTED_SKIPS:
            shown = {"where": record.where, "kind": record.kind, "id": record.id, "reason": reason}
            self.skipped.append(shown | ({"count": str(record.count)} if record.count > 1 else {}))

    @property
    def total(self) -> int:
        return sum(self.found.values())

    def to_dict(self) -> dict[str, Any]:
        return {
            "source": self.source,
            "file": self.file,
            "dry_run": self.dry_run,
            "found": self._count_by_kind(self.found) | {"session": self.sessions},
            "taken": self._count_by_kind(self.taken),
            "already": self._count_by_kind(self.already),
            "skipped_total": sum(self.reasons.values()),
            "skipped": self.skipped,
            "reasons": dict(self.reasons.most_common(100)),
            "unknown_fields": dict(self.unknown_fields.most_common()),
            "subjects": dict(self.subjects.most_common()),
        }

    @staticmethod
    def _count_by_kind(counts: Counter[str]) -> dict[str, int]:
        return {kind: counts[kind] for kind in RECORD_KINDS}
