"""Notes with their links and their evolution, beside a derivation (spec §12.1, step 6).

`prepare` asks models with nothing open, `write` runs in the derivation's transaction. A model
that fails here costs notes nothing but time: the step `associate` (`enriching`) asks again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from uuid import UUID
from zoneinfo import ZoneInfo

import structlog

from memoryhub.engines.types import Embedder, Engine, Passage
from memoryhub.errors import EngineError
from memoryhub.pipeline import queue
from memoryhub.pipeline.claiming import StaleRead
from memoryhub.pipeline.drafting import PageDraft
from memoryhub.pipeline.models import Job
from memoryhub.pipeline.neighbouring import Found, asked, circle
from memoryhub.pipeline.noting import Noted, noted
from memoryhub.pipeline.reading import Batch
from memoryhub.policies.schema import Policy
from memoryhub.tenants.models import Space
from notes import indexing
from notes.evolving import Change, descriptors, evolve
from notes.linking import Pair, link, support_of
from notes.models import Derivation, EvolutionEvent, Fact, Link, Note, Proposal
from notes.proposals import propose
from notes.recording import ChangeSet, Source

log = structlog.get_logger()

SAID, DESCRIBED = "said in the dialogue", "described"
LINKED = "linked with what it belongs to"
REPLACED = "What the one says took the place of what the other says"


@dataclass(frozen=True, slots=True)
class Setting:
    """What a change-set of notes carries, and who is asked."""

    space: Space
    policy: Policy
    policy_version: str
    job: Job
    engine: Engine
    embedder: Embedder

    @property
    def stamp(self) -> str:
        return f"{self.engine.name}/{self.engine.version}"

    def changes(self, kind: str, now: datetime, reason: str) -> ChangeSet:
        return ChangeSet(
            space=self.space,
            kind=kind,
            actor="pipeline",
            at=now,
            reason=reason,
            engine=self.stamp,
            job_id=self.job.id,
            trigger=self.job.step,
            policy_version=self.policy_version,
        )


@dataclass(frozen=True, slots=True)
class Indexed:
    entries: Sequence[indexing.Entry]
    vectors: indexing.Vectors | None


@dataclass(frozen=True, slots=True)
class Prepared:
    """Notes and what was found of them, not yet written.

    `sources` are the turns behind them, by note. `described` are new descriptors of held notes
    that were pending. `index` is for every note as it will be after all of it. `owed` are those
    to be asked about again, by `failure` if there was one.
    """

    setting: Setting
    new: Sequence[Noted] = ()
    sources: Mapping[UUID, Sequence[Source]] = field(default_factory=dict)
    described: Sequence[Change] = ()
    found: Found = field(default_factory=Found)
    index: Sequence[Indexed] = ()
    owed: Sequence[UUID] = ()
    failure: EngineError | None = None

    @property
    def unembedded(self) -> bool:
        return any(part.entries and part.vectors is None for part in self.index)


def prepare(
    batch: Batch,
    pages: Sequence[PageDraft],
    stored: Sequence[Fact],
    engine: Engine,
    embedder: Embedder,
    now: datetime,
) -> Prepared:
    """The notes of a batch with their links and what their neighbours learn.

    `stored`: the facts that will be written. Opens its own scope: call outside any.
    """
    setting = Setting(batch.space, batch.policy, batch.policy_version, batch.job, engine, embedder)
    new = noted(batch, pages, stored, setting.stamp, now)
    notes = [each.note for each in new]
    if not batch.policy.llm.combine_calls:
        _describe_first(setting, notes)
    sources = {each.note.id: each.sources for each in new}
    return compared(Prepared(setting, new, sources), notes)


def _describe_first(setting: Setting, notes: Sequence[Note]) -> None:
    """By a call of their own; what can't be described now is pending (spec §4.4)."""
    try:
        apply(described(setting, notes))
    except EngineError as error:
        log.warning("notes.undescribed", error=str(error))


