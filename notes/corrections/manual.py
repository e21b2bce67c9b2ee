"""What a person changes by hand: one function a correction, each a manual event (spec C9, E19).

A row changed here carries `corrected_by`: from then on the pipeline only proposes against it.
Functions open their own scopes and embed with nothing open: call them outside of a transaction.
They raise NotFound, InvalidInput, and Conflict where another memory stands in the way.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.utils.translation import gettext
from django.utils.translation import gettext as _

from memoryhub.dialogues.messages import check_text
from memoryhub.errors import Conflict, InvalidInput, VersionOutdated
from memoryhub.tenants.models import Space
from memoryhub.tenants.scope import tenant_scope
from notes.corrections import edits
from notes.corrections.edits import (
    Edit,
    build_next_version,
    check_not_retired,
    load_supports,
    plan_forget_facts,
)
from notes.facts import fact_shelf
from notes.history.change_set import ChangeSet
from notes.history.undo import MAX_TRIES, save_plan
from notes.history.unit_of_work import ChangePlan
from notes.models import EvolutionEvent, Fact

# A row that is to be in the version its writer has read; None: in whichever it is.
ReadVersion = tuple[str, UUID, int | None]


def run_manual_edit(
    space: Space,
    actor: str,
    now: datetime,
    reason: str,
    work: Edit,
    read: ReadVersion | None = None,
) -> EvolutionEvent:
    """Run `work` on rows in memory, refuse what breaks I4, embed, and write it as one event.

    Raises Outdated when the row is not as it was `read`.
    """
    for _ in range(MAX_TRIES):
        with tenant_scope(space.tenant_id):
            bench = plan_manual_edit(space, actor, now, reason, work, read)
        if made := save_plan(bench):
            return made[0]
    raise Conflict(gettext("these memories are being changed: try again"), code="busy")


def plan_manual_edit(
    space: Space,
    actor: str,
    now: datetime,
    reason: str,
    work: Edit,
    read: ReadVersion | None = None,
) -> ChangePlan:
    """What `work` would do, changing nothing. Call inside the tenant's scope. Raises as it does."""
    bench = ChangePlan(space, actor, now)
    if read is not None:
        _check_version(bench, *read)
    work(bench, bench.add_manual_change_set(reason))
    if rivals := bench.find_rivals():
        raise Conflict(
            gettext("at that time “%(text)s” holds") % {"text": rivals[0].text},
            code="another_holds",
            rivals=[str(fact.id) for fact in rivals],
        )
    return bench


def _check_version(bench: ChangePlan, kind: str, row_id: UUID, version: int | None) -> None:
    held = bench.get_row(kind, row_id).version
    if version is not None and version != held:
        raise VersionOutdated(
            gettext("it is in version %(held)s by now, not in %(version)s")
            % {"held": held, "version": version},
            version=held,
        )


