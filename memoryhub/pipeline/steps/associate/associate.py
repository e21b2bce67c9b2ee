"""The step `associate`: notes that a derivation could not describe or link, asked about again.

It follows from a derivation only, never from its own evolution: nothing cascades (spec A16).
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from memoryhub.inference.selection import select_embedder, select_engine
from memoryhub.pipeline.jobs import queue
from memoryhub.pipeline.models import Job
from memoryhub.pipeline.steps.associate.note_changes import (
    NoteContext,
    PreparedNotes,
    apply_changes,
    compare_notes,
    describe_notes,
    write_notes,
)
from memoryhub.pipeline.steps.derive.resolve import StaleRead
from memoryhub.policies.services import load_effective_policy
from memoryhub.tenants.models import Space, Tenant
from memoryhub.tenants.scope import tenant_scope
from notes.history.change_set import TurnEvidence
from notes.links.link import load_note_sources
from notes.models import Note

MAX_READS = 3  # of notes that change while they are being compared (E10)
MAX_ROUNDS = 3  # of asking about notes that a model leaves out of its reply


def run(job: Job, now: datetime) -> None:
    """Describe the job's notes that are pending, and link them. Raises EngineError, StaleRead.

    Notes that the model leaves out are asked about again in a job of their own, then left.
    """
    for attempt in range(1, MAX_READS + 1):
        prepared = _prepare_pending(job)
        try:
            with tenant_scope(job.tenant_id):
                queue.lock_job(job)
                _write_and_finish(job, prepared, now)
            return
        except StaleRead:
            if attempt == MAX_READS:
                raise


def _prepare_pending(job: Job) -> PreparedNotes:
    """A model that fails again fails the job, which is tried again with backoff."""
    setting, notes, sources = _load_pending(job)
    changes = describe_notes(setting, notes)
    apply_changes(changes)
    prepared = compare_notes(PreparedNotes(setting, sources=sources, descriptions=changes), notes)
    if prepared.failure:
        raise prepared.failure
    return prepared


def _load_pending(job: Job) -> tuple[NoteContext, list[Note], dict[UUID, Sequence[TurnEvidence]]]:
    with tenant_scope(job.tenant_id):
        space = Space.objects.get(id=job.space_id)
        tenant = Tenant.objects.get(id=job.tenant_id)
        effective = load_effective_policy(space)
        wanted = job.payload.get("notes", []) if effective.policy.notes.enabled else []
        rows = Note.objects.filter(space=space, id__in=wanted, retired_at=None)
        notes = list(rows.order_by("occurred_at", "id"))
        sources = load_note_sources(note.id for note in notes)
    engine = select_engine(tenant, effective.policy)
    model = select_embedder(space)
    setting = NoteContext(space, effective.policy, effective.version, job, engine, model)
    return setting, notes, sources


def _write_and_finish(job: Job, prepared: PreparedNotes, now: datetime) -> None:
    attempt = int(job.payload.get("attempt", 1))
    write_notes(prepared, now, attempt=attempt + 1 if attempt < MAX_ROUNDS else None)
    result: dict[str, object] = {
        "described": len(prepared.descriptions),
        "linked": len(prepared.associations.pairs),
        "left": len(prepared.unfinished),
    }
    queue.finish_job(job, result, now)
