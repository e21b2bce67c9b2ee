"""What has to follow when a space has come in: it is found by its words at once, by its vectors
soon, and what was still to be read is read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from itertools import islice
from typing import Any
from uuid import UUID
from zoneinfo import ZoneInfo

from django.db.models import QuerySet
from django.utils.translation import gettext as _

from memoryhub.dialogues.models import Turn
from memoryhub.errors import Conflict, InvalidInput
from memoryhub.pipeline.ingest.services import ring_on_commit
from memoryhub.pipeline.jobs import queue
from memoryhub.pipeline.models import Job
from memoryhub.pipeline.steps.maintenance import sweep
from memoryhub.policies.services import check_prompts_known, load_effective_policy, load_layers
from memoryhub.tenants.models import Space
from notes.history import row_kinds
from notes.history.row_kinds import rebuild_entries
from notes.index import indexer
from notes.models import EvolutionEvent, IndexEntry, Note, Page

BATCH = 500
IMPORT_TRIGGER = "import"  # of the event that a space came in with
MAX_TURNS_PER_JOB = 100  # turns a job
MAX_NOTES_PER_JOB = 50  # a job


def index_words(space: Space, model: str) -> None:
    """The words that everything held is found by, beside vectors of `model` to come.

    Call inside the tenant's scope.
    """
    zone = ZoneInfo(space.timezone)
    for name, rows in _select_indexed_rows(space):
        for ids in _split_into_batches(rows.values_list("id", flat=True).iterator(BATCH), BATCH):
            entries = rebuild_entries(space, {name: ids}, zone)
            indexer.write_entries(space, model, entries, None)


def _select_indexed_rows(space: Space) -> Iterator[tuple[str, QuerySet[Any]]]:
    """By kind, the rows with entries: messages once they were read, and what is not retired."""
    read = Turn.objects.filter(space=space, state=Turn.State.PROCESSED)
    yield "turn", read.order_by("seq")
    for kind in row_kinds.list_row_kinds():
        if kind.entries is not None:
            rows = kind.model._default_manager.filter(space=space, retired_at=None)
            yield kind.name, rows.order_by("first_seq" if kind.model is Page else "id")


def _split_into_batches(ids: Iterator[UUID], size: int) -> Iterator[list[UUID]]:
    while batch := list(islice(ids, size)):
        yield batch


def check_policy(space: Space) -> None:
    """Raises Conflict for a policy in force that this hub can't follow."""
    layers = load_layers(space.tenant_id, space)
    try:
        policy = layers.policy
        if layers.own:
            check_prompts_known(policy, layers.own.overrides)
    except InvalidInput as error:
        told = {"subject": space.subject, "message": error.message}
        message = _("the policy of %(subject)s can't be followed here: %(message)s") % told
        raise Conflict(message, code="policy_unusable", field=error.field) from error


def record_import(space: Space, actor: str, now: datetime, reason: str) -> None:
    """An event that changed no row: who brought the space here, and from what."""
    EvolutionEvent.objects.create(
        tenant_id=space.tenant_id,
        space=space,
        kind=EvolutionEvent.Kind.MANUAL,
        actor=actor[:120],
        trigger=IMPORT_TRIGGER,
        reason=reason,
        policy_version=load_effective_policy(space).version,
        created_at=now,
    )


def plan_jobs(space: Space, now: datetime) -> int:
    """Jobs did not come along: what they would have done is planned anew. Returns how many
    vectors are to be made."""
    key = f"import-{now.isoformat()}"
    for first, last in _group_unread_turns(space):
        queue.enqueue_derivation(space, first, last, now)
    pending = Note.objects.filter(space=space, enrichment="pending", retired_at=None)
    ids = pending.values_list("id", flat=True).iterator(BATCH)
    for notes in _split_into_batches(ids, MAX_NOTES_PER_JOB):
        payload: dict[str, object] = {"notes": [str(note) for note in notes]}
        queue.plan_step(space, Job.Step.ASSOCIATE, f"{key}-{notes[0]}", now, payload=payload)
    waiting = IndexEntry.objects.filter(space=space, embedding=None).count()
    if waiting:
        queue.plan_step(space, Job.Step.EMBED, key, now)
    queue.plan_step(space, Job.Step.PLACE, key, now)
    sweep.plan_sweep(space, now, now)
    ring_on_commit(space.tenant_id, space.id)
    return waiting


def _group_unread_turns(space: Space) -> Sequence[tuple[int, int]]:
    """(first, last) `seq` of messages that wait, of one session each, in order."""
    rows = Turn.objects.filter(space=space, state=Turn.State.PENDING).order_by("seq")
    found: list[tuple[int, int]] = []
    session, many = None, 0
    for turn_session, seq in rows.values_list("session", "seq").iterator(BATCH):
        if turn_session == session and many < MAX_TURNS_PER_JOB:
            found[-1] = (found[-1][0], seq)
            many += 1
        else:
            found.append((seq, seq))
            session, many = turn_session, 1
    return found
