"""Rows in the words of mem0's clients."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.utils import timezone

from api.mem0.categories import list_categories
from api.mem0.select import VISIBLE_COLUMNS
from memoryhub.pipeline.models import Job
from notes.facts.validity import is_fact_over
from notes.models import EvolutionEvent, Fact, Receipt, Revision

QUEUED_MESSAGE = "Memory processing has been queued for background execution"
STATUS_BY_STATE = {
    Job.State.QUEUED: "PENDING",
    Job.State.RETRY: "PENDING",
    Job.State.RUNNING: "RUNNING",
    Job.State.DONE: "SUCCEEDED",
    Job.State.DEAD: "FAILED",
    Job.State.CANCELLED: "FAILED",
}
# What a decision about a candidate is called there; what is not told of changed nothing.
EVENT_BY_DECISION = {
    "add": "ADD",
    "history": "ADD",
    "review": "ADD",
    "augment": "UPDATE",
    "supersede": "UPDATE",
    "correct": "UPDATE",
    "end": "UPDATE",
    "retract": "DELETE",
    "close": "DELETE",
    "same": "NONE",
}


def render_memory(fact: Any) -> dict[str, Any]:
    """A memory; `fact` is a row with mem0's names (`annotate_mem0_names`)."""
    return {
        "id": str(fact.lineage),
        "memory": fact.text,
        "user_id": fact.user_id,
        "agent_id": fact.agent_id,
        "app_id": fact.app_id,
        "run_id": fact.run_id,
        "session_id": fact.run_id,
        "metadata": fact.metadata,
        "categories": list_categories(fact.predicate_key, fact.metadata),
        "immutable": fact.pinned,
        "created_at": fact.asserted_at.isoformat(),
        "updated_at": fact.updated_at.isoformat(),
        "expiration_date": format_last_day(fact.valid_to),
        "structured_attributes": None,
        "replaced_by": None,
        "synthesized": False,
        "lifecycle_state": "expired" if is_fact_over(fact, timezone.now()) else "active",
    }


def format_last_day(until: datetime | None) -> str | None:
    """The day on which it still holds."""
    return (until - timedelta(microseconds=1)).date().isoformat() if until else None


def render_search_hit(fact: Any, score: float, dense: float, lexical: float) -> dict[str, Any]:
    return render_memory(fact) | {
        "score": score,
        "score_breakdown": {"semantic": dense, "bm25": lexical, "entity": 0.0},
    }


def render_decisions(job: Job, lineages: Mapping[str, UUID]) -> list[dict[str, Any]]:
    """What became of the claims of an add. `lineages`: the memory of each fact, by id."""
    made = []
    for each in job.result.get("decisions", []):
        event = EVENT_BY_DECISION.get(each["op"])
        target = each.get("target") or {}
        fact_id = each["fact_id"] or target.get("id", "")
        if event and fact_id in lineages:
            old = {"old_memory": target["text"]} if target and event != "NONE" else {}
            made.append(render_decision(lineages[fact_id], event, each["text"]) | old)
    return made


def render_decision(lineage: UUID, event: str, text: str) -> dict[str, Any]:
    return {"id": str(lineage), "event": event, "memory": text, "data": {"memory": text}}


def render_job_event(job: Job, results: Sequence[dict[str, Any]] = ()) -> dict[str, Any]:
    begun, start, end = job.created_at, job.started_at, job.finished_at
    return {
        "id": str(job.id),
        "event_type": "ADD",
        "status": STATUS_BY_STATE[Job.State(job.state)],
        "payload": {},
        "results": list(results),
        "metadata": {},
        "latency": round((end - begun).total_seconds() * 1000, 1) if end else None,
        "error": job.error or None,
        "created_at": begun.isoformat(),
        "started_at": start.isoformat() if start else None,
        "completed_at": end.isoformat() if end else None,
        "updated_at": (end or start or begun).isoformat(),
    }


def render_change_event(event: EvolutionEvent | Receipt) -> dict[str, Any]:
    """A change that was done when it was asked for."""
    times = ("created_at", "started_at", "completed_at", "updated_at")
    return {
        "id": str(event.id),
        "event_type": "DELETE" if isinstance(event, Receipt) else "UPDATE",
        "status": "SUCCEEDED",
        "payload": {},
        "results": [],
        "metadata": {},
        "latency": 0,
        "error": None,
        **dict.fromkeys(times, event.created_at.isoformat()),
    }


def render_history(
    facts: Iterable[Any], revisions: Iterable[Revision], said: Mapping[UUID, list[dict[str, str]]]
) -> list[dict[str, Any]]:
    """What a memory was, oldest first: a change of words, of metadata, its end and its return.

    `said`: the messages behind each version.
    """
    by_id = {fact.id: fact for fact in facts}
    told: list[dict[str, Any]] = []
    text: str | None = None
    for event, changed in _group_by_event(revisions):
        now_held = _find_standing_revision(changed)
        new, at = (now_held.after or {}) if now_held else {}, event.created_at.isoformat()
        words = new.get("text")
        if told and words == text and not _has_visible_change(changed):
            continue
        fact = by_id[(now_held or changed[-1]).row_id]
        told.append(
            {
                "id": str(event.id),
                "memory_id": str(fact.lineage),
                "input": said.get(fact.id, []),
                "old_memory": text,
                "new_memory": words,
                "user_id": fact.user_id,
                "event": "ADD" if text is None else "DELETE" if words is None else "UPDATE",
                "metadata": new.get("metadata") or {},
                "categories": list_categories(fact.predicate_key, fact.metadata),
                "created_at": at,
                "updated_at": at,
            }
        )
        text = words
    return told


def _group_by_event(revisions: Iterable[Revision]) -> list[tuple[EvolutionEvent, list[Revision]]]:
    grouped: dict[UUID, tuple[EvolutionEvent, list[Revision]]] = {}
    for revision in revisions:
        grouped.setdefault(revision.event_id, (revision.event, []))[1].append(revision)
    return list(grouped.values())


def _find_standing_revision(changed: list[Revision]) -> Revision | None:
    """The version that stands after an event."""
    for revision in reversed(changed):
        values = revision.after
        if values and not values["retired_at"] and values["status"] != Fact.Status.RETRACTED:
            return revision
    return None


def _has_visible_change(changed: list[Revision]) -> bool:
    """Whether something that clients know of was changed besides the words."""
    return any(
        (r.before or {}).get(name) != (r.after or {}).get(name)
        for r in changed
        for name in VISIBLE_COLUMNS
    )
