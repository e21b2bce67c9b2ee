"""The one way to change memories by hand: correct, retract, end, restore, forget, pin, describe,
merge, split, undo, redo (spec C9, E19).

Each operation checks, writes one event that can be undone, and does what follows: rows are
embedded, the profile mirrors its facts again at once (I3), what could not be embedded meanwhile is
embedded later (I9), and listeners hear of it. It returns the event and the row. REST, mem0, MCP,
the console and imports call only this.

A row that a person changed carries `corrected_by`: from then on the pipeline only proposes against
it. Functions open their own scopes and embed with nothing open: call them outside of a
transaction. They raise NotFound, InvalidInput, VersionOutdated where a row is not in the `version`
that was read, and Conflict where another memory stands in the way.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from typing import Any, Generic, TypedDict, TypeVar, Unpack
from uuid import UUID

from django.utils.translation import gettext, gettext_noop

from memoryhub.engines.local.engine import LocalEngine
from memoryhub.engines.types import Exchange, Utterance
from memoryhub.errors import Conflict, NotFound, VersionOutdated
from memoryhub.inference.selection import select_embedder
from memoryhub.pipeline import sealed_erasures
from memoryhub.pipeline.jobs import queue
from memoryhub.pipeline.models import Job
from memoryhub.pipeline.steps import promotion
from memoryhub.pipeline.steps.derive.name_corrections import propose_right_names
from memoryhub.policies.services import load_effective_policy
from memoryhub.tenants.models import Space
from memoryhub.tenants.scope import tenant_scope
from notes.corrections import edits
from notes.corrections.edits import (
    UNSET,
    Edit,
    FactCorrection,
    Unset,
    find_facts_naming,
    replace_named_value,
)
from notes.facts.slots import ClaimSlots, carry_slots_over, find_value_in_place
from notes.history import timeline
from notes.history.change_set import ChangeSet
from notes.history.timeline import RowChange
from notes.history.undo import plan_roll_back, plan_undo, write_plan
from notes.history.unit_of_work import RowKey, UnitOfWork, load_event_standing
from notes.models import Entity, EvolutionEvent, Fact, IndexEntry, Note, Revision
from personas import portrait, profile, traits
from personas.models import ProfileAttribute, Trait

__all__ = [
    "UNSET",
    "Edit",
    "FactCorrection",
    "UnitOfWork",
    "Unset",
    "find_facts_naming",
    "replace_named_value",
]

RowT = TypeVar("RowT")
_MAX_READ_LENGTH = 2_000  # characters of new words that are read for their value
# What stands in the history when nobody gives a reason.
REASONS = {
    "correct": gettext_noop("corrected"),
    "retract": gettext_noop("retracted"),
    "end": gettext_noop("ended"),
    "restore": gettext_noop("restored"),
    "forget": gettext_noop("forgotten"),
    "pin": gettext_noop("pinned"),
    "unpin": gettext_noop("unpinned"),
    "describe": gettext_noop("described"),
    "merge": gettext_noop("merged"),
}


@dataclass(frozen=True, slots=True)
class Correction(Generic[RowT]):
    """What an operation did: its events, and the rows that it was asked for as they are now; for
    a fact in other words, its new version. `plan`: all rows before and after, unless the operation
    plans nothing. After a dry run nothing of it is stored. `unsealed`: the erasure that was taken
    back, whose rows are put back without a plan."""

    events: tuple[EvolutionEvent, ...]
    rows: tuple[RowT, ...] = ()
    plan: UnitOfWork | None = None
    unsealed: EvolutionEvent | None = None

    @property
    def event(self) -> EvolutionEvent:
        """The one event of an operation; of an undo with later events, the last that was made."""
        return self.events[-1]

    @property
    def row(self) -> RowT:
        return self.rows[0]

    @property
    def is_stored(self) -> bool:
        """Whether there is an event to be undone: not where nothing was to be changed."""
        return bool(self.events) and not self.event._state.adding

    @property
    def changes(self) -> list[RowChange]:
        return timeline.preview_changes(self.plan) if self.plan else []

    @property
    def undone_events(self) -> list[EvolutionEvent]:
        if self.unsealed is not None:
            return [self.unsealed]
        return self.plan.undone_events if self.plan else []


class CorrectionOptions(TypedDict, total=False):
    """What every operation on a row takes. `dry_run`: plan it, and write nothing."""

    reason: str
    version: int | None
    dry_run: bool


# Facts


def correct_fact(
    space: Space,
    fact_id: UUID,
    text: str,
    actor: str,
    now: datetime,
    **options: Unpack[CorrectionOptions],
) -> Correction[Fact]:
    """The same claim in better words: a new version of it, with the same supports."""
    return correct_facts(space, {fact_id: FactCorrection(text)}, actor, now, **options)


def correct_facts(
    space: Space,
    wanted: Mapping[UUID, FactCorrection],
    actor: str,
    now: datetime,
    *,
    protects: bool = True,
    **options: Unpack[CorrectionOptions],
) -> Correction[Fact]:
    """Facts in better words, or with other metadata or times, in one event.

    Without `protects` it is no word against the pipeline: what is read later may still reword or
    end the memory, and what a person protects is refused. With it, where only a name differs in the
    first of them, it is proposed that what else is told under the old one follows.
    """
    wanted = _add_read_values(space, wanted, now)
    edit = partial(edits.correct_facts, wanted=wanted, protects=protects)
    made = _edit_rows(space, "correct", edit, "fact", wanted, actor, now, options)
    first = next(iter(wanted))
    if protects and made.is_stored and made.plan and made.row.id != first:
        old = made.plan.rows["fact", first]
        propose_right_names(space, made.rows, old.text, now)
    return made


def _add_read_values(
    space: Space, wanted: Mapping[UUID, FactCorrection], now: datetime
) -> dict[UUID, FactCorrection]:
    """With the value of new words where nobody says it and it doesn't follow from the old ones, so
    that the profile shows a value and no sentence."""
    reworded = [at for at, each in wanted.items() if each.text and each.value is None]
    with tenant_scope(space.tenant_id):
        rows = Fact.objects.filter(space=space).in_bulk(reworded)
    read = {at: read_claim_value(fact, wanted[at].text or "", now) for at, fact in rows.items()}
    return {
        at: replace(each, value=read[at]) if read.get(at) else each for at, each in wanted.items()
    }


def read_claim_value(fact: Fact, text: str, now: datetime) -> str | None:
    """What new words for a fact say by its predicate or in the place of its value, None where rules
    can't tell: the value of before, where they say that still. Pure."""
    text = text.strip()
    slots = ClaimSlots(*(getattr(fact, column) for column in ClaimSlots._fields))
    if not text or not (fact.predicate_key or fact.object):
        return None
    if carried := carry_slots_over(fact.text, text, slots):
        return carried.object or None
    found = _read_by_predicate(fact, text, now) if fact.predicate_key else []
    if fact.object:
        found.append(find_value_in_place(fact.text, text, fact.object))
        found.append(fact.object if build_value_pattern(fact.object).search(text) else "")
    return next(filter(None, found), None)


