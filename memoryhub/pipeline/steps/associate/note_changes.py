"""Notes with their links and their evolution, beside a derivation (spec §12.1, step 6).

`prepare` asks models with nothing open, `write` runs in the derivation's transaction. A model
that fails here costs notes nothing but time: the step `associate` (`enriching`) asks again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from uuid import UUID

import structlog

from memoryhub.engines.types import Embedder, Passage
from memoryhub.errors import EngineError
from memoryhub.pipeline.jobs import queue
from memoryhub.pipeline.jobs.step import StaleRead
from memoryhub.pipeline.models import Job
from memoryhub.pipeline.steps.associate.neighbourhood import (
    NoteAssociations,
    ask_associations,
    load_neighbourhood,
)
from memoryhub.pipeline.steps.associate.note_drafts import DraftedNote, draft_notes
from memoryhub.pipeline.steps.context import StepContext
from memoryhub.pipeline.steps.derive.extract import PageDraft
from memoryhub.pipeline.steps.derive.read import DialogueBatch
from memoryhub.policies.services import EffectivePolicy
from notes.history.change_set import TurnEvidence, load_supports
from notes.index import indexer
from notes.links.evolve import DescriptorChange, build_descriptors, evolve_notes
from notes.links.link import NotePair, link_notes
from notes.models import Derivation, EvolutionEvent, Fact, Link, Note, Proposal
from notes.review.proposals import propose_change

log = structlog.get_logger()

SAID, DESCRIBED = "said in the dialogue", "described"
LINKED_REASON = "linked with what it belongs to"
REPLACED_REASON = "What the one says took the place of what the other says"
_SHOWN = 80  # characters of a note, where it is said why it evolved


@dataclass(frozen=True, slots=True)
class PreparedNotes:
    """Notes and what was found of them, not yet written.

    `sources` are the turns behind them, by note. `described` are new descriptors of held notes
    that were pending. `index` is for every note as it will be after all of it. `owed` are those
    to be asked about again, by `failure` if there was one.
    """

    at: StepContext
    new: Sequence[DraftedNote] = ()
    sources: Mapping[UUID, Sequence[TurnEvidence]] = field(default_factory=dict)
    descriptions: Sequence[DescriptorChange] = ()
    associations: NoteAssociations = field(default_factory=NoteAssociations)
    index: Sequence[indexer.EmbeddedEntries] = ()
    unfinished: Sequence[UUID] = ()
    failure: EngineError | None = None

    @property
    def has_unembedded(self) -> bool:
        return any(part.is_unembedded for part in self.index)


def prepare_notes(
    batch: DialogueBatch, pages: Sequence[PageDraft], stored: Sequence[Fact], now: datetime
) -> PreparedNotes:
    """The notes of a batch with their links and what their neighbours learn.

    `stored`: the facts that will be written. Opens its own scope: call outside any.
    """
    effective = EffectivePolicy(batch.policy, batch.policy_version)
    at = StepContext(batch.job, now, batch.space, batch.tenant, effective)
    new = draft_notes(batch, pages, stored, at)
    notes = [each.note for each in new]
    if not batch.policy.llm.combine_calls:
        try:
            apply_changes(describe_notes(at, notes))
        except EngineError as error:  # they are pending (spec §4.4)
            log.warning("notes.undescribed", error=str(error))
    sources = {each.note.id: each.sources for each in new}
    return compare_notes(PreparedNotes(at, new, sources), notes)


def describe_notes(where: StepContext, notes: Sequence[Note]) -> list[DescriptorChange]:
    """What `note_build` says of those that are pending. Raises EngineError."""
    pending = [note for note in notes if note.enrichment == Note.Enrichment.PENDING]
    passages = [
        Passage(f"n{n}", each.content, each.occurred_at) for n, each in enumerate(pending, 1)
    ]
    drafts = where.engine.describe_notes(passages) if passages else []
    done = {"enrichment": Note.Enrichment.DONE}
    return [
        DescriptorChange(note, {**build_descriptors(draft), **done}, note.version, DESCRIBED)
        for note, draft in zip(pending, drafts, strict=True)
        if draft is not None
    ]


def apply_changes(changes: Sequence[DescriptorChange]) -> None:
    """To the rows in memory: what follows is asked of the notes as they will be."""
    for change in changes:
        for name, value in change.values.items():
            setattr(change.note, name, value)


def compare_notes(prepared: PreparedNotes, notes: Sequence[Note]) -> PreparedNotes:
    """With links and evolution of the notes that are described, and the vectors of all."""
    at = prepared.at
    entries = indexer.build_note_entries(notes, at.zone, at.policy.notes.vector)
    index, failure = _embed_entries(entries, at.embedder)
    ready = [note for note in notes if note.enrichment == Note.Enrichment.DONE]
    found = NoteAssociations()
    if index.vectors is not None:
        found, failure = _find_associations(at, ready, index)
    owed = notes if failure else [note for note in notes if note not in ready]
    return replace(
        prepared,
        associations=found,
        index=_renew_changed(at, index, found),
        unfinished=[note.id for note in owed],
        failure=failure,
    )


def _find_associations(
    at: StepContext, notes: Sequence[Note], index: indexer.EmbeddedEntries
) -> tuple[NoteAssociations, EngineError | None]:
    """(what belongs together, why that could not be found out)."""
    own = index.select_owners({note.id for note in notes})
    wanted = at.policy.notes.links or at.policy.notes.evolution
    if not own.entries or not wanted:
        return NoteAssociations(), None
    near = load_neighbourhood(at, notes, own)
    try:
        return ask_associations(near, at.policy, at.engine), None
    except EngineError as error:
        log.warning("notes.unlinked", error=str(error))
        return NoteAssociations(), error


def _renew_changed(
    at: StepContext, before: indexer.EmbeddedEntries, found: NoteAssociations
) -> tuple[indexer.EmbeddedEntries, indexer.EmbeddedEntries]:
    """The entries to be stored: those of notes that changed are made anew (A6)."""
    after = [each.after for each in found.changes]
    fresh = indexer.build_note_entries(after, at.zone, at.policy.notes.vector)
    same = {entry.owner_id for entry in before.entries} - {entry.owner_id for entry in fresh}
    return before.select_owners(same), indexer.embed_if_possible(fresh, at.embedder)


def _embed_entries(
    entries: Sequence[indexer.EntryDraft], model: Embedder
) -> tuple[indexer.EmbeddedEntries, EngineError | None]:
    """Without vectors when the embedder is down: the rows are found by their words (E18)."""
    try:
        vectors = indexer.embed_entries(entries, model) if entries else None
    except EngineError as error:
        log.warning("embedder.failed", error=str(error))
        return indexer.EmbeddedEntries(entries), error
    return indexer.EmbeddedEntries(entries, vectors), None


def write_notes(prepared: PreparedNotes, *, attempt: int | None = 1) -> None:
    """Store notes, links, evolution and index entries: an event for what was said, one for what
    was described, one for what was linked. Call in the transaction that also ends the job.

    `attempt` is the one to plan for notes that are owed something; None plans none. Raises
    StaleRead when a note changed since it was read: prepare again and write anew.
    """
    at = prepared.at
    rows = _lock_notes(prepared)
    said = at.build_change_set(EvolutionEvent.Kind.EVOLVE, SAID)
    Note.objects.bulk_create([each.note for each in prepared.new], batch_size=500)
    for each in prepared.new:
        said.record_creation(each.note, each.sources)
    said.save()
    described = at.build_change_set(EvolutionEvent.Kind.REFRESH, DESCRIBED)
    evolve_notes([(rows[each.note.id], each) for each in prepared.descriptions], {}, described)
    described.save()
    _write_associations(prepared, rows)
    for change in prepared.associations.refused:
        _propose_overwrite(prepared, change)
    for part in prepared.index:
        indexer.write_entries(at.space, at.embedder.name, part.entries, part.vectors)
    if prepared.unfinished and attempt is not None:
        _plan_associate_job(prepared, attempt)


def _lock_notes(prepared: PreparedNotes) -> dict[UUID, Note]:
    """The rows to be changed, new ones and held ones, in the versions that were read."""
    new = {each.note.id: each.note for each in prepared.new}
    changes = [*prepared.descriptions, *prepared.associations.changes]
    ids = {change.note.id for change in changes} - set(new)
    held = Note.objects.select_for_update().filter(id__in=ids, retired_at=None)
    rows = {row.id: row for row in held} | new
    for change in changes:
        row = rows.get(change.note.id)
        if row is None or row.version != change.version or row.is_protected:
            raise StaleRead("notes changed while they were being compared")
    return rows


def _write_associations(prepared: PreparedNotes, rows: dict[UUID, Note]) -> None:
    """Links and evolution are one event: undone together (AM8). It says why each note evolved."""
    grown = prepared.associations.changes
    told = [f"“{change.note.content[:_SHOWN]}”: {change.why}" for change in grown if change.why]
    reason = "\n".join([LINKED_REASON, *told])
    changes = prepared.at.build_change_set(EvolutionEvent.Kind.EVOLVE, reason)
    pairs = [*prepared.associations.pairs, *_find_contradictions(prepared)]
    teachers = {teacher for change in grown for teacher in change.by}
    sources = {**prepared.sources, **load_supports("note", teachers - set(prepared.sources))}
    link_notes(pairs, sources, changes)
    lessons = {change.note.id: _collect_lesson_sources(change, sources) for change in grown}
    evolve_notes([(rows[change.note.id], change) for change in grown], lessons, changes)
    changes.save()


def _collect_lesson_sources(
    change: DescriptorChange, sources: Mapping[UUID, Sequence[TurnEvidence]]
) -> list[TurnEvidence]:
    """The turns behind the notes that a note learnt from, as context."""
    return [
        replace(source, role=Derivation.Role.CONTEXT, via_type="note", via_id=teacher)
        for teacher in change.by
        for source in sources.get(teacher, ())
    ]


def _find_contradictions(prepared: PreparedNotes) -> list[NotePair]:
    """A new fact's note with those of the fact whose place it took (spec §11.7)."""
    new = {
        each.note.fact.supersedes_id: each.note.id
        for each in prepared.new
        if each.note.fact is not None and each.note.fact.supersedes_id
    }
    if not new or not prepared.at.policy.notes.links:
        return []
    old = Note.objects.filter(fact__in=new, retired_at=None).values_list("id", "fact_id")
    return [NotePair(note, new[fact], Link.Kind.CONTRADICTS, REPLACED_REASON) for note, fact in old]


def _propose_overwrite(prepared: PreparedNotes, change: DescriptorChange) -> None:
    """What the pipeline may not write into a note that a person corrected or pinned."""
    sources = [s for teacher in change.by for s in prepared.sources.get(teacher, ())]
    propose_change(
        prepared.at.space,
        Proposal.Kind.OVERWRITE,
        ":".join(map(str, (change.note.id, change.version, *change.by)))[:100],
        change.why or "A new note describes it better",
        prepared.at.now,
        payload=change.values,
        row=change.note,
        turn_ids=[source.turn_id for source in sources],
    )


def _plan_associate_job(prepared: PreparedNotes, attempt: int) -> None:
    """Have the step `associate` see to the notes that are owed something."""
    at = prepared.at
    queue.plan_step(
        at.space,
        Job.Step.ASSOCIATE,
        str(at.job.id),
        at.now + queue.compute_backoff(1) if prepared.failure else at.now,
        payload={"notes": [str(note) for note in prepared.unfinished], "attempt": attempt},
        seqs=at.job.seqs,
    )
