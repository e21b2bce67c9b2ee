"""Deriving memories from turns: read, call the models, write. Nothing is open in between.

Run again after a crash, the result is the same: what an earlier run wrote, it wrote together
with the job's end (X3).
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Any

from memoryhub.dialogues.models import Turn
from memoryhub.pipeline import (
    associating,
    claiming,
    digesting,
    episodes,
    folding,
    placing,
    promoting,
    queue,
    reembedding,
    reviewing,
    sweeping,
)
from memoryhub.pipeline.drafting import Draft, draft
from memoryhub.pipeline.following import Derived
from memoryhub.pipeline.models import Job
from memoryhub.pipeline.reading import Batch, read
from memoryhub.tenants.scope import tenant_scope
from notes import indexing
from notes.models import EvolutionEvent
from notes.recording import ChangeSet
from notes.resolving import Op

MOST_READS = 3  # of what changes while it is being compared (E10)


def run(job: Job, now: datetime) -> None:
    """Derive what the job's turns say. Raises EngineError, LeaseLost, StaleRead."""
    derive(read(job), now)


def derive(
    batch: Batch, now: datetime, narrow: Callable[[Batch, Draft], None] | None = None
) -> None:
    """Read the batch and write what it says; `narrow` may take away from what was read."""
    job = batch.job
    if not batch.turns:
        with tenant_scope(job.tenant_id):
            queue.finish(job, {"decisions": []}, now)
        return
    made = draft(batch, now)
    if narrow:
        narrow(batch, made)
    for attempt in range(1, MOST_READS + 1):
        claims = claiming.prepare(
            batch.space, batch.policy, claiming.copies(made.facts), made.reader, made.embedder, now
        )
        notes = associating.prepare(
            batch, made.pages, claims.inserted, made.reader, made.embedder, now
        )
        try:
            with tenant_scope(job.tenant_id):
                queue.hold(job)
                write(batch, made, claims, notes, now)
        except claiming.StaleRead:
            if attempt == MOST_READS:
                raise
        else:
            break
    if any(turn.speech_act == "forget" for turn in batch.turns):
        reviewing.grant_wishes(batch.space, now)


def write(
    batch: Batch,
    made: Draft,
    claims: claiming.Prepared,
    notes: associating.Prepared,
    now: datetime,
) -> None:
    """One change-set a kind of change, and the job's end, in one transaction."""
    changes = _changes(batch, EvolutionEvent.Kind.RESOLVE, made, now, "said in the dialogue")
    decided = claiming.write(claims, changes, now)
    changes.save()
    associating.write(notes, now)
    indexing.write_entries(batch.space, made.embedder.name, made.entries, made.vectors)
    Turn.objects.bulk_update(batch.turns, ["state", "speech_act", "lang"], batch_size=500)
    shown = [*(each.shown() for each in decided), *_wishes(made)]
    queue.finish(batch.job, {"decisions": shown}, now)
    unembedded = made.vectors is None or (claims.vectors is None and claims.entries)
    if unembedded or notes.unembedded:
        queue.enqueue_embedding(batch.space, batch.job, now)
    reembedding.start(batch.space, now)
    built = {each.page.id: each.built for each in made.pages}
    if batch.job.step != Job.Step.DERIVE:
        return  # nothing is new: it was read before
    derived = Derived(batch.space, batch.policy, batch.job, batch.turns, now, built)
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