def _read_by_predicate(fact: Fact, text: str, now: datetime) -> list[str]:
    said = Utterance("turn", fact.owner, "user", text[:_MAX_READ_LENGTH], now)
    (built,) = LocalEngine().extract_memories([Exchange([said])])
    return [each.object for each in built.facts if each.predicate_key == fact.predicate_key]


def build_value_pattern(value: str) -> re.Pattern[str]:
    """Finds a value as words of its own: "5 mg" not in "15 mg"."""
    return re.compile(rf"(?<![A-Za-z0-9]){re.escape(value)}(?![A-Za-z0-9])", re.I)


def retract_fact(
    space: Space, fact_id: UUID, actor: str, now: datetime, **options: Unpack[CorrectionOptions]
) -> Correction[Fact]:
    """It was never so (E19): no time brings it back, and what it had closed holds again."""
    edit = partial(edits.retract_fact, fact_id=fact_id)
    return _edit_rows(space, "retract", edit, "fact", [fact_id], actor, now, options)


def end_fact(
    space: Space,
    fact_id: UUID,
    actor: str,
    now: datetime,
    *,
    at: datetime | None = None,
    **options: Unpack[CorrectionOptions],
) -> Correction[Fact]:
    """It is no longer so: it held until `at`, or until now."""
    edit = partial(edits.end_fact, fact_id=fact_id, at=at)
    return _edit_rows(space, "end", edit, "fact", [fact_id], actor, now, options)


