"""What an import found, took, had already, and left behind, and why."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from memoryhub.importers.records import (
    KINDS,
    Block,
    Kind,
    Memory,
    Passage,
    Record,
    Skipped,
    Talk,
    Unknown,
)

# Of what is skipped, each is shown up to here; beyond it the reasons are counted.
SHOWN = 200
MOST_FIELDS, MOST_SUBJECTS = 200, 200
_KIND: dict[type, Kind] = {Memory: "fact", Passage: "note", Block: "block"}


def kind_of(record: Talk | Memory | Passage | Block) -> Kind:
    return "turn" if isinstance(record, Talk) else _KIND[type(record)]


def size_of(record: Talk | Memory | Passage | Block) -> int:
    return len(record.messages) if isinstance(record, Talk) else 1


@dataclass
class Report:
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

    def saw(self, record: Record, subject: str) -> None:
        """Count what the file has."""
        if isinstance(record, Skipped):
            self.skip(record)
        elif isinstance(record, Unknown):
            self._unknown(record)
        else:
            self.found[kind_of(record)] += size_of(record)
            self.sessions += isinstance(record, Talk)
            if subject in self.subjects or len(self.subjects) < MOST_SUBJECTS:
                self.subjects[subject] += size_of(record)

    def skip(self, record: Skipped) -> None:
        self.reasons[record.reason[:200]] += record.count
        if len(self.skipped) < SHOWN:
            shown = {
                "where": record.where,
                "kind": record.kind,
                "id": record.id,
                "reason": record.reason[:200],
            }
            self.skipped.append(shown | ({"count": str(record.count)} if record.count > 1 else {}))

    def _unknown(self, record: Unknown) -> None:
        for name in record.fields:
            if name in self.unknown_fields or len(self.unknown_fields) < MOST_FIELDS:
                self.unknown_fields[name] += 1

    @property
    def total(self) -> int:
        return sum(self.found.values())

    def as_json(self) -> dict[str, Any]:
        return {
            "source": self.source,
            "file": self.file,
            "dry_run": self.dry_run,
            "found": self._by_kind(self.found) | {"session": self.sessions},
            "taken": self._by_kind(self.taken),
            "already": self._by_kind(self.already),
            "skipped_total": sum(self.reasons.values()),
            "skipped": self.skipped,
            "reasons": dict(self.reasons.most_common(100)),
            "unknown_fields": dict(self.unknown_fields.most_common()),
            "subjects": dict(self.subjects.most_common()),
        }

    @staticmethod
    def _by_kind(counts: Counter[str]) -> dict[str, int]:
        return {kind: counts[kind] for kind in KINDS}
