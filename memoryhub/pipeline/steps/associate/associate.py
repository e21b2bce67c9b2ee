"""The step `associate`: notes that a derivation could not describe or link, asked about again.

It follows from a derivation only, never from its own evolution: nothing cascades (spec A16).
"""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID

from memoryhub.pipeline.jobs.step import JobResult, Step
from memoryhub.pipeline.models import Job, Lane
from memoryhub.pipeline.steps.associate.note_changes import (
    PreparedNotes,
    apply_changes,
    compare_notes,
    describe_notes,
    write_notes,
)
from memoryhub.pipeline.steps.context import StepContext, load_context
from notes.history.change_set import TurnEvidence, load_supports
from notes.models import Note

MAX_ROUNDS = 3  # of asking about notes that a model leaves out of its reply


@dataclass(frozen=True, slots=True)
class PendingNotes:
    at: StepContext
    notes: list[Note]
    sources: dict[UUID, list[TurnEvidence]]


class AssociateStep(Step[PendingNotes, PreparedNotes]):
    """Describe the job's notes that are pending, and link them.

    Notes that the model leaves out are asked about again in a job of their own, then left.
    """

    name = Job.Step.ASSOCIATE
    lane = Lane.PLACING

    def read(self) -> PendingNotes:
        at = load_context(self.job, self.now)
        wanted = self.job.payload.get("notes", []) if at.policy.notes.enabled else []
        rows = Note.objects.filter(space=at.space, id__in=wanted, retired_at=None)
        notes = list(rows.order_by("occurred_at", "id"))
        return PendingNotes(at, notes, load_supports("note", [note.id for note in notes]))

    def ask(self, work: PendingNotes) -> PreparedNotes:
        """A model that fails again fails the job, which is tried again with backoff."""
        changes = describe_notes(work.at, work.notes)
        apply_changes(changes)
        prepared = PreparedNotes(work.at, sources=work.sources, descriptions=changes)
        prepared = compare_notes(prepared, work.notes)
        if prepared.failure:
            raise prepared.failure
        return prepared

    def write(self, work: PendingNotes, answer: PreparedNotes) -> JobResult:
        attempt = int(self.job.payload.get("attempt", 1))
        write_notes(answer, attempt=attempt + 1 if attempt < MAX_ROUNDS else None)
        return {
            "described": len(answer.descriptions),
            "linked": len(answer.associations.pairs),
            "left": len(answer.unfinished),
        }