def restore_fact(
    space: Space, fact_id: UUID, actor: str, now: datetime, **options: Unpack[CorrectionOptions]
) -> Correction[Fact]:
    """It is so after all, and still: whatever had retracted, ended or retired it."""
    edit = partial(edits.restore_fact, fact_id=fact_id)
    return _edit_rows(space, "restore", edit, "fact", [fact_id], actor, now, options)


def forget_facts(
    space: Space,
    fact_ids: Collection[UUID],
    actor: str,
    now: datetime,
    **options: Unpack[CorrectionOptions],
) -> Correction[Fact]:
    """Hold these facts no longer, in one event. What they had ended stays ended; said again, they
    are new. It can be undone; an erasure can't. `version` is the first one's."""
    edit = partial(edits.forget_facts, fact_ids=fact_ids)
    return _edit_rows(space, "forget", edit, "fact", fact_ids, actor, now, options)


# Notes


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
    **options: Unpack[CorrectionOptions],
) -> Correction[Note]:
    """Other descriptors; None leaves one as it is. What a note says never changes."""
    given = {"context": context, "keywords": keywords, "tags": tags, "category": category}
    values = {name: value for name, value in given.items() if value is not None}
    edit = partial(edits.describe_note, note_id=note_id, values=values)
    return _edit_rows(space, "describe", edit, "note", [note_id], actor, now, options)


def forget_note(
    space: Space, note_id: UUID, actor: str, now: datetime, **options: Unpack[CorrectionOptions]
) -> Correction[Note]:
    """Take a note out, with its links. It can be undone; erasing it can't."""
    edit = partial(edits.forget_note, note_id=note_id)
    return _edit_rows(space, "forget", edit, "note", [note_id], actor, now, options)


def restore_note(
    space: Space, note_id: UUID, actor: str, now: datetime, **options: Unpack[CorrectionOptions]
) -> Correction[Note]:
    """Hold a note again that was forgotten. Its links stay as they are: undo brings both back."""
    edit = partial(edits.restore_note, note_id=note_id)
    return _edit_rows(space, "restore", edit, "note", [note_id], actor, now, options)


# Any memory


def set_pinned(
    space: Space,
    row_type: str,
    row_id: UUID,
    pinned: bool,
    actor: str,
    now: datetime,
    **options: Unpack[CorrectionOptions],
) -> Correction[Any]:
    """What is pinned does not fade, and the pipeline does not change it."""
    edit = partial(edits.set_pinned, row_type=row_type, row_id=row_id, pinned=pinned)
    verb = "pin" if pinned else "unpin"
    return _edit_rows(space, verb, edit, row_type, [row_id], actor, now, options)


def merge_memories(
    space: Space,
    row_type: str,
    gone_id: UUID,
    kept_id: UUID,
    actor: str,
    now: datetime,
    **options: Unpack[CorrectionOptions],
) -> Correction[Any]:
    """`gone` is taken out, and what it rests on supports `kept`. Of two entities, one name stands
    for both."""
    merge = {"entity": edits.merge_entities, "fact": edits.merge_facts}.get(
        row_type, edits.merge_notes
    )
    edit = partial(merge, gone_id=gone_id, kept_id=kept_id)
    return _edit_rows(space, "merge", edit, row_type, [kept_id], actor, now, options)


def split_entity(
    space: Space, entity_id: UUID, actor: str, now: datetime, *, reason: str = ""
) -> Correction[Any]:
    """Take back the merge that made another name stand for this entity, which stands for itself
    then. Raises NotFound where it does already."""
    with tenant_scope(space.tenant_id):
        rows = Revision.objects.filter(space=space, row_type="entity", row_id=entity_id)
        merged = rows.filter(before__merged_into_id=None).exclude(after__merged_into_id=None)
        merge = _find_last_standing_event(space, merged)
    if merge is None:
        raise NotFound(gettext("this entity is merged into no other"))
    made = undo_event(merge, actor, now, cascade=True, reason=reason)
    with tenant_scope(space.tenant_id):
        return replace(made, rows=(Entity.objects.get(space=space, id=entity_id),))


