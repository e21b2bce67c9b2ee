"""Undo and roll-back as services, and what has to follow a change that no dialogue brought.

The profile mirrors its facts again at once (I3), and what could not be embedded meanwhile is
embedded later (I9).
"""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from django.utils.translation import gettext as _

from memoryhub.errors import Conflict
from memoryhub.models_in_use import embedder_for
from memoryhub.pipeline import promoting, queue
from memoryhub.pipeline.models import Job
from memoryhub.policies.services import policy_of
from memoryhub.tenants.models import Space
from memoryhub.tenants.scope import tenant_scope
from notes import timeline, undoing
from notes.models import EvolutionEvent, IndexEntry


def undo(
    event: EvolutionEvent,
    actor: str,
    now: datetime,
    *,
    cascade: bool = False,
    reason: str = "",
) -> EvolutionEvent:
    """See `notes.undoing.undo`. Opens its own scopes. Raises Conflict."""
    refuse_mirrored(event)
    made = undoing.undo(event, actor, now, cascade=cascade, reason=reason)
    settle(made.space_id, made.tenant_id, str(made.id), now)
    return made


def refuse_mirrored(event: EvolutionEvent) -> None:
    """Raises Conflict for an event that only brought the profile in step with its facts: undone,
    it would be written again at once (I3). Going back to an earlier time takes it along."""
    if event.kind == EvolutionEvent.Kind.REFRESH and event.trigger == promoting.MIRRORING:
        raise Conflict(
            _("the profile says what its facts say: put the fact right instead"), code="mirrored"
        )


def roll_back(
    space: Space, to: datetime, actor: str, now: datetime, *, reason: str = ""
) -> list[EvolutionEvent]:
    """See `notes.timeline.roll_back`. Opens its own scopes. Raises Conflict."""
    made = timeline.roll_back(space, to, actor, now, reason=reason)
    settle(space.id, space.tenant_id, f"back-{now.isoformat()}", now)
    return made


def settle(space_id: UUID, tenant_id: UUID, key: str, now: datetime) -> None:
    """Call after claims were changed by other means than reading. Opens its own scope.

    `key` tells this change from others, so that its job is planned once.
    """
    with tenant_scope(tenant_id):
        space = Space.objects.get(id=space_id)
        promoting.follow(space, policy_of(space).policy, now)
        plan_embedding(space, key, now)


def plan_embedding(space: Space, key: str, now: datetime) -> None:
    """Call inside the tenant's scope, after a write that may have found the embedder down."""
    model = embedder_for(space).name
    waiting = IndexEntry.objects.filter(space=space, model=model, embedding=None)
    if waiting.exists():
        queue.enqueue_step(space, Job.Step.EMBED, "D", key, now)
