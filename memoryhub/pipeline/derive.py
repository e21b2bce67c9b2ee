"""Deriving memories from turns: read, call the models, write. Nothing is open in between.

Run again after a crash, the result is the same: what an earlier run wrote, it wrote together
with the job's end (X3).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

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
    wishing,
)
from memoryhub.pipeline.drafting import Draft, draft
from memoryhub.pipeline.following import Derived
from memoryhub.pipeline.models import Job
from memoryhub.pipeline.reading import Batch, read
from memoryhub.tenants.scope import tenant_scope
from notes import indexing
from notes.models import EvolutionEvent
from notes.recording import ChangeSet

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
        wishes = wishing.prepare(
            batch.space, batch.policy, batch.own_words, made.reader, made.embedder
        )
        notes = associating.prepare(
            batch, made.pages, claims.inserted, made.reader, made.embedder, now
        )
        try:
            with tenant_scope(job.tenant_id):
                queue.hold(job)
                write(batch, made, claims, notes, wishes, now)
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
    wishes: Sequence[wishing.Wish],
    now: datetime,
) -> None:
    """One change-set a kind of change, and the job's end, in one transaction."""
    changes = _changes(batch, EvolutionEvent.Kind.RESOLVE, made, now, "said in the dialogue")
    decided = claiming.write(claims, changes, now)
    changes.save()
    associating.write(notes, now)
    indexing.write_entries(batch.space, made.embedder.name, made.entries, made.vectors)
    Turn.objects.bulk_update(batch.turns, ["state", "speech_act", "lang"], batch_size=500)
    wishing.write(batch.space, batch.policy, wishes, now)
    _finish(batch, decided, wishes, now)
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


def _finish(
    batch: Batch,
    decided: Sequence[claiming.Decided],
    wishes: Sequence[wishing.Wish],
    now: datetime,
) -> None:
    """End the job and those read along with it, each with what its own turns came to."""
    shown = [(each.draft.sources[0].turn_id, each.shown()) for each in decided]
    shown += [(wish.turn.id, wish.shown()) for wish in wishes]
    seqs = {turn.id: turn.seq for turn in batch.turns}
    whose = {turn: _job_of(batch, seq) for turn, seq in seqs.items()}
    own: dict[UUID, list[dict[str, Any]]] = {job.id: [] for job in (batch.job, *batch.absorbed)}
    for turn_id, decision in shown:
        own[whose.get(turn_id, batch.job).id].append(decision)
    results: dict[UUID, dict[str, object]] = {job: {"decisions": d} for job, d in own.items()}
    queue.end_with(batch.job, batch.absorbed, results, now)
    queue.finish(batch.job, results[batch.job.id], now)


def _job_of(batch: Batch, seq: int) -> Job:
    for job in batch.absorbed:
        if job.first_seq <= seq <= job.last_seq:
            return job
    return batch.job
