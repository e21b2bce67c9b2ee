"""What a session becomes in every table, as SQL: `s` the session, `m` a memory of its pattern."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from django.db import models
from django.utils import timezone
from psycopg.types.json import Jsonb

from memoryhub.dialogues.models import Session, Turn
from notes.models import Derivation, EvolutionEvent, Fact, IndexEntry, Note, Page

NOISE_COUNT = 4_096


class TableFilling(NamedTuple):
    """Rows of `model`: column by SQL expression; columns without one get the model's default."""

    model: type[models.Model]
    columns: Mapping[str, str]
    source: str


def _build_id(kind: int, place: str = "0") -> str:
    """Ids that rise in the order of coming in, as the hub's own do."""
    return (
        f"(lpad(to_hex({kind}), 8, '0') || lpad(to_hex(s.number * 1024 + {place}), 24, '0'))::uuid"
    )


_FROM_PLACED = "FROM placed s"
_FROM_MEMORIES = f"{_FROM_PLACED} JOIN made m ON m.pattern = s.pattern AND m.exchange < s.exchanges"
_SPACE_COLUMNS = {"tenant_id": "s.tenant", "space_id": "s.space"}
_OCCURRED_AT = "s.started + make_interval(mins => m.exchange * 2 + (m.what = 1)::int)"
_SESSION, _EVENT = _build_id(5), _build_id(6)
_IS_SUPERSEDED = "m.exchange %% 4 = 3"  # every fourth fact no longer holds

_SESSIONS = {
    "id": _SESSION,
    **_SPACE_COLUMNS,
    "ordinal": "s.ordinal",
    "started_at": "s.started",
    "ended_at": "s.started + interval '25 minutes'",
    "turn_count": "s.exchanges * 2",
}
_EVENTS = {
    "id": _EVENT,
    **_SPACE_COLUMNS,
    "kind": "'resolve'",
    "actor": "'local'",
    "created_at": "s.started",
}
_TURNS = {
    "id": _build_id(1, "m.place"),
    **_SPACE_COLUMNS,
    "session_id": _SESSION,
    "seq": "s.first_seq + m.exchange * 2 + m.what",
    "ordinal": "m.exchange * 2 + m.what + 1",
    "role": "CASE m.what WHEN 0 THEN 'user' ELSE 'assistant' END",
    "speaker": "CASE m.what WHEN 0 THEN 'Ana' ELSE 'Ben' END",
    "text": "m.said",
    "lang": "'en'",
    "occurred_at": _OCCURRED_AT,
    "received_at": _OCCURRED_AT,
    "content_hash": "md5(m.said)",
    "state": "'processed'",
}
_PAGES = {
    "id": _build_id(1, "m.place"),
    **_SPACE_COLUMNS,
    "session_id": _SESSION,
    "first_seq": "s.first_seq + m.exchange * 2",
    "last_seq": "s.first_seq + m.exchange * 2 + 1",
    "kind": "'exchange'",
}
_FACTS = {
    "id": _build_id(1, "m.place"),
    **_SPACE_COLUMNS,
    "lineage": _build_id(1, "m.place"),
    "owner": "'Ana'",
    "speaker": "'Ana'",
    "text": "m.said",
    "text_key": "md5(m.said)",
    "asserted_at": _OCCURRED_AT,
    "recorded_at": _OCCURRED_AT,
    "valid_from": _OCCURRED_AT,
    "valid_to": f"CASE WHEN {_IS_SUPERSEDED} THEN {_OCCURRED_AT} + interval '30 days' END",
    "status": f"CASE WHEN {_IS_SUPERSEDED} THEN 'superseded' ELSE 'active' END",
}
_NOTES = {
    "id": _build_id(1, "m.place"),
    **_SPACE_COLUMNS,
    "page_id": _build_id(1, "m.exchange * 8 + 3"),
    "content": "m.said",
    "occurred_at": _OCCURRED_AT,
    "created_at": _OCCURRED_AT,
}
_DERIVATIONS = {
    "id": _build_id(7, "m.place * 2 + turn.reply"),
    **_SPACE_COLUMNS,
    "child_type": "m.kind",
    "child_id": _build_id(1, "m.place"),
    "turn_id": _build_id(1, "m.exchange * 8 + turn.reply"),
    "event_id": _EVENT,
}
_ENTRIES = {
    "id": _build_id(8, "m.place"),
    **_SPACE_COLUMNS,
    "kind": "m.kind",
    "owner_id": _build_id(1, "m.place"),
    "model": "%(model)s",
    "embedding": "m.vector + noise.vector",
    "words": "m.words",
    "window_words": "m.window_words",
    "text_hash": "md5(m.said)",
}
# A fact is read from what was said first, a note from all of its exchange.
_READ_FROM = (
    f"{_FROM_MEMORIES} CROSS JOIN generate_series(0, 1) AS turn(reply) "
    "WHERE m.kind = 'note' OR (m.kind = 'fact' AND turn.reply = 0)"
)
_FROM_NOISE = (
    f"{_FROM_MEMORIES} JOIN noise ON noise.number = (s.number * 97 + m.place) %% {NOISE_COUNT}"
)


def _build_kind_source(kind: str) -> str:
    return f"{_FROM_MEMORIES} WHERE m.kind = '{kind}'"


FILLINGS = (
    TableFilling(Session, _SESSIONS, _FROM_PLACED),
    TableFilling(EvolutionEvent, _EVENTS, _FROM_PLACED),
    TableFilling(Turn, _TURNS, _build_kind_source("turn")),
    TableFilling(Page, _PAGES, _build_kind_source("page")),
    TableFilling(Fact, _FACTS, _build_kind_source("fact")),
    TableFilling(Note, _NOTES, _build_kind_source("note")),
    TableFilling(Derivation, _DERIVATIONS, _READ_FROM),
)
ENTRIES = TableFilling(IndexEntry, _ENTRIES, _FROM_NOISE)


def build_insert(filling: TableFilling, model: str) -> tuple[str, dict[str, object]]:
    """(INSERT … SELECT in order of coming in, its parameters). `model`: whose vectors they are."""
    columns = dict(filling.columns)
    values: dict[str, object] = {"model": model}
    for field in filling.model._meta.concrete_fields:
        column = str(field.column)
        if column not in columns:
            columns[column] = f"%({column})s"
            values[column] = _get_default(field)
    statement = (
        f"INSERT INTO {filling.model._meta.db_table} ({', '.join(columns)}) "
        f"SELECT {', '.join(columns.values())} {filling.source} ORDER BY s.number"
    )
    return statement, values


def _get_default(field: models.Field[object, object]) -> object:
    if getattr(field, "auto_now_add", False):
        return timezone.now()
    value = field.get_default()
    return Jsonb(value) if isinstance(field, models.JSONField) else value
