"""What somebody says of a memory that a search showed."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from django.utils.translation import gettext as _

from memoryhub.errors import InvalidInput
from memoryhub.recall.models import RecallLog, RecallLogItem
from memoryhub.tenants.models import Space
from notes.models import Feedback
from notes.quality.feedback import get_rated_memory, set_feedback


def save_feedback(
    space: Space,
    memory: tuple[str, UUID],
    verdict: str | None,
    actor: str,
    now: datetime,
    *,
    comment: str = "",
    recall_id: UUID | None = None,
) -> Feedback | None:
    """Keep the word on `memory`, its kind and id; None takes it back.

    Call inside the tenant's scope. Raises NotFound for a memory that is not there, InvalidInput
    for a recall that did not show it.
    """
    row = get_rated_memory(space, *memory)
    if recall_id is not None:
        _check_was_shown(space, recall_id, memory)
    return set_feedback(row, verdict, actor, now, reason=comment, recall_id=recall_id)


def _check_was_shown(space: Space, recall_id: UUID, memory: tuple[str, UUID]) -> None:
    """A recall of which there is no entry, not yet or no more, is taken at its word."""
    log = RecallLog.objects.filter(id=recall_id).first()
    if log is None:
        return
    kind, row_id = memory
    shown = RecallLogItem.objects.filter(space=space, log=log, kind=kind, memory_id=row_id)
    if not shown.exists():
        raise InvalidInput(_("a recall that showed this memory"), field="recall_id")
