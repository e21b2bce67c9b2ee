"""Reads of dialogues. Call inside the tenant's scope."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from datetime import datetime
from typing import NamedTuple
from uuid import UUID

from django.db import connection
from django.db.models import BooleanField, Exists, ExpressionWrapper, Q, QuerySet

from memoryhub.dialogues.models import IS_INNER, Turn
from memoryhub.tenants.models import Space


def filter_turns_between(space_id: UUID, first_seq: int, last_seq: int) -> QuerySet[Turn]:
    rows: QuerySet[Turn] = Turn.objects.filter(space_id=space_id, seq__range=(first_seq, last_seq))
    return rows.select_related("session")


# Whether a dialogue is talk with an assistant is told by so many of its turns, the latest.
LATEST_TURNS = 20


def build_assisted_condition(space: Space) -> ExpressionWrapper[Q]:
    """Whether of the space's latest turns some are an assistant's, or all people's are those of
    whom it is about: many an application sends only what its user says."""
    latest = Turn.objects.filter(space=space).order_by("-seq").values("id")[:LATEST_TURNS]
    said = Turn.objects.filter(id__in=latest)
    people = said.filter(role=Turn.Role.USER)
    others = people.exclude(speaker__in=space.called_names)
    helped = Q(Exists(said.filter(role=Turn.Role.ASSISTANT)))
    alone = Q(Exists(people)) & ~Q(Exists(others))
    return ExpressionWrapper(helped | alone, BooleanField())


def load_turns_before(turn: Turn, count: int) -> list[Turn]:
    """The last `count` turns of its session's dialogue before this one, oldest first."""
    said = Turn.objects.filter(session_id=turn.session_id, ordinal__lt=turn.ordinal)
    rows = said.exclude(IS_INNER).order_by("-ordinal")[:count]
    return list(reversed(rows))


def load_turns_elsewhere(turn: Turn, count: int) -> list[Turn]:
    """The last `count` turns of the space's other sessions before this one, oldest first."""
    said = Turn.objects.filter(space_id=turn.space_id, seq__lt=turn.seq)
    rows = said.exclude(IS_INNER).exclude(session_id=turn.session_id).order_by("-seq")[:count]
    return list(reversed(rows))


_AROUND_SQL = """
WITH ranked AS (
  SELECT id, session_id, row_number() OVER (PARTITION BY session_id ORDER BY ordinal) AS place,
         id = ANY(%(ids)s) AS is_asked
  FROM dialogues_turn
  WHERE session_id IN (SELECT session_id FROM dialogues_turn WHERE id = ANY(%(ids)s))
    AND ((state <> 'redacted' AND NOT metadata ? 'inner') OR id = ANY(%(ids)s))
)
SELECT DISTINCT near.id FROM ranked asked JOIN ranked near
  ON near.session_id = asked.session_id
  AND near.place BETWEEN asked.place - %(near)s AND asked.place + %(near)s
WHERE asked.is_asked
"""


def load_turns_around(ids: Collection[UUID], near: int) -> list[Turn]:
    """These turns and up to `near` of their sessions' on either side, session by session in order.

    What was erased and agents' own steps are passed over, unless asked for. Two statements.
    """
    if not ids:
        return []
    with connection.cursor() as cursor:
        cursor.execute(_AROUND_SQL, {"ids": list(ids), "near": near})
        found = [row for (row,) in cursor.fetchall()]
    return list(Turn.objects.filter(id__in=found).order_by("session_id", "ordinal"))


class SpokenTurn(NamedTuple):
    """A turn as evidence of something. `session`: its session's place in the space."""

    id: UUID
    session: int
    ordinal: int
    speaker: str
    text: str
    occurred_at: datetime
    external_id: str
    state: str

    @classmethod
    def from_turn(cls, turn: Turn) -> SpokenTurn:
        """Reads the session, if it is not there."""
        return cls(
            turn.id,
            turn.session.ordinal,
            turn.ordinal,
            turn.speaker,
            turn.text,
            turn.occurred_at,
            turn.external_id,
            turn.state,
        )


def load_turns_by_id(ids: Iterable[UUID]) -> dict[UUID, Turn]:
    rows: QuerySet[Turn] = Turn.objects.filter(id__in=list(ids)).select_related("session")
    return {turn.id: turn for turn in rows}
