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
from memoryhub.pipeline import queue, sweeping
from memoryhub.pipeline.models import Job
from memoryhub.pipeline.remaking import entries_of
from memoryhub.pipeline.services import ring_on_commit
from memoryhub.policies.services import layers_of, policy_of, refuse_unknown_prompts
from memoryhub.tenants.models import Space
from notes import indexing, registry
from notes.models import EvolutionEvent, IndexEntry, Note, Page

BATCH = 500
TRIGGER = "import"  # of the event that a space came in with
MOST_READ = 100  # turns a job
MOST_NOTES = 50  # a job


def index(space: Space, model: str) -> None:
    """The words that everything held is found by, beside vectors of `model` to come.

    Call inside the tenant's scope.
    """
    zone = ZoneInfo(space.timezone)
    for name, rows in _searched(space):
        for ids in _batches(rows.values_list("id", flat=True).iterator(BATCH), BATCH):
            entries = entries_of(space, {name: ids}, zone)
            indexing.write_entries(space, model, entries, None)


def _searched(space: Space) -> Iterator[tuple[str, QuerySet[Any]]]:
    """By kind, the rows with entries: messages once they were read, and what is not retired."""
    read = Turn.objects.filter(space=space, state=Turn.State.PROCESSED)
    yield "turn", read.order_by("seq")
    for kind in registry.kinds():
        if kind.entries is not None:
            rows = kind.model._default_manager.filter(space=space, retired_at=None)
            yield kind.name, rows.order_by("first_seq" if kind.model is Page else "id")


def _batches(ids: Iterator[UUID], size: int) -> Iterator[list[UUID]]:
    while batch := list(islice(ids, size)):
        yield batch


def refuse_policy(space: Space) -> None:
    """Raises Conflict for a policy in force that this hub can't follow."""
    layers = layers_of(space.tenant_id, space)
    try:
        policy = layers.policy
        if layers.own:
            refuse_unknown_prompts(policy, layers.own.overrides)
    except InvalidInput as error:
        raise Conflict(
            _("the policy of %(subject)s can't be followed here: %(message)s")
            % {"subject": space.subject, "message": error.message},
            code="policy_unusable",
            field=error.field,
        ) from error


def tell(space: Space, actor: str, now: datetime, reason: str) -> None:
    """An event that changed no row: who brought the space here, and from what."""
    EvolutionEvent.objects.create(
        tenant_id=space.tenant_id,
        space=space,
        kind=EvolutionEvent.Kind.MANUAL,
        actor=actor[:120],
        trigger=TRIGGER,
        reason=reason,
        policy_version=policy_of(space).version,
        created_at=now,
    )


def plan(space: Space, now: datetime) -> int:
    """Jobs did not come along: what they would have done is planned anew. Returns how many
    vectors are to be made."""
    key = f"import-{now.isoformat()}"
    for first, last in _unread(space):
        queue.enqueue(space, first, last, now)
    pending = Note.objects.filter(space=space, enrichment="pending", retired_at=None)
    for notes in _batches(pending.values_list("id", flat=True).iterator(BATCH), MOST_NOTES):
        payload: dict[str, object] = {"notes": [str(note) for note in notes]}
        _step(space, Job.Step.ASSOCIATE, "B", f"{key}-{notes[0]}", now, payload)
    waiting = IndexEntry.objects.filter(space=space, embedding=None).count()
    if waiting:
        _step(space, Job.Step.EMBED, "D", key, now)
    _step(space, Job.Step.PLACE, "B", key, now)
    sweeping.plan(space, now, now)
    ring_on_commit(space.tenant_id, space.id)
    return waiting


def _step(
    space: Space,
    step: Job.Step,
    lane: str,
    key: str,
    now: datetime,
    payload: dict[str, object] | None = None,
) -> None:
    queue.plan_step(space, step, lane, key, now, payload=payload)


def _unread(space: Space) -> Sequence[tuple[int, int]]:
    """(first, last) `seq` of messages that wait, of one session each, in order."""
    rows = Turn.objects.filter(space=space, state=Turn.State.PENDING).order_by("seq")
    found: list[tuple[int, int]] = []
    session, many = None, 0
    for turn_session, seq in rows.values_list("session", "seq").iterator(BATCH):
        if turn_session == session and many < MOST_READ:
            found[-1] = (found[-1][0], seq)
            many += 1
        else:
            found.append((seq, seq))
            session, many = turn_session, 1
    return found
