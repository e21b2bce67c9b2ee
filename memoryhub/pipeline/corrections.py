"""Undo and roll-back as services, and what has to follow a change that no dialogue brought.

The profile mirrors its facts again at once (I3), and what could not be embedded meanwhile is
embedded later (I9).
"""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from django.utils.translation import gettext as _

from memoryhub.errors import Conflict
from memoryhub.inference.selection import select_embedder
from memoryhub.pipeline.jobs import queue
from memoryhub.pipeline.models import Job
from memoryhub.pipeline.steps import promotion
from memoryhub.policies.services import load_effective_policy
from memoryhub.tenants.models import Space
from memoryhub.tenants.scope import tenant_scope
from notes.history import timeline, undo
from notes.models import EvolutionEvent, IndexEntry


def undo_event(
    event: EvolutionEvent,
    actor: str,
    now: datetime,
    *,
    cascade: bool = False,
    reason: str = "",
) -> EvolutionEvent:
    """See `notes.history.undo.undo_event`. Opens its own scopes. Raises Conflict."""
    check_not_mirrored(event)
    made = undo.undo_event(event, actor, now, cascade=cascade, reason=reason)
    refresh_after_change(made.space_id, made.tenant_id, str(made.id), now)
    return made


def check_not_mirrored(event: EvolutionEvent) -> None:
    """Raises Conflict for an event that only brought the profile in step with its facts: undone,
    it would be written again at once (I3). Going back to an earlier time takes it along."""
    if event.kind == EvolutionEvent.Kind.REFRESH and event.trigger == promotion.MIRROR_TRIGGER:
        raise Conflict(
            _("the profile says what its facts say: put the fact right instead"), code="mirrored"
        )


def roll_back_space(
    space: Space, to: datetime, actor: str, now: datetime, *, reason: str = ""
) -> list[EvolutionEvent]:
    """See `notes.history.timeline.roll_back_space`. Opens its own scopes. Raises Conflict."""
    made = timeline.roll_back_space(space, to, actor, now, reason=reason)
    refresh_after_change(space.id, space.tenant_id, f"back-{now.isoformat()}", now)
    return made


def refresh_after_change(space_id: UUID, tenant_id: UUID, key: str, now: datetime) -> None:
    """Call after claims were changed by other means than reading. Opens its own scope.

    `key` tells this change from others, so that its job is planned once.
    """
    with tenant_scope(tenant_id):
        space = Space.objects.get(id=space_id)
        promotion.refresh_profile(space, load_effective_policy(space).policy, now)
        plan_missing_embeddings(space, key, now)


def plan_missing_embeddings(space: Space, key: str, now: datetime) -> None:
    """Call inside the tenant's scope, after a write that may have found the embedder down."""
    model = select_embedder(space).name
    waiting = IndexEntry.objects.filter(space=space, model=model, embedding=None)
    if waiting.exists():
        queue.enqueue_step(space, Job.Step.EMBED, "D", key, now)
