"""The step `associate`: notes that a derivation could not describe or link, asked about again.

It follows from a derivation only, never from its own evolution: nothing cascades (spec A16).
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from memoryhub.models_in_use import embedder_for, engine_for
from memoryhub.pipeline import queue
from memoryhub.pipeline.associating import Prepared, Setting, apply, compared, described, write
from memoryhub.pipeline.claiming import StaleRead
from memoryhub.pipeline.models import Job
from memoryhub.policies.services import policy_of
from memoryhub.tenants.models import Space, Tenant
from memoryhub.tenants.scope import tenant_scope
from notes.linking import support_of
from notes.models import Note
from notes.recording import Source

MOST_READS = 3  # of notes that change while they are being compared (E10)
MOST_ROUNDS = 3  # of asking about notes that a model leaves out of its reply


def run(job: Job, now: datetime) -> None:
    """Describe the job's notes that are pending, and link them. Raises EngineError, StaleRead.

    Notes that the model leaves out are asked about again in a job of their own, then left.
    """
    for attempt in range(1, MOST_READS + 1):
        prepared = _prepared(job)
        try:
            with tenant_scope(job.tenant_id):
                queue.hold(job)
                _write(job, prepared, now)
            return
        except StaleRead:
            if attempt == MOST_READS:
                raise


def _prepared(job: Job) -> Prepared:
    """A model that fails again fails the job, which is tried again with backoff."""
    setting, notes, sources = _read(job)
    changes = described(setting, notes)
    apply(changes)
    prepared = compared(Prepared(setting, sources=sources, described=changes), notes)
    if prepared.failure:
        raise prepared.failure
    return prepared


def _read(job: Job) -> tuple[Setting, list[Note], dict[UUID, Sequence[Source]]]:
    with tenant_scope(job.tenant_id):
        space = Space.objects.get(id=job.space_id)
        tenant = Tenant.objects.get(id=job.tenant_id)
        effective = policy_of(space)
        wanted = job.payload.get("notes", []) if effective.policy.notes.enabled else []
        rows = Note.objects.filter(space=space, id__in=wanted, retired_at=None)
        notes = list(rows.order_by("occurred_at", "id"))
        sources = support_of(note.id for note in notes)
    engine = engine_for(tenant, effective.policy)
    model = embedder_for(space)
    setting = Setting(space, effective.policy, effective.version, job, engine, model)
    return setting, notes, sources


def _write(job: Job, prepared: Prepared, now: datetime) -> None:
    attempt = int(job.payload.get("attempt", 1))
    write(prepared, now, attempt=attempt + 1 if attempt < MOST_ROUNDS else None)
    result: dict[str, object] = {
        "described": len(prepared.described),
        "linked": len(prepared.found.pairs),
        "left": len(prepared.owed),
    }
    queue.finish(job, result, now)
