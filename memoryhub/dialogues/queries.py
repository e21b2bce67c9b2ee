"""Reads of dialogues. Call inside the tenant's scope."""

from __future__ import annotations

from collections.abc import Iterable
from uuid import UUID

from django.db.models import QuerySet

from memoryhub.dialogues.models import Turn


def turns_between(space_id: UUID, first_seq: int, last_seq: int) -> QuerySet[Turn]:
    rows: QuerySet[Turn] = Turn.objects.filter(space_id=space_id, seq__range=(first_seq, last_seq))
    return rows.select_related("session")


def turns_before(turn: Turn, count: int) -> list[Turn]:
    """The last `count` turns of its session before this one, oldest first."""
    said = Turn.objects.filter(session_id=turn.session_id, ordinal__lt=turn.ordinal)
    rows = said.order_by("-ordinal")[:count]
    return list(reversed(rows))


def turns_by_id(ids: Iterable[UUID]) -> dict[UUID, Turn]:
    rows: QuerySet[Turn] = Turn.objects.filter(id__in=list(ids)).select_related("session")
    return {turn.id: turn for turn in rows}


def pending_count(space_id: UUID) -> int:
    return Turn.objects.filter(space_id=space_id, state=Turn.State.PENDING).count()
