"""What a session becomes in every table, as SQL: `s` the session, `m` a memory of its pattern."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from django.db import models
from django.utils import timezone
from psycopg.types.json import Jsonb

from memoryhub.dialogues.models import Session, Turn
from notes.models import Derivation, EvolutionEvent, Fact, IndexEntry, Note, Page

NOISES = 4_096


class Filling(NamedTuple):
    """Rows of `model`: column by SQL expression; columns without one get the model's default."""

    model: type[models.Model]
    columns: Mapping[str, str]
    source: str


def _id(kind: int, place: str = "0") -> str:
    """Ids that rise in the order of coming in, as the hub's own do."""
    return (
        f"(lpad(to_hex({kind}), 8, '0') || lpad(to_hex(s.number * 1024 + {place}), 24, '0'))::uuid"
    )


_PLACED = "FROM placed s"
_MEMORIES = f"{_PLACED} JOIN made m ON m.pattern = s.pattern AND m.exchange < s.exchanges"
_IN_SPACE = {"tenant_id": "s.tenant", "space_id": "s.space"}
_AT = "s.started + make_interval(mins => m.exchange * 2 + (m.what = 1)::int)"
_SESSION, _EVENT = _id(5), _id(6)
_OLD = "m.exchange %% 4 = 3"  # every fourth fact no longer holds

_SESSIONS = {
    "id": _SESSION,
    **_IN_SPACE,
    "ordinal": "s.ordinal",
    "started_at": "s.started",
    "ended_at": "s.started + interval '25 minutes'",
    "turn_count": "s.exchanges * 2",
}
_EVENTS = {
    "id": _EVENT,
    **_IN_SPACE,
    "kind": "'resolve'",
    "actor": "'local'",
    "created_at": "s.started",
}
_TURNS = {
    "id": _id(1, "m.place"),
    **_IN_SPACE,
    "session_id": _SESSION,
    "seq": "s.first_seq + m.exchange * 2 + m.what",
    "ordinal": "m.exchange * 2 + m.what + 1",
    "role": "CASE m.what WHEN 0 THEN 'user' ELSE 'assistant' END",
    "speaker": "CASE m.what WHEN 0 THEN 'Ana' ELSE 'Ben' END",
    "text": "m.said",
    "lang": "'en'",
    "occurred_at": _AT,
    "received_at": _AT,
    "content_hash": "md5(m.said)",
    "state": "'processed'",
}
_PAGES = {
    "id": _id(1, "m.place"),
    **_IN_SPACE,
    "session_id": _SESSION,
    "first_seq": "s.first_seq + m.exchange * 2",
    "last_seq": "s.first_seq + m.exchange * 2 + 1",
    "kind": "'exchange'",
}
_FACTS = {
    "id": _id(1, "m.place"),
    **_IN_SPACE,
    "lineage": _id(1, "m.place"),
    "owner": "'Ana'",
    "speaker": "'Ana'",
    "text": "m.said",
    "text_key": "md5(m.said)",
    "asserted_at": _AT,
    "recorded_at": _AT,
    "valid_from": _AT,
    "valid_to": f"CASE WHEN {_OLD} THEN {_AT} + interval '30 days' END",
    "status": f"CASE WHEN {_OLD} THEN 'superseded' ELSE 'active' END",
}
_NOTES = {
    "id": _id(1, "m.place"),
    **_IN_SPACE,
    "page_id": _id(1, "m.exchange * 8 + 3"),
    "content": "m.said",
    "occurred_at": _AT,
    "created_at": _AT,
}
_DERIVATIONS = {
    "id": _id(7, "m.place * 2 + turn.reply"),
    **_IN_SPACE,
    "child_type": "m.kind",
    "child_id": _id(1, "m.place"),
    "turn_id": _id(1, "m.exchange * 8 + turn.reply"),
    "event_id": _EVENT,
}
_ENTRIES = {
    "id": _id(8, "m.place"),
    **_IN_SPACE,
    "kind": "m.kind",
    "owner_id": _id(1, "m.place"),
    "model": "%(model)s",
    "embedding": "m.vector + noise.vector",
    "words": "m.words",
    "window_words": "m.window_words",
    "text_hash": "md5(m.said)",
}
# A fact is read from what was said first, a note from all of its exchange.
_READ_FROM = (
    f"{_MEMORIES} CROSS JOIN generate_series(0, 1) AS turn(reply) "
    "WHERE m.kind = 'note' OR (m.kind = 'fact' AND turn.reply = 0)"
)
_NEAR = f"{_MEMORIES} JOIN noise ON noise.number = (s.number * 97 + m.place) %% {NOISES}"


def _of(kind: str) -> str:
    return f"{_MEMORIES} WHERE m.kind = '{kind}'"


FILLINGS = (
    Filling(Session, _SESSIONS, _PLACED),
    Filling(EvolutionEvent, _EVENTS, _PLACED),
    Filling(Turn, _TURNS, _of("turn")),
    Filling(Page, _PAGES, _of("page")),
    Filling(Fact, _FACTS, _of("fact")),
    Filling(Note, _NOTES, _of("note")),
    Filling(Derivation, _DERIVATIONS, _READ_FROM),
)
ENTRIES = Filling(IndexEntry, _ENTRIES, _NEAR)


def insert(filling: Filling, model: str) -> tuple[str, dict[str, object]]:
    """(INSERT … SELECT in order of coming in, its parameters). `model`: whose vectors they are."""
    columns = dict(filling.columns)
    values: dict[str, object] = {"model": model}
    for field in filling.model._meta.concrete_fields:
        column = str(field.column)
        if column not in columns:
            columns[column] = f"%({column})s"
            values[column] = _default(field)
    statement = (
        f"INSERT INTO {filling.model._meta.db_table} ({', '.join(columns)}) "
        f"SELECT {', '.join(columns.values())} {filling.source} ORDER BY s.number"
    )
    return statement, values


def _default(field: models.Field[object, object]) -> object:
    if getattr(field, "auto_now_add", False):
        return timezone.now()
    value = field.get_default()
    return Jsonb(value) if isinstance(field, models.JSONField) else value
