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
from memoryhub.pipeline.embeddings import reembed
from memoryhub.pipeline.jobs import queue
from memoryhub.pipeline.models import Job
from memoryhub.pipeline.review import answer_proposals
from memoryhub.pipeline.steps import promotion
from memoryhub.pipeline.steps.associate import note_changes
from memoryhub.pipeline.steps.derive import forget_requests, resolve
from memoryhub.pipeline.steps.derive.extract import BatchDraft, draft_batch
from memoryhub.pipeline.steps.derive.read import DialogueBatch, load_batch
from memoryhub.pipeline.steps.derived import DerivedDialogue
from memoryhub.pipeline.steps.episodes import close_episode, rolling, write_digests
from memoryhub.pipeline.steps.maintenance import sweep
from memoryhub.pipeline.steps.topics import placement
from memoryhub.tenants.scope import tenant_scope
from notes.history.change_set import ChangeSet
from notes.index import indexer
from notes.models import EvolutionEvent

MAX_READS = 3  # of what changes while it is being compared (E10)


def run(job: Job, now: datetime) -> None:
    """Derive what the job's turns say. Raises EngineError, LeaseLost, StaleRead."""
    derive_batch(load_batch(job), now)


def derive_batch(
    batch: DialogueBatch,
    now: datetime,
    narrow: Callable[[DialogueBatch, BatchDraft], None] | None = None,
) -> None:
    """Read the batch and write what it says; `narrow` may take away from what was read."""
    job = batch.job
    if not batch.turns:
        with tenant_scope(job.tenant_id):
            queue.finish_job(job, {"decisions": []}, now)
        return
    made = draft_batch(batch, now)
    if narrow:
        narrow(batch, made)
    for attempt in range(1, MAX_READS + 1):
        claims = resolve.prepare_claims(
            batch.space,
            batch.policy,
            resolve.copy_drafts(made.facts),
            made.reader,
            made.embedder,
            now,
        )
        wishes = forget_requests.prepare_requests(
            batch.space, batch.policy, batch.own_words, made.reader, made.embedder
        )
        notes = note_changes.prepare_notes(
            batch, made.pages, claims.inserted_facts, made.reader, made.embedder, now
        )
        try:
            with tenant_scope(job.tenant_id):
                queue.lock_job(job)
                write_derivation(batch, made, claims, notes, wishes, now)
        except resolve.StaleRead:
            if attempt == MAX_READS:
                raise
        else:
            break
    if any(turn.speech_act == "forget" for turn in batch.turns):
        answer_proposals.grant_forget_requests(batch.space, now)


def write_derivation(
    batch: DialogueBatch,
    made: BatchDraft,
    claims: resolve.PreparedClaims,
    notes: note_changes.PreparedNotes,
    wishes: Sequence[forget_requests.ForgetRequest],
    now: datetime,
) -> None:
    """One change-set a kind of change, and the job's end, in one transaction."""
    changes = _build_change_set(
        batch, EvolutionEvent.Kind.RESOLVE, made, now, "said in the dialogue"
    )
    decided = resolve.write_claims(claims, changes, now)
    changes.save()
    note_changes.write_notes(notes, now)
    indexer.write_entries(batch.space, made.embedder.name, made.entries, made.vectors)
    Turn.objects.bulk_update(batch.turns, ["state", "speech_act", "lang"], batch_size=500)
    forget_requests.propose_erasures(batch.space, batch.policy, wishes, now)
    _finish_jobs(batch, decided, wishes, now)
    unembedded = made.vectors is None or (claims.vectors is None and claims.entries)
    if unembedded or notes.has_unembedded:
        queue.enqueue_embedding(batch.space, batch.job, now)
    reembed.start_due_migration(batch.space, now)
    built = {each.page.id: each.construction for each in made.pages}
    if batch.job.step != Job.Step.DERIVE:
        return  # nothing is new: it was read before
    derived = DerivedDialogue(batch.space, batch.policy, batch.job, batch.turns, now, built)
    for step in (placement, close_episode, promotion, rolling, write_digests, sweep):
        step.schedule(derived)


def _build_change_set(
    batch: DialogueBatch, kind: str, made: BatchDraft, now: datetime, reason: str
) -> ChangeSet:
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


def _finish_jobs(
    batch: DialogueBatch,
    decided: Sequence[resolve.DecidedDraft],
    wishes: Sequence[forget_requests.ForgetRequest],
    now: datetime,
) -> None:
    """End the job and those read along with it, each with what its own turns came to."""
    shown = [(each.draft.sources[0].turn_id, each.render_decision()) for each in decided]
    shown += [(wish.turn.id, wish.render_decision()) for wish in wishes]
    seqs = {turn.id: turn.seq for turn in batch.turns}
    whose = {turn: _find_job_for_seq(batch, seq) for turn, seq in seqs.items()}
    own: dict[UUID, list[dict[str, Any]]] = {job.id: [] for job in (batch.job, *batch.absorbed)}
    for turn_id, decision in shown:
        own[whose.get(turn_id, batch.job).id].append(decision)
    results: dict[UUID, dict[str, object]] = {job: {"decisions": d} for job, d in own.items()}
    queue.finish_absorbed_jobs(batch.job, batch.absorbed, results, now)
    queue.finish_job(batch.job, results[batch.job.id], now)


def _find_job_for_seq(batch: DialogueBatch, seq: int) -> Job:
    for job in batch.absorbed:
        if job.first_seq <= seq <= job.last_seq:
            return job
    return batch.job
