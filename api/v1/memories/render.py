"""Rows in the words of the API."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import fields, is_dataclass
from datetime import datetime
from functools import cache
from typing import Any
from uuid import UUID

from memoryhub.dialogues.models import Turn
from memoryhub.pipeline.ingest.services import IngestResult
from memoryhub.pipeline.models import Job
from memoryhub.tenants.models import Space

# Dataclasses as JSON has them.


# Most of what an answer holds is none of what is looked for below: told by its type, at once.
_LEAF_TYPES = frozenset({str, int, float, bool, type(None), UUID, datetime})


def to_plain_values(value: Any, left_out: Collection[str] = ()) -> Any:
    """As `dataclasses.asdict`, but without a copy of what holds no dataclass, which takes longer
    than a search; and without the fields `left_out`, at any depth."""
    if type(value) in _LEAF_TYPES:
        return value
    if isinstance(value, Mapping):
        return {name: to_plain_values(each, left_out) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [to_plain_values(each, left_out) for each in value]
    if not is_dataclass(value) or isinstance(value, type):
        return value
    names = _list_field_names(type(value))
    return {
        name: to_plain_values(getattr(value, name), left_out)
        for name in names
        if name not in left_out
    }


@cache
def _list_field_names(kind: Any) -> tuple[str, ...]:
    return tuple(field.name for field in fields(kind))


def render_recall(answer: Any) -> dict[str, Any]:
    """A search's or a context's answer. By what a memory was found is told with the explanation."""
    shown: dict[str, Any] = to_plain_values(answer, ("found",) if answer.explain is None else ())
    return shown


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
