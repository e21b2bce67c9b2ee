"""What a correction by hand does to rows in memory: one function a correction.

`notes.correcting` carries them out, and the pages show beforehand what they would do. Each
returns a `Work` for a Workbench, which knows who does it and when. A work raises NotFound,
InvalidInput and Conflict.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from copy import copy
from datetime import datetime
from typing import Any, TypeVar
from uuid import UUID

from django.db.models import Q
from django.utils.translation import gettext as _

from memoryhub.dialogues.messages import checked_text, text_hash
from memoryhub.errors import Conflict, InvalidInput
from memoryhub.tenants.ids import new_id
from notes import shelving
from notes.intervals import same_place
from notes.linking import support_of
from notes.models import Fact, Link, Note, Retained
from notes.recording import ChangeSet, Source
from notes.repairing import repaired
from notes.services import supports_of
from notes.slots import Slots, carried
from notes.workbench import Workbench

Status = Fact.Status
Work = Callable[[Workbench, ChangeSet], None]
Row = TypeVar("Row", Fact, Link)
MOST_WORDS = 50  # keywords and tags that a merged note keeps


def rewording(fact_id: UUID, text: str, made: list[Fact] | None = None) -> Work:
    """The same claim in better words. The new version is put into `made`. Raises InvalidInput."""
    words = checked_text(text, field="text").strip()

    def work(bench: Workbench, changes: ChangeSet) -> None:
        old: Fact = bench.row("fact", fact_id)
        refuse_retired(old)
        if words == old.text:
            raise InvalidInput(_("that is what it says already"), field="text")
        new = version_of(old, words, bench.now)
        new.corrected_by = bench.actor
        shelving.succeed(old, new)
        bench.edit(changes, old, retired_at=bench.now, shelf=old.shelf, shelved_at=old.shelved_at)
        bench.add(changes, new, supports(old.id))
        if made is not None:
            made[:] = [new]

    return work


def version_of(old: Fact, text: str, now: datetime) -> Fact:
    """A copy with other words, not saved, made by no engine. Slots that can be told from the old
    words are kept: see `notes.slots`."""
    new = _unsaved(old)
    new.lineage_version = old.lineage_version + 1
    new.text, new.text_key = text, text_hash(f"{old.owner} {text}")
    slots = carried(old.text, text, Slots(old.s, old.v, old.o, old.o2, old.c))
    new.pattern = old.pattern if slots else ""
    new.s, new.v, new.o, new.o2, new.c = slots or Slots()
    new.engine, new.recorded_at, new.confidence = "", now, 1.0
    return new


def _unsaved(row: Row) -> Row:
    """A copy under an id of its own."""
    new = copy(row)
    new.id, new.version = new_id(), 1
    new._state = copy(row._state)
    new._state.adding = True
    return new


def supports(fact_id: UUID) -> list[Source]:
    return supports_of([fact_id]).get(fact_id, [])


def refuse_retired(fact: Fact) -> None:
    if fact.retired_at or fact.status == Status.RETRACTED:
        raise Conflict(_("this is not held any more: restore it first"), code="not_held")


def withdrawing(fact_id: UUID) -> Work:
    """It was never so: what it had closed holds again."""

    def work(bench: Workbench, changes: ChangeSet) -> None:
        fact: Fact = bench.row("fact", fact_id)
        refuse_retired(fact)
        reopen(bench, changes, fact)
        bench.edit(
            changes,
            fact,
            status=Status.RETRACTED,
            corrected_by=bench.actor,
            shelf=Fact.Shelf.NONE,
            shelved_at=None,
        )

    return work


def reopen(bench: Workbench, changes: ChangeSet, gone: Fact) -> None:
    """Give back their time to the claims that this one had bounded."""
    others = Fact.objects.filter(space=bench.space).exclude(id=gone.id)
    near = [f for f in others.filter(owner=gone.owner) if _touches(f, gone)]
    for fact in near:
        interval = None if fact.corrected_by else repaired(fact, [gone], near)
        if interval and (fact.valid_to, fact.status) != (interval.valid_to, interval.status):
            row = bench.row("fact", fact.id)
            bench.edit(
                changes,
                row,
                valid_to=interval.valid_to,
                status=interval.status,
                retired_at=interval.retired_at,
            )


def _touches(fact: Fact, gone: Fact) -> bool:
    return fact.id == gone.supersedes_id or same_place(fact, gone)


def ending(fact_id: UUID, at: datetime | None = None) -> Work:
    """It held until `at`, or until now."""

    def work(bench: Workbench, changes: ChangeSet) -> None:
        fact: Fact = bench.row("fact", fact_id)
        until = at or bench.now
        refuse_retired(fact)
        if until < fact.valid_from:
            raise InvalidInput(_("that is before it began"), field="at")
        bench.edit(
            changes,
            fact,
            valid_to=until,
            status=Status.SUPERSEDED,
            corrected_by=bench.actor,
            shelf=Fact.Shelf.NONE,
            shelved_at=None,
        )

    return work


def restoring(fact_id: UUID) -> Work:
    """It is so after all, and still: whatever had withdrawn, ended or retired it."""
    values = {"status": Status.ACTIVE, "valid_to": None, "retired_at": None}

    def work(bench: Workbench, changes: ChangeSet) -> None:
        fact: Fact = bench.row("fact", fact_id)
        if all(getattr(fact, name) == value for name, value in values.items()):
            raise Conflict(_("this holds already"), code="already_held")
        bench.edit(changes, fact, corrected_by=bench.actor, **values)

    return work


def removing(fact_ids: Collection[UUID]) -> Work:
    """Hold these facts no longer; what they had ended stays ended."""

    def work(bench: Workbench, changes: ChangeSet) -> None:
        bench.load({("fact", fact_id) for fact_id in fact_ids})
        for fact_id in fact_ids:
            fact: Fact = bench.row("fact", fact_id)
            refuse_retired(fact)
            bench.retire(changes, fact)

    return work


def pinning(row_type: str, row_id: UUID, pinned: bool) -> Work:
    def work(bench: Workbench, changes: ChangeSet) -> None:
        row: Any = bench.row(row_type, row_id)
        if not isinstance(row, Retained):
            raise InvalidInput(
                _("a %(kind)s can't be pinned") % {"kind": row_type}, field="row_type"
            )
        if row.pinned == pinned:
            already = _("this is pinned already") if pinned else _("this is not pinned already")
            raise Conflict(already, code="no_change")
        bench.edit(changes, row, pinned=pinned)

    return work


def describing(note_id: UUID, values: Mapping[str, Any]) -> Work:
    """Other descriptors, by their columns. What a note says never changes."""

    def work(bench: Workbench, changes: ChangeSet) -> None:
        note = _held_note(bench, note_id)
        if all(getattr(note, name) == value for name, value in values.items()):
            raise Conflict(_("it is described like this already"), code="no_change")
        bench.edit(changes, note, corrected_by=bench.actor, **values)

    return work


def deleting(note_id: UUID) -> Work:
    """Take a note out, with its links."""

    def work(bench: Workbench, changes: ChangeSet) -> None:
        bench.retire(changes, _held_note(bench, note_id))

    return work


def returning(note_id: UUID) -> Work:
    """Hold a note again that was taken out. Its links stay as they are: undo brings both back."""

    def work(bench: Workbench, changes: ChangeSet) -> None:
        note: Note = bench.row("note", note_id)
        if note.retired_at is None:
            raise Conflict(_("this holds already"), code="already_held")
        bench.edit(changes, note, retired_at=None, corrected_by=bench.actor)

    return work


def _held_note(bench: Workbench, note_id: UUID) -> Note:
    note: Note = bench.row("note", note_id)
    if note.retired_at:
        raise Conflict(_("this note is not held any more"), code="not_held")
    return note


# Merging: two memories that say the same become one


def merging(kind: str, gone_id: UUID, kept_id: UUID) -> Work:
    """`gone` is taken out, and what it rests on supports `kept`. Facts and notes."""
    if gone_id == kept_id:
        raise InvalidInput(_("a memory can't be merged with itself"), field="other")
    return _merging_facts(gone_id, kept_id) if kind == "fact" else _merging_notes(gone_id, kept_id)


def _merging_facts(gone_id: UUID, kept_id: UUID) -> Work:
    def work(bench: Workbench, changes: ChangeSet) -> None:
        bench.load({("fact", gone_id), ("fact", kept_id)})
        gone, kept = bench.row("fact", gone_id), bench.row("fact", kept_id)
        for fact in (gone, kept):
            refuse_retired(fact)
        if gone.owner != kept.owner:
            raise InvalidInput(_("it is about somebody else"), field="other")
        bench.edit(
            changes,
            kept,
            mention_count=kept.mention_count + gone.mention_count,
            asserted_at=max(kept.asserted_at, gone.asserted_at),
        )
        changes.supported(kept, supports(gone_id))
        bench.retire(changes, gone)

    return work


def _merging_notes(gone_id: UUID, kept_id: UUID) -> Work:
    def work(bench: Workbench, changes: ChangeSet) -> None:
        bench.load({("note", gone_id), ("note", kept_id)})
        gone, kept = _held_note(bench, gone_id), _held_note(bench, kept_id)
        bench.edit(
            changes,
            kept,
            keywords=_both(kept.keywords, gone.keywords),
            tags=_both(kept.tags, gone.tags),
        )
        changes.supported(kept, support_of([gone_id]).get(gone_id, ()))
        _hand_over(bench, changes, gone, kept)
        bench.retire(changes, gone)

    return work


def _both(first: list[str], second: list[str]) -> list[str]:
    return list(dict.fromkeys([*first, *second]))[:MOST_WORDS]


def _hand_over(bench: Workbench, changes: ChangeSet, gone: Note, kept: Note) -> None:
    """The links of `gone` become links of `kept`, where it has none of that kind to that note."""
    of_kept = Link.objects.filter(Q(a=kept) | Q(b=kept))
    held = {(_other_end(link, kept.id), link.kind): link for link in of_kept}
    for link in Link.objects.filter(Q(a=gone) | Q(b=gone), active=True, retired_at=None):
        end = _other_end(link, gone.id)
        if end == kept.id:
            continue
        if (end, link.kind) not in held:
            bench.add(changes, _moved(link, sorted((end, kept.id)), bench.now), [])
        elif not held[end, link.kind].active:
            again = bench.row("link", held[end, link.kind].id)
            bench.edit(changes, again, active=True, retired_at=None)


def _moved(link: Link, ends: list[UUID], now: datetime) -> Link:
    new = _unsaved(link)
    new.created_at = now
    new.a_id, new.b_id = ends
    return new


def _other_end(link: Link, note_id: UUID) -> UUID:
    end: UUID = link.b_id if link.a_id == note_id else link.a_id
    return end
