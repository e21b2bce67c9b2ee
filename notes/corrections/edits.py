"""What a correction by hand does to rows in memory: one function a correction.

`memoryhub.pipeline.corrections` carries them out, or shows beforehand what they would do. Each
edits a UnitOfWork, which knows who does it and when, and raises NotFound, InvalidInput, Conflict.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping
from copy import copy
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any, TypeVar
from uuid import UUID

from django.db.models import Q
from django.utils.translation import gettext as _

from memoryhub.dialogues.messages import check_text, hash_text
from memoryhub.errors import Conflict, InvalidInput
from memoryhub.tenants.ids import new_id
from memoryhub.tenants.models import Space
from notes.facts import fact_shelf
from notes.facts.intervals import are_rivals, repair_interval
from notes.facts.slots import MAX_SLOT_LENGTH, ClaimSlots, carry_slots_over
from notes.graph.build import merge_entity
from notes.history.change_set import ChangeSet, TurnEvidence, load_supports_of
from notes.history.unit_of_work import UnitOfWork
from notes.models import Derived, Fact, Link, Note, Retained

FactStatus = Fact.Status
Edit = Callable[[UnitOfWork, ChangeSet], None]
CopiedRow = TypeVar("CopiedRow", Fact, Link)
_LEAST_NAMED_CHARACTERS = 2
MAX_NOTE_WORDS = 50  # keywords and tags that a merged note keeps


class Unset:
    """Stands for "as it is", where None says something."""


UNSET = Unset()


@dataclass(frozen=True, slots=True)
class FactCorrection:
    """What becomes of a fact; what is None or UNSET stays as it is. `until` None: no end.

    `value`: what it says of its owner by its predicate. `since`: from when on it holds. `said_at`:
    when it was said, and since when it holds.
    """

    text: str | None = None
    value: str | None = None
    since: datetime | None = None
    metadata: Mapping[str, Any] | None = None
    said_at: datetime | None = None
    until: datetime | Unset | None = UNSET


def correct_facts(
    bench: UnitOfWork, changes: ChangeSet, wanted: Mapping[UUID, FactCorrection], *, protects: bool
) -> None:
    """The same claims in better words, or with other values. A new text is a new version.

    `protects`: it is a person's word, against which the pipeline only proposes from then on.
    Without it, what a person protects is refused, and what is asked for already is no error.
    """
    bench.load_rows({("fact", fact_id) for fact_id in wanted})
    for fact_id, values in wanted.items():
        correct_fact(bench, changes, bench.get_row("fact", fact_id), values, protects=protects)


def correct_fact(
    bench: UnitOfWork,
    changes: ChangeSet,
    fact: Fact,
    wanted: FactCorrection,
    *,
    protects: bool = True,
) -> Fact:
    """See `correct_facts`. Returns the version that stands for it now."""
    check_not_retired(fact)
    if fact.is_protected and not protects:
        raise Conflict(_("this memory is pinned, or a person has corrected it"), code="protected")
    values = _compute_changed_values(fact, wanted)
    words = None if wanted.text is None else check_text(wanted.text, field="text").strip()
    if protects and not values and words in (None, fact.text):
        raise InvalidInput(_("that is what it says already"), field="text")
    if protects:
        values["corrected_by"] = bench.actor
    if words is None or words == fact.text:
        if values:
            bench.edit_row(changes, fact, **values)
        return fact
    new = build_next_version(fact, words, bench.now)
    if "object" in values and not new.verb:
        new.subject, new.verb = fact.subject, fact.verb
    if wanted.value is not None:  # also one that stays, though the new words may not say it
        values["object"] = _cut_value(wanted.value)
    for name, value in values.items():
        setattr(new, name, value)
    replace_version(bench, changes, fact, new, load_supports_of(fact))
    return new


def replace_version(
    bench: UnitOfWork,
    changes: ChangeSet,
    old: Fact,
    new: Fact,
    sources: Iterable[TurnEvidence],
) -> None:
    """The claim stands in other words from now on: the shelf's slot is the new version's."""
    fact_shelf.hand_over_shelf_slot(old, new)
    bench.edit_row(changes, old, retired_at=bench.now, shelf=old.shelf, shelved_at=old.shelved_at)
    bench.add_row(changes, new, sources)


def _compute_changed_values(fact: Fact, wanted: FactCorrection) -> dict[str, Any]:
    """The columns that a correction changes, without its words."""
    values: dict[str, Any] = {}
    if wanted.metadata is not None:
        values["metadata"] = dict(wanted.metadata)
    if wanted.value is not None:
        values["object"] = _cut_value(wanted.value)
    if wanted.since is not None:
        values["valid_from"] = wanted.since
    if wanted.said_at is not None:
        values |= {"asserted_at": wanted.said_at, "valid_from": wanted.said_at}
    if not isinstance(wanted.until, Unset):
        open_ended = wanted.until is None
        values["valid_to"] = wanted.until
        values["status"] = FactStatus.ACTIVE if open_ended else FactStatus.SUPERSEDED
    start, end = values.get("valid_from", fact.valid_from), values.get("valid_to", fact.valid_to)
    if end is not None and end < start:
        raise InvalidInput(_("that is before it began"), field="until")
    return {name: value for name, value in values.items() if value != getattr(fact, name)}


def _cut_value(value: str) -> str:
    return value.strip()[:MAX_SLOT_LENGTH]


def find_facts_naming(space: Space, fact: Fact, most: int = 12) -> list[Fact]:
    """Other facts that hold and name what this one says of its owner, the newest first. Call inside
    the tenant's scope."""
    value = fact.object.strip()
    if len(value) < _LEAST_NAMED_CHARACTERS:
        return []
    held = Fact.objects.filter(space=space, status=FactStatus.ACTIVE, retired_at=None)
    named = held.filter(text__icontains=value, valid_to=None).exclude(lineage=fact.lineage)
    return list(named.order_by("-asserted_at")[:most])


