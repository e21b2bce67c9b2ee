"""Deriving memories from turns: read, call the models, write. Nothing is open in between.

Run again after a crash, the result is the same: what an earlier run wrote, it wrote together
with the job's end (X3).
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from memoryhub.pipeline import naming
from memoryhub.pipeline.embeddings import reembed
from memoryhub.pipeline.jobs import queue
from memoryhub.pipeline.jobs.step import JobResult, NothingToDo, Step
from memoryhub.pipeline.models import Job, Lane
from memoryhub.pipeline.review import answer_proposals
from memoryhub.pipeline.steps import promotion
from memoryhub.pipeline.steps.associate import note_changes
from memoryhub.pipeline.steps.context import DerivedDialogue
from memoryhub.pipeline.steps.derive import forget_requests, resolve
from memoryhub.pipeline.steps.derive.extract import (
    BatchDraft,
    build_context_sources,
    draft_batch,
)
from memoryhub.pipeline.steps.derive.name_corrections import put_names_right
from memoryhub.pipeline.steps.derive.read import DialogueBatch, load_batch
from memoryhub.pipeline.steps.episodes import close_episode, rolling, write_digests
from memoryhub.pipeline.steps.maintenance import sweep
from memoryhub.pipeline.steps.topics import placement
from memoryhub.tenants.database.prepared import update_rows
from memoryhub.tenants.scope import tenant_scope
from notes.history.change_set import ChangeSet
from notes.index import indexer
from notes.models import EvolutionEvent, Receipt


@dataclass(frozen=True, slots=True)
class PreparedDerivation:
    """What was read of the turns, compared with what is held."""

    draft: BatchDraft
    claims: resolve.PreparedClaims
    wishes: Sequence[forget_requests.ForgetRequest]
    notes: note_changes.PreparedNotes


class DeriveStep(Step[DialogueBatch, PreparedDerivation]):
    """Derive what the job's turns say.

    Where what is held changes meanwhile, only the comparison is made anew (E10): the turns and
    what was read of them stay, so that no model is asked about them twice.
    """

    name = Job.Step.DERIVE
    lane = Lane.READING

    def __init__(self, job: Job, now: datetime) -> None:
        super().__init__(job, now)
        self._batch: DialogueBatch | None = None
        self._draft: BatchDraft | None = None

    def read(self) -> DialogueBatch | NothingToDo:
        if self._batch is None:
            self._batch = self.load_batch()
        return self._batch if self._batch.turns else NothingToDo({"decisions": []})

    def load_batch(self) -> DialogueBatch:
        return load_batch(self.job)

    def draft_batch(self, batch: DialogueBatch) -> BatchDraft:
        return draft_batch(batch, self.now)

    def ask(self, batch: DialogueBatch) -> PreparedDerivation:
        if batch.space.rename_due:  # else what is held under a former name has no rival
            naming.rename_rows(batch.space, naming.ACTOR, self.now)
        if self._draft is None:
            self._draft = self.draft_batch(batch)
        made = self._draft
        drafts = put_names_right(
            batch.space,
            batch.policy,
            resolve.copy_drafts(made.facts),
            made.corrected_names,
            self.now,
        )
        claims = resolve.prepare_claims(
            batch.space,
            batch.policy,
            drafts,
            made.reader,
            made.embedder,
            self.now,
        )
        told = {each.draft.handle: each.fact for each in claims.decisions if each.fact is not None}
        wishes = forget_requests.prepare_requests(
            batch.space,
            batch.policy,
            batch.own_words,
            made.reader,
            made.embedder,
            made.find_wished_facts(told),
            claims.list_new_claims(),
        )
        notes = note_changes.prepare_notes(batch, made.pages, claims.inserted_facts, self.now)
        return PreparedDerivation(made, claims, wishes, notes)

    def write(self, batch: DialogueBatch, answer: PreparedDerivation) -> JobResult:
        """One change-set a kind of change."""
        made, now = answer.draft, self.now
        changes = ChangeSet(
            batch.space,
            EvolutionEvent.Kind.RESOLVE,
            "pipeline",
            now,
            "said in the dialogue",
            engine=made.engine,
            job_id=batch.job.id,
            trigger="derive",
            policy_version=batch.policy_version,
        )
        decided = resolve.write_claims(answer.claims, changes, now)
        for each in made.pages:
            # What was said keeps what it bears on, also where no claim was read from it.
            changes.record_support(each.page, build_context_sources(each.related, each.turns))
        changes.save()
        note_changes.write_notes(answer.notes)
        indexer.write_entries(batch.space, made.embedder.name, made.entries, made.vectors)
        update_rows(batch.turns, ["state", "speech_act", "lang"])
        forget_requests.propose_erasures(batch.space, batch.policy, answer.wishes, now)
        results = _group_decisions_by_job(batch, decided, answer.wishes)
        queue.finish_absorbed_jobs(self.job, batch.absorbed, results, now)
        return results[self.job.id]

    def plan(self, batch: DialogueBatch, answer: PreparedDerivation) -> None:
        made, claims = answer.draft, answer.claims
        unembedded = made.vectors is None or (claims.vectors is None and claims.entries)
        if unembedded or answer.notes.has_unembedded:
            due = self.now + queue.compute_backoff(1)
            queue.enqueue_embedding(batch.space, self.job, self.now, due)
        elif made.vectors is not None and len(made.vectors) < len(made.entries):
            queue.enqueue_embedding(batch.space, self.job, self.now, self.now)
        reembed.start_due_migration(batch.space, self.now)
        self.plan_steps_behind(batch, made)

    def plan_steps_behind(self, batch: DialogueBatch, made: BatchDraft) -> None:
        built = {each.page.id: each.construction for each in made.pages}
        derived = DerivedDialogue(batch.space, batch.policy, self.job, batch.turns, self.now, built)
        for step in (placement, close_episode, promotion, rolling, write_digests, sweep):
            step.schedule(derived)

    def follow_up(self, batch: DialogueBatch) -> None:
        naming.follow_dialogue(batch.space, batch.turns, self.now)
        wishes = [turn for turn in batch.turns if turn.speech_act == "forget"]
        if wishes:
            jobs = {_find_job_for_seq(batch, turn.seq).id for turn in wishes}
            self._tell_receipts(jobs, answer_proposals.grant_forget_requests(batch.space, self.now))

    def _tell_receipts(self, jobs: Collection[UUID], receipts: Sequence[Receipt]) -> None:
        """An erasure clears what jobs tell of what was said: what is left to tell is that it is
        gone, where the wish was read."""
        stored = [str(receipt.id) for receipt in receipts if receipt.counts]
        if stored:
            with tenant_scope(self.job.tenant_id):
                told = {"decisions": [], "receipts": stored}
                Job.objects.filter(id__in=jobs).update(result=told)


def _group_decisions_by_job(
    batch: DialogueBatch,
    decided: Sequence[resolve.DecidedDraft],
    wishes: Sequence[forget_requests.ForgetRequest],
) -> dict[UUID, JobResult]:
    """By the job and those read along with it, what the turns of each came to."""
    shown = [(each.draft.sources[0].turn_id, each.render_decision()) for each in decided]
    shown += [(wish.turn.id, wish.render_decision()) for wish in wishes]
    seqs = {turn.id: turn.seq for turn in batch.turns}
    whose = {turn: _find_job_for_seq(batch, seq) for turn, seq in seqs.items()}
    own: dict[UUID, list[dict[str, Any]]] = {job.id: [] for job in (batch.job, *batch.absorbed)}
    for turn_id, decision in shown:
        own[whose.get(turn_id, batch.job).id].append(decision)
    return {job: {"decisions": decisions} for job, decisions in own.items()}


def _find_job_for_seq(batch: DialogueBatch, seq: int) -> Job:
    for job in batch.absorbed:
        if job.first_seq <= seq <= job.last_seq:
            return job
    return batch.job
