"""How a note's descriptors change: never its content, never by something empty (spec §4.5).

What they were before is in the history, so that notes can be seen as if they had not evolved.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from memoryhub.engines.local.chinese.clauses import tag_words
from memoryhub.engines.local.chinese.people import is_name
from memoryhub.engines.types import NoteDraft, NoteEvolution
from memoryhub.tenants.models import Space
from notes.facts.trust import is_instruction
from notes.history.change_set import ChangeSet, TurnEvidence
from notes.history.unit_of_work import UnitOfWork
from notes.models import EvolutionEvent, Note, Revision

_WORD = re.compile(r"[^\W_\u4e00-\u9fff]+|[\u4e00-\u9fff]")
# Written as a name inside a sentence, in capitals, or with a digit.
_NAME = re.compile(r"(?<=[\w,;] )[A-Z][^\W_]+|\b[A-Z]{2,}\b|\b\w*\d\w*\b")
MOST_WORDS, LONGEST_WORD, LONGEST_CONTEXT = 12, 120, 500  # spec §16
MOST_THEMES, MOST_THEME_WORDS, LONGEST_THEME = 3, 3, 40  # a note, each time it evolves
DESCRIPTOR_COLUMNS = ("keywords", "tags", "context")


@dataclass(frozen=True, slots=True)
class DescriptorChange:
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


def build_descriptors(draft: NoteDraft) -> dict[str, Any]:
    """A draft as columns, within their bounds."""
    return {
        "keywords": clean_words(draft.keywords),
        "tags": clean_words(draft.tags),
        "context": draft.context[:LONGEST_CONTEXT],
    }


def clean_words(found: Sequence[str]) -> list[str]:
    trimmed = (word.strip()[:LONGEST_WORD] for word in found)
    return list(dict.fromkeys(word for word in trimmed if word))[:MOST_WORDS]


def compute_new_descriptors(
    note: Note, evolution: NoteEvolution, teachers: Sequence[Note] = (), *, broadens: bool = False
) -> tuple[dict[str, Any], int]:
    """(the descriptors that become something else, how many words were dropped of them). Empty ones
    stay as they are (A15, AM5), and so does what would be told by neither this note nor those it
    learns from. `broadens`: tags may be themes that are in nobody's words."""
    said = _extract_words(" ".join(_list_words(each) for each in (note, *teachers)))
    keywords, tags = clean_words(evolution.keywords or ()), clean_words(evolution.tags or ())
    context = (evolution.context or "").strip()[:LONGEST_CONTEXT]
    themes = [t for t in tags if not _is_said(t, said) and _may_be_theme(t, said)]
    broader = themes[:MOST_THEMES] if broadens else []
    given: dict[str, Any] = {
        "keywords": [w for w in keywords if _is_said(w, said)],
        "tags": [w for w in tags if w in broader or _is_said(w, said)],
        "context": context if _rests_on(context, said) else "",
    }
    dropped = len(keywords) + len(tags) - len(given["keywords"]) - len(given["tags"])
    dropped += context != given["context"]
    new = {name: value for name, value in given.items() if value and value != getattr(note, name)}
    return new, dropped


def _list_words(note: Note) -> str:
    return " ".join([note.content, note.context, *note.keywords, *note.tags])


def _extract_words(text: str, least: int = 1) -> frozenset[str]:
    """The beginnings of words of so many letters, and single characters of Chinese."""
    words = _WORD.findall(text.casefold())
    return frozenset(w[:5] for w in words if len(w) >= least or w > "\u2e80")


def _is_said(word: str, said: Collection[str]) -> bool:
    return _extract_words(word) <= set(said)


def _may_be_theme(tag: str, said: Collection[str]) -> bool:
    """Whether it may be what notes come to ("family life"), though neither says so: short, no
    order, and it names nobody, and no number, that they don't."""
    named = [word for word in tag.split() if word != word.casefold() or re.search(r"\d", word)]
    named += [word for word, kind in tag_words(tag) if is_name(word, kind)]
    short = len(tag) <= LONGEST_THEME and len(tag.split()) <= MOST_THEME_WORDS
    return short and _extract_words(" ".join(named)) <= set(said) and not is_instruction(tag)


def _rests_on(context: str, said: Collection[str]) -> bool:
    """Whether a sentence that puts notes together brings no name or number of its own, is no order,
    and has a word of them: what they come to is said in words that neither need have."""
    named = _extract_words(" ".join(_NAME.findall(context)))
    shared = _extract_words(context, 4) & set(said)
    return named <= set(said) and bool(shared) and not is_instruction(context)


def is_owned_by_author(note: Note) -> bool:
    """Written by an agent or a person for itself: a free note with an author (spec C20)."""
    return bool(note.author) and note.page_id is None and note.fact_id is None


def evolve_notes(
    changed: Sequence[tuple[Note, DescriptorChange]],
    sources: Mapping[UUID, Sequence[TurnEvidence]],
    changes: ChangeSet,
) -> None:
    """Write the new values into the rows, which are locked and of the version read.

    What a note learnt rests on the turns of the note it learnt from, as context.
    """
    unit = UnitOfWork.from_change_set(changes)
    for row, change in changed:
        unit.edit_row(changes, row, **change.values)
        changes.record_support(row, sources.get(row.id, ()))
    unit.write_rows()


def load_unevolved_notes(space: Space, among: Collection[UUID] | None = None) -> list[Note]:
    """The held notes that learnt something, as they were described before: copies, not to be saved.

    Left out are those that a person has put right, and those that are again what they were.
    `among`: of these ids only. Two statements. Call inside the tenant's scope.
    """
    learnt = Revision.objects.filter(
        space=space,
        row_type="note",
        event__kind=EvolutionEvent.Kind.EVOLVE,
        before__isnull=False,
        after__isnull=False,
    )
    if among is not None:
        learnt = learnt.filter(row_id__in=among)
    first = learnt.order_by("row_id", "version_after", "id").distinct("row_id")
    before = dict(first.values_list("row_id", "before"))
    held = Note.objects.filter(space=space, id__in=before, retired_at=None, corrected_by="")
    found = []
    for note in held.order_by("id"):
        was = before[note.id] or {}
        known = {name: was[name] for name in DESCRIPTOR_COLUMNS if was.get(name) is not None}
        if any(getattr(note, name) != value for name, value in known.items()):
            for name, value in known.items():
                setattr(note, name, value)
            found.append(note)
    return found
