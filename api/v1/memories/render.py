"""What adding answers with."""

from __future__ import annotations

from datetime import datetime
from typing import Any, NotRequired
from uuid import UUID

from typing_extensions import TypedDict

from api.rows.answers import build_row_type, extend_answer
from api.v1.jobs.views import JOBS, DecisionTarget
from memoryhub.dialogues.models import Turn
from memoryhub.pipeline.ingest.services import IngestResult
from memoryhub.pipeline.models import Job
from memoryhub.tenants.models import Space


class AddedSpace(TypedDict):
    id: UUID
    subject: str


class AddedSession(TypedDict):
    id: UUID
    name: str


class AddedTurn(TypedDict):
    """`duplicate`: delivered before, and not stored again."""

    id: UUID
    seq: int
    external_id: str
    occurred_at: datetime
    time_flag: str
    duplicate: bool


class AddedMessages(TypedDict):
    """What was stored, and the job that reads it. A repetition of what was erased since tells
    neither space nor session."""

    space: NotRequired[AddedSpace]
    session: NotRequired[AddedSession]
    turns: list[AddedTurn]
    job_id: UUID | None


class DryRunDecision(TypedDict):
    """What would become of a claim. `turns`: places among the messages."""

    text: str
    op: str
    reason: str
    target: DecisionTarget | None
    turns: list[int]


class DryRunResult(TypedDict):
    """What would become of messages. Nothing is stored."""

    dry_run: bool
    new_subject: bool
    new_turns: int
    decisions: list[DryRunDecision]


class AddBatchResult(TypedDict):
    items: list[AddedMessages]


AddResult = extend_answer(
    AddedMessages,
    "AddResult",
    "What was stored; `job` has the decisions once it has ended.",
    job=build_row_type(JOBS) | None,
)


def render_job(job: Job) -> dict[str, Any]:
    return {
        "id": str(job.id),
        "step": job.step,
        "state": job.state,
        "attempts": job.attempts,
        "error": job.error,
        "created_at": job.created_at,
        "run_after": job.run_after,
        "finished_at": job.finished_at,
        "decisions": job.result.get("decisions", []),
    }


def render_ingest(done: IngestResult) -> dict[str, Any]:
    new = {turn.id for turn in done.new}
    return {
        "space": render_space(done.space),
        "session": {"id": str(done.session.id), "name": done.session.external_id},
        "turns": [render_turn(turn) | {"duplicate": turn.id not in new} for turn in done.turns],
        "job_id": str(done.job.id) if done.job else None,
    }


def render_turn(turn: Turn) -> dict[str, Any]:
    return {
        "id": str(turn.id),
        "seq": turn.seq,
        "external_id": turn.external_id,
        "occurred_at": turn.occurred_at.isoformat(),
        "time_flag": turn.time_flag,
    }


def render_space(space: Space) -> dict[str, Any]:
    return {"id": str(space.id), "subject": space.subject}