def replace_named_value(other: Fact, old: str, new: str) -> FactCorrection:
    """What becomes of a fact that names `old` where it is to name `new`."""
    named = re.compile(re.escape(old), re.I)
    value = named.sub(lambda _: new, other.object) if other.object else None
    return FactCorrection(named.sub(lambda _: new, other.text), value=value)


def build_next_version(old: Fact, text: str, now: datetime) -> Fact:
    """A copy with other words, not saved, made by no engine. Slots that can be told from the old
    words are kept: see `notes.facts.slots`."""
    new = copy_row(old)
    new.lineage_version = old.lineage_version + 1
    new.text, new.text_key = text, hash_text(f"{old.owner} {text}")
    slots = carry_slots_over(
        old.text, text, ClaimSlots(*(getattr(old, column) for column in ClaimSlots._fields))
    )
    new.pattern = old.pattern if slots else ""
    for column, value in (slots or ClaimSlots())._asdict().items():
        setattr(new, column, value)
    new.engine, new.recorded_at, new.confidence = "", now, 1.0
    return new


def copy_row(row: CopiedRow) -> CopiedRow:
    """A copy under an id of its own."""
    new = copy(row)
    new.id, new.version = new_id(), 1
    new._state = copy(row._state)
    new._state.adding = True
    return new


def check_not_retired(fact: Fact) -> None:
    """Raises Conflict, with the id of the version that `stands` where it was put in other words."""
    if fact.retired_at is None and fact.status != FactStatus.RETRACTED:
        return
    others = Fact.objects.filter(space=fact.space_id, lineage=fact.lineage, retired_at=None)
    newest = others.exclude(status=FactStatus.RETRACTED).order_by("-lineage_version").first()
    if newest is None:
        raise Conflict(_("this is not held any more: restore it first"), code="not_held")
    message = _("this stands in other words by now, as %(id)s")
    raise Conflict(message % {"id": newest.id}, code="not_held", stands=str(newest.id))