def described(setting: Setting, notes: Sequence[Note]) -> list[Change]:
    """What `note_build` says of those that are pending. Raises EngineError."""
    pending = [note for note in notes if note.enrichment == Note.Enrichment.PENDING]
    passages = [
        Passage(f"n{at}", note.content, note.occurred_at) for at, note in enumerate(pending, 1)
    ]
    drafts = setting.engine.note_build(passages) if passages else []
    done = {"enrichment": Note.Enrichment.DONE}
    return [
        Change(note, {**descriptors(draft), **done}, note.version, DESCRIBED)
        for note, draft in zip(pending, drafts, strict=True)
        if draft is not None
    ]


def apply(changes: Sequence[Change]) -> None:
    """To the rows in memory: what follows is asked of the notes as they will be."""
    for change in changes:
        for name, value in change.values.items():
            setattr(change.note, name, value)


def compared(prepared: Prepared, notes: Sequence[Note]) -> Prepared:
    """With links and evolution of the notes that are described, and the vectors of all."""
    zone = ZoneInfo(prepared.setting.space.timezone)
    entries = indexing.note_entries(notes, zone=zone)
    vectors, failure = _vectors(entries, prepared.setting.embedder)
    ready = [note for note in notes if note.enrichment == Note.Enrichment.DONE]
    found = Found()
    if vectors is not None:
        found, failure = _found(prepared.setting, ready, entries, vectors)
    owed = notes if failure else [note for note in notes if note not in ready]
    prepared = replace(prepared, found=found, owed=[note.id for note in owed], failure=failure)
    return replace(prepared, index=_index(prepared, Indexed(entries, vectors), zone))


def _found(
    setting: Setting,
    notes: Sequence[Note],
    entries: Sequence[indexing.Entry],
    vectors: indexing.Vectors,
) -> tuple[Found, EngineError | None]:
    """(what belongs together, why that could not be found out)."""
    ids = {note.id for note in notes}
    at = [place for place, entry in enumerate(entries) if entry.owner_id in ids]
    wanted = setting.policy.notes.links or setting.policy.notes.evolution
    if not at or not wanted:
        return Found(), None
    own, name = [entries[place] for place in at], setting.embedder.name
    near = circle(setting.space, setting.policy, notes, own, vectors[at], name)
    try:
        return asked(near, setting.policy, setting.engine), None
    except EngineError as error:
        log.warning("notes.unlinked", error=str(error))
        return Found(), error


def _index(prepared: Prepared, before: Indexed, zone: ZoneInfo) -> tuple[Indexed, Indexed]:
    """The entries to be stored: those of notes that changed are made anew (A6)."""
    fresh = indexing.note_entries([change.after for change in prepared.found.changes], zone=zone)
    changed = {entry.owner_id for entry in fresh}
    at = [place for place, entry in enumerate(before.entries) if entry.owner_id not in changed]
    kept = Indexed(
        [before.entries[place] for place in at],
        None if before.vectors is None else before.vectors[at],
    )
    return kept, Indexed(fresh, _vectors(fresh, prepared.setting.embedder)[0])


def _vectors(
    entries: Sequence[indexing.Entry], model: Embedder
) -> tuple[indexing.Vectors | None, EngineError | None]:
    """None when the embedder is down: the rows are kept and found by their words (E18)."""
    try:
        return (indexing.embed_entries(entries, model) if entries else None), None
    except EngineError as error:
        log.warning("embedder.failed", error=str(error))
        return None, error


def write(prepared: Prepared, now: datetime, *, attempt: int | None = 1) -> None:
    """Store notes, links, evolution and index entries: an event for what was said, one for what
    was described, one for what was linked. Call in the transaction that also ends the job.

    `attempt` is the one to plan for notes that are owed something; None plans none. Raises
    StaleRead when a note changed since it was read: prepare again and write anew.
    """
    setting = prepared.setting
    rows = _locked(prepared)
    _create(prepared, now)
    _describe(prepared, rows, now)
    _associate(prepared, rows, now)
    for change in prepared.found.refused:
        _put_forward(prepared, change, now)
    for part in prepared.index:
        indexing.write_entries(setting.space, setting.embedder.name, part.entries, part.vectors)
    if prepared.owed and attempt is not None:
        _plan(prepared, now, attempt)


