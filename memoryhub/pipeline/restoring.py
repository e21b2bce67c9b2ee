"""Undo and roll-back as services: what could not be embedded meanwhile is embedded later (I9)."""

from __future__ import annotations

from datetime import datetime

from memoryhub.models_in_use import embedder
from memoryhub.pipeline import queue
from memoryhub.pipeline.models import Job
from memoryhub.tenants.models import Space
from memoryhub.tenants.scope import tenant_scope
from notes import timeline, undoing
from notes.models import EvolutionEvent, IndexEntry


def undo(
    event: EvolutionEvent, actor: str, now: datetime, *, cascade: bool = False
) -> EvolutionEvent:
    """See `notes.undoing.undo`. Opens its own scopes. Raises Conflict."""
    made = undoing.undo(event, actor, now, cascade=cascade)
    with tenant_scope(event.tenant_id):
        plan_embedding(Space.objects.get(id=event.space_id), str(made.id), now)
    return made


def roll_back(space: Space, to: datetime, actor: str, now: datetime) -> list[EvolutionEvent]:
    """See `notes.timeline.roll_back`. Opens its own scopes. Raises Conflict."""
    made = timeline.roll_back(space, to, actor, now)
    with tenant_scope(space.tenant_id):
        plan_embedding(space, f"back-{now.isoformat()}", now)
    return made


def plan_embedding(space: Space, key: str, now: datetime) -> None:
    """Call inside the tenant's scope, after a write that may have found the embedder down."""
    waiting = IndexEntry.objects.filter(space=space, model=embedder().name, embedding=None)
    if waiting.exists():
        queue.enqueue_step(space, Job.Step.EMBED, "D", key, now)