def edit_rows(
    space: Space,
    edit: Edit,
    actor: str,
    now: datetime,
    rows: Sequence[RowKey] = (),
    **options: Unpack[CorrectionOptions],
) -> Correction[Any]:
    """Any other edit by hand, as one event: what is imported, kept word by word or decided by a
    person. Refuses what breaks I4. `version` is that of the first of `rows`."""
    reason, version = options.get("reason", ""), options.get("version")

    def build() -> UnitOfWork:
        plan = UnitOfWork(space, actor, now)
        if version is not None:
            _check_version(plan, rows[0], version)
        edit(plan, plan.add_manual_change_set(reason))
        if rivals := plan.find_rivals():
            raise Conflict(
                gettext("at that time “%(text)s” holds") % {"text": rivals[0].text},
                code="another_holds",
                rivals=[str(fact.id) for fact in rivals],
            )
        return plan

    dry_run = options.get("dry_run", False)
    return _carry_out(space.tenant_id, build, now, rows=rows, dry_run=dry_run)


def _edit_rows(
    space: Space,
    verb: str,
    edit: Edit,
    row_type: str,
    row_ids: Collection[UUID],
    actor: str,
    now: datetime,
    options: CorrectionOptions,
) -> Correction[Any]:
    options["reason"] = options.get("reason") or REASONS[verb]
    return edit_rows(space, edit, actor, now, [(row_type, each) for each in row_ids], **options)


def _check_version(plan: UnitOfWork, row: RowKey, version: int) -> None:
    held = plan.get_row(*row).version
    if version != held:
        raise VersionOutdated(
            gettext("it is in version %(held)s by now, not in %(version)s")
            % {"held": held, "version": version},
            version=held,
        )


# What is known of a person


def correct_trait(
    space: Space, key: str, level: str, actor: str, now: datetime, *, reason: str = ""
) -> Correction[Trait]:
    """A person's own word on a trait: "" withdraws it. The pipeline only proposes against it."""
    with tenant_scope(space.tenant_id):
        changes, row = traits.correct_trait(space, key, level, actor, now, reason=reason)
        return _conclude(changes, row)


def correct_profile(
    space: Space, key: str, value: str, actor: str, now: datetime, *, reason: str = ""
) -> Correction[ProfileAttribute]:
    """A person's own word on the profile; "" takes the attribute away, if no fact says it."""
    with tenant_scope(space.tenant_id):
        changes, row = profile.write_attribute(space, key, value, actor, now, reason=reason)
        return _conclude(changes, row)


def undo_trait_correction(
    space: Space, key: str, actor: str, now: datetime, *, reason: str = ""
) -> Correction[Any]:
    """Take back what `actor` said last of a trait: what was thought before is thought again."""
    with tenant_scope(space.tenant_id):
        rows = Trait.objects.filter(space=space, owner__in=space.called_names, key=key)
        said = Revision.objects.filter(
            row_type="trait",
            row_id__in=rows.values("id"),
            event__actor=actor,
            event__kind=EvolutionEvent.Kind.MANUAL,
        )
        last = _find_last_standing_event(space, said)
    if last is None:
        raise NotFound(gettext("you have said nothing about it"))
    return undo_event(last, actor, now, reason=reason)


def _conclude(changes: ChangeSet, row: RowT | None) -> Correction[RowT]:
    """Renew the portrait, which is made of both. Call inside the tenant's scope."""
    held = load_effective_policy(changes.space)
    portrait.renew_portrait(changes.space, held.policy, held.version, changes.at)
    return Correction((changes.event,), () if row is None else (row,))


# Undo