def _locked(prepared: Prepared) -> dict[UUID, Note]:
    """The rows to be changed, new ones and held ones, in the versions that were read."""
    new = {each.note.id: each.note for each in prepared.new}
    changes = [*prepared.described, *prepared.found.changes]
    ids = {change.note.id for change in changes} - set(new)
    held = Note.objects.select_for_update().filter(id__in=ids, retired_at=None)
    rows = {row.id: row for row in held} | new
    for change in changes:
        row = rows.get(change.note.id)
        if row is None or row.version != change.version or row.is_protected:
            raise StaleRead("notes changed while they were being compared")
    return rows


def _create(prepared: Prepared, now: datetime) -> None:
    changes = prepared.setting.changes(EvolutionEvent.Kind.EVOLVE, now, SAID)
    Note.objects.bulk_create([each.note for each in prepared.new], batch_size=500)
    for each in prepared.new:
        changes.created(each.note, each.sources)
    changes.save()


def _describe(prepared: Prepared, rows: dict[UUID, Note], now: datetime) -> None:
    changes = prepared.setting.changes(EvolutionEvent.Kind.REFRESH, now, DESCRIBED)
    evolve([(rows[change.note.id], change) for change in prepared.described], {}, changes)
    changes.save()


def _associate(prepared: Prepared, rows: dict[UUID, Note], now: datetime) -> None:
    """Links and evolution are one event: undone together (AM8)."""
    changes = prepared.setting.changes(EvolutionEvent.Kind.EVOLVE, now, LINKED)
    pairs = [*prepared.found.pairs, *_contradictions(prepared)]
    grown = prepared.found.changes
    sources = dict(prepared.sources)
    sources |= support_of({teacher for change in grown for teacher in change.by} - set(sources))
    link(prepared.setting.space, pairs, sources, changes, now)
    lessons = {change.note.id: _lesson(change, sources) for change in grown}
    evolve([(rows[change.note.id], change) for change in grown], lessons, changes)
    changes.save()


def _lesson(change: Change, sources: Mapping[UUID, Sequence[Source]]) -> list[Source]:
    """The turns behind the notes that a note learnt from, as context."""
    return [
        replace(source, role=Derivation.Role.CONTEXT, via_type="note", via_id=teacher)
        for teacher in change.by
        for source in sources.get(teacher, ())
    ]


def _contradictions(prepared: Prepared) -> list[Pair]:
    """A new fact's note with those of the fact whose place it took (spec §11.7)."""
    new = {
        each.note.fact.supersedes_id: each.note.id
        for each in prepared.new
        if each.note.fact is not None and each.note.fact.supersedes_id
    }
    if not new or not prepared.setting.policy.notes.links:
        return []
    old = Note.objects.filter(fact__in=new, retired_at=None).values_list("id", "fact_id")
    return [Pair(note, new[fact], Link.Kind.CONTRADICTS, REPLACED) for note, fact in old]


def _put_forward(prepared: Prepared, change: Change, now: datetime) -> None:
    """What the pipeline may not write into a note that a person corrected or pinned."""
    sources = [s for teacher in change.by for s in prepared.sources.get(teacher, ())]
    propose(
        prepared.setting.space,
        Proposal.Kind.OVERWRITE,
        ":".join(map(str, (change.note.id, change.version, *change.by)))[:100],
        change.why or "A new note describes it better",
        now,
        payload=change.values,
        row=change.note,
        turn_ids=[source.turn_id for source in sources],
    )


def _plan(prepared: Prepared, now: datetime, attempt: int) -> None:
    """Have the step `associate` see to the notes that are owed something."""
    job = prepared.setting.job
    queue.enqueue_step(
        prepared.setting.space,
        Job.Step.ASSOCIATE,
        "B",
        str(job.id),
        now + queue.backoff(1) if prepared.failure else now,
        payload={"notes": [str(note) for note in prepared.owed], "attempt": attempt},
        first_seq=job.first_seq,
        last_seq=job.last_seq,
    )