def retract_fact(bench: UnitOfWork, changes: ChangeSet, fact_id: UUID) -> None:
    """It was never so: what it had closed holds again."""
    fact: Fact = bench.get_row("fact", fact_id)
    check_not_retired(fact)
    reopen_bounded_claims(bench, changes, fact)
    bench.edit_row(
        changes, fact, status=FactStatus.RETRACTED, corrected_by=bench.actor, **fact_shelf.OFF_SHELF
    )


def reopen_bounded_claims(bench: UnitOfWork, changes: ChangeSet, gone: Fact) -> None:
    """Give back their time to the claims that this one had bounded."""
    others = Fact.objects.filter(space=bench.space).exclude(id=gone.id)
    near = [
        fact
        for fact in others.filter(owner=gone.owner)
        if fact.id == gone.supersedes_id or are_rivals(fact, gone)
    ]
    for fact in near:
        interval = None if fact.corrected_by else repair_interval(fact, [gone], near)
        if interval and (fact.valid_to, fact.status) != (interval.valid_to, interval.status):
            bench.edit_row(changes, bench.get_row("fact", fact.id), **asdict(interval))


def end_fact(
    bench: UnitOfWork, changes: ChangeSet, fact_id: UUID, at: datetime | None = None
) -> None:
    """It held until `at`, or until now."""
    fact: Fact = bench.get_row("fact", fact_id)
    until = at or bench.now
    check_not_retired(fact)
    if until < fact.valid_from:
        raise InvalidInput(_("that is before it began"), field="at")
    bench.edit_row(
        changes,
        fact,
        valid_to=until,
        status=FactStatus.SUPERSEDED,
        corrected_by=bench.actor,
        **fact_shelf.OFF_SHELF,
    )


def restore_fact(bench: UnitOfWork, changes: ChangeSet, fact_id: UUID) -> None:
    """It is so after all, and still: whatever had withdrawn, ended or retired it."""
    values = {"status": FactStatus.ACTIVE, "valid_to": None, "retired_at": None}
    fact: Fact = bench.get_row("fact", fact_id)
    if all(getattr(fact, name) == value for name, value in values.items()):
        raise Conflict(_("this holds already"), code="already_held")
    bench.edit_row(changes, fact, corrected_by=bench.actor, **values)


def forget_facts(bench: UnitOfWork, changes: ChangeSet, fact_ids: Collection[UUID]) -> None:
    """Hold these facts no longer; what they had ended stays ended."""
    bench.load_rows({("fact", fact_id) for fact_id in fact_ids})
    for fact_id in fact_ids:
        fact: Fact = bench.get_row("fact", fact_id)
        check_not_retired(fact)
        bench.retire_row(changes, fact)


def set_pinned(
    bench: UnitOfWork, changes: ChangeSet, row_type: str, row_id: UUID, pinned: bool
) -> None:
    row: Any = bench.get_row(row_type, row_id)
    if not isinstance(row, Retained):
        raise InvalidInput(_("a %(kind)s can't be pinned") % {"kind": row_type}, field="row_type")
    if isinstance(row, Fact):
        check_not_retired(row)
    elif isinstance(row, Derived) and row.retired_at:
        raise Conflict(_("this is not held any more: restore it first"), code="not_held")
    if row.pinned == pinned:
        already = _("this is pinned already") if pinned else _("this is not pinned already")
        raise Conflict(already, code="no_change")
    bench.edit_row(changes, row, pinned=pinned)


def describe_note(
    bench: UnitOfWork, changes: ChangeSet, note_id: UUID, values: Mapping[str, Any]
) -> None:
    """Other descriptors, by their columns. What a note says never changes."""
    note = _get_held_note(bench, note_id)
    if all(getattr(note, name) == value for name, value in values.items()):
        raise Conflict(_("it is described like this already"), code="no_change")
    bench.edit_row(changes, note, corrected_by=bench.actor, **values)


def forget_note(bench: UnitOfWork, changes: ChangeSet, note_id: UUID) -> None:
    """Take a note out, with its links."""
    bench.retire_row(changes, _get_held_note(bench, note_id))


