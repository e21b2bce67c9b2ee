"""Deriving memories from turns: read, call the models, write. Nothing is open in between.

Run again after a crash, the result is the same: what an earlier run wrote, it wrote together
with the job's end (X3).
"""

from __future__ import annotations

from datetime import datetime
from typing import Any
from uuid import UUID

from memoryhub.dialogues.models import Turn
from memoryhub.pipeline import (
    digesting,
    episodes,
    folding,
    placing,
    promoting,
    queue,
    sweeping,
)
from memoryhub.pipeline.drafting import Draft, FactDraft, draft
from memoryhub.pipeline.following import Derived
from memoryhub.pipeline.models import Job
from memoryhub.pipeline.reading import Batch, read
from memoryhub.tenants.scope import tenant_scope
from notes import indexing
from notes.models import EvolutionEvent, Note
from notes.recording import ChangeSet, Source
from notes.resolving import Decision, Op
from notes.services import Resolver, held_claims, key, save_relations


def run(job: Job, now: datetime) -> None:
    """Derive what the job's turns say. Raises EngineError, LeaseLost."""
    batch = read(job)
    if not batch.turns:
        with tenant_scope(job.tenant_id):
            queue.finish(job, {"decisions": []}, now)
        return
    made = draft(batch, now)
    with tenant_scope(job.tenant_id):
        queue.hold(job)
        write(batch, made, now)


def write(batch: Batch, made: Draft, now: datetime) -> None:
    """One change-set a kind of change, and the job's end, in one transaction."""
    decisions, kept = _resolve(batch, made, now)
    _note(batch, made, now)
    _index(batch, made, kept)
    Turn.objects.bulk_update(batch.turns, ["state", "speech_act", "lang"], batch_size=500)
    queue.finish(batch.job, {"decisions": [*decisions, *_wishes(made)]}, now)
    if made.vectors is None:
        queue.enqueue_embedding(batch.space, batch.job, now)
    derived = Derived(batch.space, batch.policy, batch.job, batch.turns, now)
    for step in (placing, episodes, promoting, folding, digesting, sweeping):
        step.schedule(derived)


def _changes(batch: Batch, kind: str, made: Draft, now: datetime, reason: str) -> ChangeSet:
    return ChangeSet(
        space=batch.space,
        kind=kind,
        actor="pipeline",
        at=now,
        reason=reason,
        engine=made.engine,
        job_id=batch.job.id,
        trigger="derive",
        policy_version=batch.policy_version,
    )


def _resolve(batch: Batch, made: Draft, now: datetime) -> tuple[list[dict[str, Any]], set[UUID]]:
    """(decisions in the words of the API, ids of the facts that were stored)."""
    drafts = [fact for page in made.pages for fact in page.facts]
    changes = _changes(batch, EvolutionEvent.Kind.RESOLVE, made, now, "said in the dialogue")
    resolver = Resolver(changes, held_claims(batch.space, [d.fact for d in drafts]), now)
    decided = [
        resolver.resolve(d.fact, d.sources, trusted=d.trusted, correction=d.correction)
        for d in drafts
    ]
    resolver.save()
    changes.save()
    stored = {fact.id for fact in resolver.inserted}
    save_relations(
        batch.space,
        [(d.fact, d.relations) for d in drafts if d.fact.id in stored],
        _types(made),
        made.engine,
    )
    shown = [_shown(d, decision) for d, decision in zip(drafts, decided, strict=True)]
    return shown, stored


def _types(made: Draft) -> dict[str, str]:
    return {key(e.name): e.type[:20] for page in made.pages for e in page.built.entities}


def _shown(made: FactDraft, decision: Decision[Any]) -> dict[str, Any]:
    target = decision.target
    return {
        "text": made.fact.text,
        "op": decision.op.value,
        "reason": decision.reason,
        "fact_id": str(made.fact.id if decision.inserts else target.id if target else ""),
        "target": {"id": str(target.id), "text": target.text} if target else None,
        "turns": [str(source.turn_id) for source in made.sources],
    }


def _wishes(made: Draft) -> list[dict[str, Any]]:
    """Requests to forget: shown, and left to a person to confirm (E20)."""
    return [
        {
            "text": turn.text[:500],
            "op": Op.FORGET.value,
            "reason": "asked to forget: waits for an operator",
            "fact_id": "",
            "target": None,
            "turns": [str(turn.id)],
        }
        for page in made.pages
        for turn in page.turns
        if turn.speech_act == "forget"
    ]


def _note(batch: Batch, made: Draft, now: datetime) -> None:
    changes = _changes(batch, EvolutionEvent.Kind.EVOLVE, made, now, "said in the dialogue")
    notes = [(page, page.note) for page in made.pages if page.note is not None]
    Note.objects.bulk_create([note for _, note in notes], batch_size=500)
    for page, note in notes:
        changes.created(note, [Source(turn.id) for turn in page.turns])
    changes.save()


def _index(batch: Batch, made: Draft, stored: set[UUID]) -> None:
    """Index turns, notes and those facts that were stored."""
    keep = [
        at
        for at, entry in enumerate(made.entries)
        if entry.kind != "fact" or entry.owner_id in stored
    ]
    vectors = None if made.vectors is None else made.vectors[keep]
    indexing.write_entries(batch.space, made.model, [made.entries[at] for at in keep], vectors)
