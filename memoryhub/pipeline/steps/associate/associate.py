"""The step `associate`: notes that a derivation could not describe or link, asked about again.

It follows from a derivation only, never from its own evolution: nothing cascades (spec A16).
"""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID

from memoryhub.inference.selection import select_embedder, select_engine
from memoryhub.pipeline.jobs.step import JobResult, Step
from memoryhub.pipeline.models import Job, Lane
from memoryhub.pipeline.steps.associate.note_changes import (
    NoteContext,
    PreparedNotes,
    apply_changes,
    compare_notes,
    describe_notes,
    write_notes,
)
from memoryhub.policies.services import EffectivePolicy, load_effective_policy
from memoryhub.tenants.models import Space, Tenant
from notes.history.change_set import TurnEvidence, load_supports
from notes.models import Note

MAX_ROUNDS = 3  # of asking about notes that a model leaves out of its reply


@dataclass(frozen=True, slots=True)
class PendingNotes:
    space: Space
    tenant: Tenant
    effective: EffectivePolicy
    notes: list[Note]
    sources: dict[UUID, list[TurnEvidence]]


class AssociateStep(Step[PendingNotes, PreparedNotes]):
    """Describe the job's notes that are pending, and link them.

    Notes that the model leaves out are asked about again in a job of their own, then left.
    """

    name = Job.Step.ASSOCIATE
    lane = Lane.PLACING

    def read(self) -> PendingNotes:
        space = Space.objects.get(id=self.job.space_id)
        tenant = Tenant.objects.get(id=self.job.tenant_id)
        effective = load_effective_policy(space)
        wanted = self.job.payload.get("notes", []) if effective.policy.notes.enabled else []
        rows = Note.objects.filter(space=space, id__in=wanted, retired_at=None)
        notes = list(rows.order_by("occurred_at", "id"))
        sources = load_supports("note", [note.id for note in notes])
        return PendingNotes(space, tenant, effective, notes, sources)

    def ask(self, work: PendingNotes) -> PreparedNotes:
        """A model that fails again fails the job, which is tried again with backoff."""
        policy = work.effective.policy
        setting = NoteContext(
            work.space,
            policy,
            work.effective.version,
            self.job,
            select_engine(work.tenant, policy),
            select_embedder(work.space),
        )
        changes = describe_notes(setting, work.notes)
        apply_changes(changes)
        prepared = PreparedNotes(setting, sources=work.sources, descriptions=changes)
        prepared = compare_notes(prepared, work.notes)
        if prepared.failure:
            raise prepared.failure
        return prepared

    def write(self, work: PendingNotes, answer: PreparedNotes) -> JobResult:
        attempt = int(self.job.payload.get("attempt", 1))
        write_notes(answer, self.now, attempt=attempt + 1 if attempt < MAX_ROUNDS else None)
        return {
            "described": len(answer.descriptions),
            "linked": len(answer.associations.pairs),
            "left": len(answer.unfinished),
        }