def undo_event(
    event: EvolutionEvent,
    actor: str,
    now: datetime,
    *,
    cascade: bool = False,
    reason: str = "",
    dry_run: bool = False,
) -> Correction[Any]:
    """Take back what an event did, as an event of its own; of an undo, that is redo.

    Raises Conflict, with the ids of `later` events that changed the same rows unless `cascade`
    undoes those first; and for an event that only brought the profile in step with its facts:
    undone, it would be written again at once (I3). Going back to an earlier time takes it along.
    An erasure can be undone where nobody has confirmed it, for a time.
    """
    if event.kind == EvolutionEvent.Kind.REFRESH and event.trigger == promotion.MIRROR_TRIGGER:
        raise Conflict(
            gettext("the profile says what its facts say: put the fact right instead"),
            code="mirrored",
        )
    if event.kind == EvolutionEvent.Kind.ERASE:
        made = sealed_erasures.unseal_erasure(
            event, actor, now, cascade=cascade, reason=reason, dry_run=dry_run
        )
        if not dry_run:
            with tenant_scope(event.tenant_id):
                space = Space.objects.get(id=event.space_id)
            refresh_after_change(space, str(made.id), now)
        return Correction((made,), unsealed=event)
    build = partial(plan_undo, event, actor, now, cascade=cascade)
    return _carry_out(event.tenant_id, build, now, reason=reason, dry_run=dry_run)


def select_standing(events: Sequence[EvolutionEvent]) -> list[EvolutionEvent]:
    """Those that nothing has taken back since. Call inside the tenant's scope; a statement a
    space."""
    spaces = {event.space_id: event.space for event in events}
    standing = {place: load_event_standing(space) for place, space in spaces.items()}
    return [event for event in events if standing[event.space_id].is_standing(event.id)]


def roll_back_space(
    space: Space,
    to: datetime,
    actor: str,
    now: datetime,
    *,
    reason: str = "",
    dry_run: bool = False,
) -> Correction[Any]:
    """Undo every later event that stands, newest first, all or none: an event for each of them."""
    build = partial(plan_roll_back, space, to, actor, now)
    return _carry_out(space.tenant_id, build, now, reason=reason, dry_run=dry_run)


def _find_last_standing_event(space: Space, revisions: Any) -> EvolutionEvent | None:
    """The newest event of these revisions that was not undone. Call inside the tenant's scope."""
    standing = load_event_standing(space)
    events = EvolutionEvent.objects.filter(space=space, id__in=revisions.values("event_id"))
    newest = events.order_by("-created_at", "-id")
    return next((event for event in newest if standing.is_standing(event.id)), None)


# Carrying it out, and what follows


def _carry_out(
    tenant_id: UUID,
    build: Callable[[], UnitOfWork],
    now: datetime,
    *,
    rows: Sequence[RowKey] = (),
    reason: str = "",
    dry_run: bool = False,
) -> Correction[Any]:
    def build_with_reason() -> UnitOfWork:
        plan = build()
        plan.set_reason(reason)
        return plan

    if dry_run:
        with tenant_scope(tenant_id):
            plan = build_with_reason()
    else:
        plan = write_plan(tenant_id, build_with_reason)
    events = tuple(changes.event for changes in plan.change_sets)
    made = Correction(events, _list_current_rows(plan, rows), plan)
    if made.is_stored:
        refresh_after_change(plan.space, str(made.event.id), now)
    return made


def _list_current_rows(plan: UnitOfWork, keys: Sequence[RowKey]) -> tuple[Any, ...]:
    """Each row, or the version that was made of it."""
    made = [
        row
        for key, row in plan.rows.items()
        if key[0] == "fact" and plan.original_values[key] is None
    ]
    newest = {row.lineage: row for row in made}
    rows = [(kind, plan.rows[kind, row_id]) for kind, row_id in keys]
    return tuple(newest.get(row.lineage, row) if kind == "fact" else row for kind, row in rows)


def refresh_after_change(space: Space, key: str, now: datetime) -> None:
    """Bring in step what is made of memories, after they changed by other means than reading.
    Opens its own scope.

    `key` tells this change from others, so that its job is planned once.
    """
    with tenant_scope(space.tenant_id):
        space = Space.objects.get(id=space.id)
        promotion.refresh_profile(space, load_effective_policy(space).policy, now)
        model = select_embedder(space).name
        # The write may have found the embedder down.
        if IndexEntry.objects.filter(space=space, model=model, embedding=None).exists():
            queue.plan_step(space, Job.Step.EMBED, key, now)
