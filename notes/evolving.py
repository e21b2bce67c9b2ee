"""How a note's descriptors change: never its content, never by something empty (spec §4.5)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from memoryhub.engines.types import Evolution, NoteDraft
from notes.models import Note
from notes.recording import ChangeSet, Source, values_of

MOST_WORDS, LONGEST_WORD, LONGEST_CONTEXT = 12, 120, 500  # spec §16
DESCRIPTORS = ("keywords", "tags", "context")


@dataclass(frozen=True, slots=True)
class Change:
    """New values of a note's descriptors, read at `version`; `by` are the notes it learnt from."""

    note: Note
    values: dict[str, Any]
    version: int
    why: str = ""
    by: tuple[UUID, ...] = ()

    @property
    def after(self) -> Note:
        """The note as it will be, for its index entry: a copy, not to be saved."""
        changed = copy(self.note)
        for name, value in self.values.items():
            setattr(changed, name, value)
        return changed


def descriptors(draft: NoteDraft) -> dict[str, Any]:
    """A draft as columns, within their bounds."""
    return {
        "keywords": words(draft.keywords),
        "tags": words(draft.tags),
        "context": draft.context[:LONGEST_CONTEXT],
    }


def words(found: Sequence[str]) -> list[str]:
    trimmed = (word.strip()[:LONGEST_WORD] for word in found)
    return list(dict.fromkeys(word for word in trimmed if word))[:MOST_WORDS]


def changed_by(note: Note, evolution: Evolution) -> dict[str, Any]:
    """The descriptors that become something else; empty ones stay as they are (A15, AM5)."""
    given: dict[str, Any] = {
        "keywords": words(evolution.keywords or ()),
        "tags": words(evolution.tags or ()),
        "context": (evolution.context or "").strip()[:LONGEST_CONTEXT],
    }
    return {name: value for name, value in given.items() if value and value != getattr(note, name)}


def is_owned(note: Note) -> bool:
    """Written by an agent or a person for itself: a free note with an author (spec C20)."""
    return bool(note.author) and note.page_id is None and note.fact_id is None


def evolve(
    changed: Sequence[tuple[Note, Change]],
    sources: Mapping[UUID, Sequence[Source]],
    changes: ChangeSet,
) -> None:
    """Write the new values into the rows, which are locked and of the version read.

    What a note learnt rests on the turns of the note it learnt from, as context.
    """
    for row, change in changed:
        before = values_of(row)
        for name, value in change.values.items():
            setattr(row, name, value)
        row.version += 1
        changes.changed(row, before)
        changes.supported(row, sources.get(row.id, ()))
    Note.objects.bulk_update(
        [row for row, _ in changed], [*DESCRIPTORS, "enrichment", "version"], batch_size=500
    )
