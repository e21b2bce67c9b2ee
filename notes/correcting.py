"""What a person changes by hand: one function a correction, each a manual event (spec C9, E19).

A row changed here carries `corrected_by`: from then on the pipeline only proposes against it.
Functions open their own scopes and embed with nothing open: call them outside of a transaction.
They raise NotFound, InvalidInput, and Conflict where another memory stands in the way.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import copy
from datetime import datetime
from typing import Any
from uuid import UUID

from memoryhub.dialogues.messages import checked_text, text_hash
from memoryhub.errors import Conflict, InvalidInput, Outdated
from memoryhub.tenants.ids import new_id
from memoryhub.tenants.models import Space
from memoryhub.tenants.scope import tenant_scope
from notes import shelving
from notes.intervals import same_place
from notes.models import EvolutionEvent, Fact, Retained
from notes.recording import ChangeSet, Source
from notes.repairing import repaired
from notes.services import supports_of
from notes.undoing import TRIES, finish
from notes.workbench import Workbench

Status = Fact.Status
Work = Callable[[Workbench, ChangeSet], None]
# A row that is to be in the version its writer has read; None: in whichever it is.
Read = tuple[str, UUID, int | None]


def by_hand(
    space: Space,
    actor: str,
    now: datetime,
    reason: str,
    work: Work,
    read: Read | None = None,
) -> EvolutionEvent:
    """Run `work` on rows in memory, refuse what breaks I4, embed, and write it as one event.

    Raises Outdated when the row is not as it was `read`.
    """
    for _ in range(TRIES):
        with tenant_scope(space.tenant_id):
            bench = Workbench(space, actor, now)
            if read is not None:
                _refuse_changed(bench, *read)
            work(bench, bench.by_hand(reason))
            if rivals := bench.rivals():
                raise Conflict(
                    f"at that time “{rivals[0].text}” holds",
                    code="another_holds",
                    rivals=[str(fact.id) for fact in rivals],
                )
        if made := finish(bench):
            return made[0]
    raise Conflict("these memories are being changed: try again", code="busy")


def _refuse_changed(bench: Workbench, kind: str, row_id: UUID, version: int | None) -> None:
    held = bench.row(kind, row_id).version
    if version is not None and version != held:
        raise Outdated(f"it is in version {held} by now, not in {version}", version=held)


def edit_text(
    space: Space,
    fact_id: UUID,
    text: str,
    actor: str,
    now: datetime,
    *,
    reason: str = "",
    version: int | None = None,
) -> Fact:
    """The same claim in better words: a new version of it, with the same supports."""
    words = checked_text(text, field="text").strip()
    made: list[Fact] = []

    def work(bench: Workbench, changes: ChangeSet) -> None:
        old: Fact = bench.row("fact", fact_id)
        _refuse_retired(old)
        if words == old.text:
            raise InvalidInput("that is what it says already", field="text")
        new = version_of(old, words, now)
        new.corrected_by = actor
        shelving.succeed(old, new)
        bench.edit(changes, old, retired_at=now, shelf=old.shelf, shelved_at=old.shelved_at)
        bench.add(changes, new, supports(old.id))
        made[:] = [new]

    by_hand(space, actor, now, reason or "put in other words", work, ("fact", fact_id, version))
    return made[0]


def version_of(old: Fact, text: str, now: datetime) -> Fact:
    """A copy with other words, not saved. The slots are gone: they were read from the old words."""
    new = copy(old)
    new.id, new.version, new.lineage_version = new_id(), 1, old.lineage_version + 1
    new.text, new.text_key = text, text_hash(f"{old.owner} {text}")
    new.pattern = new.s = new.v = new.o = new.o2 = new.c = ""
    new.recorded_at, new.confidence = now, 1.0
    new._state = copy(old._state)
    new._state.adding = True
    return new


def supports(fact_id: UUID) -> list[Source]:
    return supports_of([fact_id]).get(fact_id, [])


def _refuse_retired(fact: Fact) -> None:
    if fact.retired_at or fact.status == Status.RETRACTED:
        raise Conflict("this is not held any more: restore it first", code="not_held")


def never_true(
    space: Space,
    fact_id: UUID,
    actor: str,
    now: datetime,
    *,
    reason: str = "",
    version: int | None = None,
) -> EvolutionEvent:
    """It was never so (E19): no time brings it back, and what it had closed holds again."""

    def work(bench: Workbench, changes: ChangeSet) -> None:
        fact: Fact = bench.row("fact", fact_id)
        _refuse_retired(fact)
        reopen(bench, changes, fact)
        bench.edit(
            changes,
            fact,
            status=Status.RETRACTED,
            corrected_by=actor,
            shelf=Fact.Shelf.NONE,
            shelved_at=None,
        )

    return by_hand(space, actor, now, reason or "was never true", work, ("fact", fact_id, version))


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


def ended(
    space: Space,
    fact_id: UUID,
    actor: str,
    now: datetime,
    *,
    at: datetime | None = None,
    reason: str = "",
    version: int | None = None,
) -> EvolutionEvent:
    """It is no longer so: it held until `at`, or until now."""
    until = at or now

    def work(bench: Workbench, changes: ChangeSet) -> None:
        fact: Fact = bench.row("fact", fact_id)
        _refuse_retired(fact)
        if until < fact.valid_from:
            raise InvalidInput("that is before it began", field="at")
        bench.edit(
            changes,
            fact,
            valid_to=until,
            status=Status.SUPERSEDED,
            corrected_by=actor,
            shelf=Fact.Shelf.NONE,
            shelved_at=None,
        )

    return by_hand(space, actor, now, reason or "no longer true", work, ("fact", fact_id, version))


def restore(
    space: Space,
    fact_id: UUID,
    actor: str,
    now: datetime,
    *,
    reason: str = "",
    version: int | None = None,
) -> EvolutionEvent:
    """It is so after all, and still: whatever had withdrawn, ended or retired it."""

    def work(bench: Workbench, changes: ChangeSet) -> None:
        fact: Fact = bench.row("fact", fact_id)
        values = {"status": Status.ACTIVE, "valid_to": None, "retired_at": None}
        if all(getattr(fact, name) == value for name, value in values.items()):
            raise Conflict("this holds already", code="already_held")
        bench.edit(changes, fact, corrected_by=actor, **values)

    return by_hand(space, actor, now, reason or "restored", work, ("fact", fact_id, version))


def pin(
    space: Space,
    row_type: str,
    row_id: UUID,
    pinned: bool,
    actor: str,
    now: datetime,
    *,
    reason: str = "",
    version: int | None = None,
) -> EvolutionEvent:
    """What is pinned does not fade, and the pipeline does not change it."""

    def work(bench: Workbench, changes: ChangeSet) -> None:
        row: Any = bench.row(row_type, row_id)
        if not isinstance(row, Retained):
            raise InvalidInput(f"a {row_type} can't be pinned", field="row_type")
        if row.pinned == pinned:
            raise Conflict(f"this is {'' if pinned else 'not '}pinned already", code="no_change")
        bench.edit(changes, row, pinned=pinned)

    why = reason or ("pinned" if pinned else "no longer pinned")
    return by_hand(space, actor, now, why, work, (row_type, row_id, version))


def describe_note(
    space: Space,
    note_id: UUID,
    actor: str,
    now: datetime,
    *,
    context: str | None = None,
    keywords: Sequence[str] | None = None,
    tags: Sequence[str] | None = None,
    category: str | None = None,
    reason: str = "",
    version: int | None = None,
) -> EvolutionEvent:
    """Other descriptors; None leaves one as it is. What a note says never changes."""
    given = {"context": context, "keywords": keywords, "tags": tags, "category": category}
    values = {name: value for name, value in given.items() if value is not None}

    def work(bench: Workbench, changes: ChangeSet) -> None:
        note = bench.row("note", note_id)
        if note.retired_at:
            raise Conflict("this note is not held any more", code="not_held")
        if all(getattr(note, name) == value for name, value in values.items()):
            raise Conflict("it is described like this already", code="no_change")
        bench.edit(changes, note, corrected_by=actor, **values)

    why = reason or "described by hand"
    return by_hand(space, actor, now, why, work, ("note", note_id, version))


def delete_note(
    space: Space,
    note_id: UUID,
    actor: str,
    now: datetime,
    *,
    reason: str = "",
    version: int | None = None,
) -> EvolutionEvent:
    """Take a note out, with its links. It can be undone; erasing it can't."""

    def work(bench: Workbench, changes: ChangeSet) -> None:
        note = bench.row("note", note_id)
        if note.retired_at:
            raise Conflict("this note is not held any more", code="not_held")
        bench.retire(changes, note)

    return by_hand(space, actor, now, reason or "deleted", work, ("note", note_id, version))