def restore_note(bench: UnitOfWork, changes: ChangeSet, note_id: UUID) -> None:
    """Hold a note again that was taken out. Its links stay as they are: undo brings both back."""
    note: Note = bench.get_row("note", note_id)
    if note.retired_at is None:
        raise Conflict(_("this holds already"), code="already_held")
    bench.edit_row(changes, note, retired_at=None, corrected_by=bench.actor)


def _get_held_note(bench: UnitOfWork, note_id: UUID) -> Note:
    note: Note = bench.get_row("note", note_id)
    if note.retired_at:
        raise Conflict(_("this note is not held any more"), code="not_held")
    return note


# Merging: two memories that say the same become one


def merge_entities(bench: UnitOfWork, changes: ChangeSet, gone_id: UUID, kept_id: UUID) -> None:
    """One name stands for the other from now on; undoing it splits them again."""
    bench.load_rows({("entity", gone_id), ("entity", kept_id)})
    entity, into = bench.get_row("entity", gone_id), bench.get_row("entity", kept_id)
    if entity.id == into.id or entity.merged_into_id or into.merged_into_id:
        raise Conflict(_("one of the two is merged already"), code="already_merged")
    merge_entity(bench, changes, entity, into, load_supports_of(entity))


def _check_two(gone_id: UUID, kept_id: UUID) -> None:
    if gone_id == kept_id:
        raise InvalidInput(_("a memory can't be merged with itself"), field="other")


def merge_facts(bench: UnitOfWork, changes: ChangeSet, gone_id: UUID, kept_id: UUID) -> None:
    _check_two(gone_id, kept_id)
    bench.load_rows({("fact", gone_id), ("fact", kept_id)})
    gone, kept = bench.get_row("fact", gone_id), bench.get_row("fact", kept_id)
    for fact in (gone, kept):
        check_not_retired(fact)
    if gone.owner != kept.owner:
        raise InvalidInput(_("it is about somebody else"), field="other")
    bench.edit_row(
        changes,
        kept,
        mention_count=kept.mention_count + gone.mention_count,
        asserted_at=max(kept.asserted_at, gone.asserted_at),
    )
    changes.record_support(kept, load_supports_of(gone))
    bench.retire_row(changes, gone)


def merge_notes(bench: UnitOfWork, changes: ChangeSet, gone_id: UUID, kept_id: UUID) -> None:
    _check_two(gone_id, kept_id)
    bench.load_rows({("note", gone_id), ("note", kept_id)})
    gone, kept = _get_held_note(bench, gone_id), _get_held_note(bench, kept_id)
    bench.edit_row(
        changes,
        kept,
        keywords=_join_words(kept.keywords, gone.keywords),
        tags=_join_words(kept.tags, gone.tags),
    )
    changes.record_support(kept, load_supports_of(gone))
    _hand_over_links(bench, changes, gone, kept)
    bench.retire_row(changes, gone)


def _join_words(first: list[str], second: list[str]) -> list[str]:
    return list(dict.fromkeys([*first, *second]))[:MAX_NOTE_WORDS]


def _hand_over_links(bench: UnitOfWork, changes: ChangeSet, gone: Note, kept: Note) -> None:
    """The links of `gone` become links of `kept`, where it has none of that kind to that note."""
    of_kept = Link.objects.filter(Q(a=kept) | Q(b=kept))
    held = {(_get_other_end(link, kept.id), link.kind): link for link in of_kept}
    for link in Link.objects.filter(Q(a=gone) | Q(b=gone), active=True, retired_at=None):
        end = _get_other_end(link, gone.id)
        if end == kept.id:
            continue
        if (end, link.kind) not in held:
            bench.add_row(changes, _build_moved_link(link, sorted((end, kept.id)), bench.now), [])
        elif not held[end, link.kind].active:
            again = bench.get_row("link", held[end, link.kind].id)
            bench.edit_row(changes, again, active=True, retired_at=None)


def _build_moved_link(link: Link, ends: list[UUID], now: datetime) -> Link:
    new = copy_row(link)
    new.created_at = now
    new.a_id, new.b_id = ends
    return new


def _get_other_end(link: Link, note_id: UUID) -> UUID:
    end: UUID = link.b_id if link.a_id == note_id else link.a_id
    return end