def correct_text(
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
    made: list[Fact] = []
    work = edits.plan_correct_text(fact_id, text, made)
    run_manual_edit(
        space, actor, now, reason or "put in other words", work, ("fact", fact_id, version)
    )
    return made[0]


def retract_fact(
    space: Space,
    fact_id: UUID,
    actor: str,
    now: datetime,
    *,
    reason: str = "",
    version: int | None = None,
) -> EvolutionEvent:
    """It was never so (E19): no time brings it back, and what it had closed holds again."""
    work, read = edits.plan_retract_fact(fact_id), ("fact", fact_id, version)
    return run_manual_edit(space, actor, now, reason or "was never true", work, read)


def end_fact(
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
    work, read = edits.plan_end_fact(fact_id, at), ("fact", fact_id, version)
    return run_manual_edit(space, actor, now, reason or "no longer true", work, read)


def restore_fact(
    space: Space,
    fact_id: UUID,
    actor: str,
    now: datetime,
    *,
    reason: str = "",
    version: int | None = None,
) -> EvolutionEvent:
    """It is so after all, and still: whatever had withdrawn, ended or retired it."""
    work, read = edits.plan_restore_fact(fact_id), ("fact", fact_id, version)
    return run_manual_edit(space, actor, now, reason or "restored", work, read)


def set_pinned(
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
    why = reason or ("pinned" if pinned else "no longer pinned")
    work = edits.plan_set_pinned(row_type, row_id, pinned)
    return run_manual_edit(space, actor, now, why, work, (row_type, row_id, version))


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
    work = edits.plan_describe_note(
        note_id, {n: value for n, value in given.items() if value is not None}
    )
    why = reason or "described by hand"
    return run_manual_edit(space, actor, now, why, work, ("note", note_id, version))


def forget_note(
    space: Space,
    note_id: UUID,
    actor: str,
    now: datetime,
    *,
    reason: str = "",
    version: int | None = None,
) -> EvolutionEvent:
    """Take a note out, with its links. It can be undone; erasing it can't."""
    work, read = edits.plan_forget_note(note_id), ("note", note_id, version)
    return run_manual_edit(space, actor, now, reason or "deleted", work, read)


# What a caller changes of its own memories: new words, other metadata, another end; and gone.
#
# Unlike a person's correction this is no word against the pipeline: what is read later may still
# reword or end the memory. Several of one space are one event, and done or undone together.
# Functions open their own scopes and embed with nothing open: call them outside of a transaction.
# They raise NotFound, and Conflict for what is not held any more or is protected.


class Unset:
    """Stands for "as it is", where None says something."""


UNSET = Unset()


@dataclass(frozen=True, slots=True)
class Amendment:
    """What becomes of a memory; what is None or UNSET stays as it is. `until` None: no end.

    `said_at`: when it was said, and since when it holds.
    """

    text: str | None = None
    metadata: Mapping[str, Any] | None = None
    said_at: datetime | None = None
    until: datetime | Unset | None = UNSET


def amend_facts(
    space: Space,
    amendments: Mapping[UUID, Amendment],
    actor: str,
    now: datetime,
    *,
    reason: str = "",
) -> EvolutionEvent:
    """Change these facts, by id, in one event. A new text is a new version of the memory."""

    def work(bench: ChangePlan, changes: ChangeSet) -> None:
        bench.load_rows({("fact", fact_id) for fact_id in amendments})
        for fact_id, amendment in amendments.items():
            _amend_fact(bench, changes, _get_held_fact(bench, fact_id), amendment)

    return run_manual_edit(space, actor, now, reason or "changed by its owner", work)


def forget_facts(
    space: Space,
    fact_ids: Collection[UUID],
    actor: str,
    now: datetime,
    *,
    reason: str = "",
    read: ReadVersion | None = None,
) -> EvolutionEvent:
    """Hold these facts no longer, in one event. What they had ended stays ended; said again, they
    are new. It can be undone; an erasure can't. Raises Outdated where one is not as `read`."""

    return run_manual_edit(
        space, actor, now, reason or "deleted", plan_forget_facts(fact_ids), read
    )


def _get_held_fact(bench: ChangePlan, fact_id: UUID) -> Fact:
    fact: Fact = bench.get_row("fact", fact_id)
    check_not_retired(fact)
    return fact


def _amend_fact(bench: ChangePlan, changes: ChangeSet, fact: Fact, wanted: Amendment) -> None:
    if fact.is_protected:
        raise Conflict(_("this memory is pinned, or a person has corrected it"), code="protected")
    values = _compute_values(fact, wanted)
    words = None if wanted.text is None else check_text(wanted.text, field="text").strip()
    if words is None or words == fact.text:
        if values:
            bench.edit_row(changes, fact, **values)
        return
    new = build_next_version(fact, words, bench.now)
    for name, value in values.items():
        setattr(new, name, value)
    fact_shelf.hand_over_shelf_slot(fact, new)
    bench.edit_row(
        changes, fact, retired_at=bench.now, shelf=fact.shelf, shelved_at=fact.shelved_at
    )
    bench.add_row(changes, new, load_supports(fact.id))


def _compute_values(fact: Fact, wanted: Amendment) -> dict[str, Any]:
    """The columns that an amendment changes, without its words."""
    values: dict[str, Any] = {}
    if wanted.metadata is not None:
        values["metadata"] = dict(wanted.metadata)
    if wanted.said_at is not None:
        values |= {"asserted_at": wanted.said_at, "valid_from": wanted.said_at}
    if not isinstance(wanted.until, Unset):
        values["valid_to"] = wanted.until
        open_ended = wanted.until is None
        values["status"] = Fact.Status.ACTIVE if open_ended else Fact.Status.SUPERSEDED
    _check_interval(fact, values)
    return {name: value for name, value in values.items() if value != getattr(fact, name)}


def _check_interval(fact: Fact, values: Mapping[str, Any]) -> None:
    start = values.get("valid_from", fact.valid_from)
    end = values.get("valid_to", fact.valid_to)
    if end is not None and end < start:
        raise InvalidInput(_("that is before it began"), field="until")
