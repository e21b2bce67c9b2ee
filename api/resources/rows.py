"""Rows in the words of the API."""

from __future__ import annotations

from typing import Any

from api.resources.plain import plain
from memoryhub.dialogues.models import Turn
from memoryhub.pipeline.models import Job
from memoryhub.pipeline.services import Ingested
from memoryhub.tenants.models import Space


def answer_resource(answer: Any) -> dict[str, Any]:
    """A search's or a context's answer. By what a memory was found is told with the explanation."""
    shown: dict[str, Any] = plain(answer, ("found",) if answer.explain is None else ())
    return shown


def job_resource(job: Job) -> dict[str, Any]:
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


def ingested_resource(done: Ingested) -> dict[str, Any]:
    new = {turn.id for turn in done.new}
    return {
        "space": space_resource(done.space),
        "session": {"id": str(done.session.id), "name": done.session.external_id},
        "turns": [turn_resource(turn) | {"duplicate": turn.id not in new} for turn in done.turns],
        "job_id": str(done.job.id) if done.job else None,
    }


def turn_resource(turn: Turn) -> dict[str, Any]:
    return {
        "id": str(turn.id),
        "seq": turn.seq,
        "external_id": turn.external_id,
        "occurred_at": turn.occurred_at.isoformat(),
        "time_flag": turn.time_flag,
    }


def space_resource(space: Space) -> dict[str, Any]:
    return {"id": str(space.id), "subject": space.subject}
