"""What callers and people think of memories. Kept apart: it changes no memory by itself."""

from __future__ import annotations

from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import QuerySet
from django.utils.translation import gettext

from memoryhub.dialogues.models import Turn
from memoryhub.errors import InvalidInput, NotFound
from memoryhub.tenants.models import Space, SpaceModel
from notes.models import Episode, Fact, Feedback, Note, Page

MAX_REASON_LENGTH = 2_000
# Whatever a search may show.
RATED_MODELS: dict[str, type[SpaceModel]] = {
    "fact": Fact,
    "turn": Turn,
    "note": Note,
    "page": Page,
    "episode": Episode,
}


def get_rated_memory(space: Space, kind: str, row_id: UUID) -> SpaceModel:
    """The memory a word is about. Call inside the tenant's scope. Raises NotFound."""
    row = RATED_MODELS[kind].objects.filter(space=space, id=row_id).first()
    if row is None:
        raise NotFound(gettext("There is no such memory of this subject."))
    return row


def set_feedback(
    row: SpaceModel,
    verdict: str | None,
    actor: str,
    now: datetime,
    *,
    reason: str = "",
    recall_id: UUID | None = None,
) -> Feedback | None:
    """Keep the actor's word on the memory in place of an earlier one; None takes it back.
    Call inside the tenant's scope. Raises InvalidInput."""
    about: dict[str, Any] = {
        "space_id": row.space_id,
        "row_type": row._meta.model_name,
        "row_id": row.id,
        "actor": actor,
    }
    if verdict is None:
        Feedback.objects.filter(**about).delete()
        return None
    if verdict not in Feedback.Verdict.values:
        raise InvalidInput(
            gettext("one of %(known)s") % {"known": ", ".join(Feedback.Verdict.values)},
            field="feedback",
        )
    if len(reason) > MAX_REASON_LENGTH:
        raise InvalidInput(
            gettext("at most %(limit)s characters") % {"limit": MAX_REASON_LENGTH},
            field="feedback_reason",
        )
    said = {"verdict": verdict, "reason": reason, "recall_id": recall_id, "created_at": now}
    said["tenant_id"] = row.tenant_id
    feedback, _ = Feedback.objects.update_or_create(**about, defaults=said)
    return feedback


def filter_feedback_on(row: SpaceModel) -> QuerySet[Feedback]:
    """What was said of a memory, the newest first."""
    rows: QuerySet[Feedback] = Feedback.objects.all()
    return rows.filter(space_id=row.space_id, row_type=row._meta.model_name, row_id=row.id)
