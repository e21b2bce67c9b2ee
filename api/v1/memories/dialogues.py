"""What was said: sessions and turns, word for word."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from api.rows.columns import ID, NUMBER, OBJECT, TEXT, TIME, Column, Resource
from memoryhub.dialogues.models import Session, Turn
from memoryhub.tenants.models import Space
from notes.models import Derivation

SESSIONS = Resource(
    "session",
    "A conversation. `ordinal` counts the subject's from 1.",
    Session,
    {
        "id": ID,
        "name": Column("text", "external_id"),
        "ordinal": NUMBER,
        "channel": TEXT,
        "started_at": TIME,
        "ended_at": TIME,
        "turn_count": NUMBER,
    },
    order=("-ordinal", "-id"),
)


def _load_derived_rows(space: Space, row_id: UUID, shown: dict[str, Any]) -> dict[str, Any]:
    """What was derived from the turn. One query."""
    links = Derivation.objects.filter(turn=row_id).order_by("child_type", "child_id")
    rows = links.values_list("child_type", "child_id", "role").distinct()[:200]
    return {"made": [{"kind": kind, "id": row, "role": role} for kind, row, role in rows]}


TURNS = Resource(
    "turn",
    "A message as it was said. Its text never changes, except by erasure.",
    Turn,
    {
        "id": ID,
        "seq": NUMBER,
        "session_id": ID,
        "ordinal": NUMBER,
        "role": TEXT,
        "speaker": TEXT,
        "agent": TEXT,
        "text": TEXT,
        "lang": TEXT,
        "metadata": OBJECT,
        "occurred_at": TIME,
        "time_flag": TEXT,
        "received_at": TIME,
        "external_id": TEXT,
        "speech_act": TEXT,
        "state": TEXT,
    },
    order=("seq", "id"),
    load_details=_load_derived_rows,
)
