"""A conversation of the chat, and how far it has been read."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from django.shortcuts import get_object_or_404

from memoryhub.dialogues.models import Session, Turn
from memoryhub.inference import usage
from memoryhub.inference.models import ModelCall
from memoryhub.pipeline.models import Job
from memoryhub.tenants.models import Space
from personas.models import BlockVersion

MAX_CONVERSATION_TURNS = 100
# Of a conversation, those whose reading is shown.
MAX_EXCHANGES = 5


def load_conversation(space: Space, name: str) -> list[Turn]:
    """The last turns of the named session, oldest first."""
    session = Session.objects.filter(space=space, external_id=name).first()
    if session is None:
        return []
    rows = Turn.objects.filter(session=session).order_by("-seq")[:MAX_CONVERSATION_TURNS]
    return list(reversed(rows))


def get_said_turn_or_404(space: Space, turn_id: UUID) -> Turn:
    """A turn that a person said in a chat, with its session."""
    return get_object_or_404(
        Turn.objects.filter(space=space, id=turn_id, role=Turn.Role.USER)
        .exclude(state=Turn.State.REDACTED)
        .select_related("session")
    )


def count_pending_turns(space: Space) -> int:
    """How many turns wait to be read."""
    count: int = Turn.objects.filter(space=space, state=Turn.State.PENDING).count()
    return count


def load_reading_jobs(space: Space, turns: Sequence[Turn]) -> list[tuple[Turn, Job | None]]:
    """The latest of these turns that a person said, newest first, each with the job that reads
    it. One statement."""
    said = [turn for turn in reversed(turns) if turn.role == Turn.Role.USER][:MAX_EXCHANGES]
    if not said:
        return []
    jobs = list(Job.objects.filter(space=space, step=Job.Step.DERIVE, last_seq__gte=said[-1].seq))
    return [
        (turn, next((job for job in jobs if job.first_seq <= turn.seq <= job.last_seq), None))
        for turn in said
    ]


def load_job_effects(job: Job) -> dict[str, Any]:
    """What reading took, and the blocks written while it was done. Two statements."""
    if job.started_at is None or job.finished_at is None:
        return {}
    written = BlockVersion.objects.filter(
        space=job.space, created_at__gte=job.started_at, created_at__lte=job.finished_at
    )
    took = job.finished_at - job.started_at
    return {
        "blocks": list(written.select_related("block")[:MAX_EXCHANGES]),
        "took": took.total_seconds() * 1000,
        "asked": usage.sum_usage(ModelCall.objects.filter(job_id=job.id)),
    }
