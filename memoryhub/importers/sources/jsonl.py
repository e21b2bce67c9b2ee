"""JSON lines of our own: one thing a line, of whatever system can write them.

A line with `content` is a message, as `import_dialogues` reads it; with `fact` a memory, with
`note` a note, with `block` a core block of that label. docs/how-to/migrate.md has every field.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from django.utils.translation import gettext_noop as _

from memoryhub.dialogues.messages import Message
from memoryhub.importers import fields
from memoryhub.importers.fields import ItemRefused, OpenItems, read_or_skip
from memoryhub.importers.json_stream import JsonItem
from memoryhub.importers.records import (
    BlockRecord,
    MemoryRecord,
    PassageRecord,
    Record,
    RelationTriple,
    SessionRecord,
)

SECTIONS = ()
# Messages held at most: what was said in turns by many subjects is put together by session.
MOST_HELD_MESSAGES = 500
_TURN_FIELDS = {
    *("subject", "content", "role", "speaker", "session", "timestamp", "external_id"),
    *("metadata", "agent"),
}
_FACT_FIELDS = {
    *("subject", "fact", "id", "said_at", "timestamp", "valid_from", "valid_to", "speaker"),
    *("metadata", "pinned", "relation", "said_in"),
}
_NOTE_FIELDS = {"subject", "note", "id", "timestamp", "author", "tags"}
_BLOCK_FIELDS = {"subject", "block", "value", "agent", "description", "limit", "read_only"}

SessionKey = tuple[str, str, str]


def recognises(item: JsonItem) -> bool:
    keys = set(fields.get_keys(item.value))
    return "subject" in keys and bool(keys & {"content", "fact", "note", "block"})


def read_records(items: OpenItems) -> Iterator[Record]:
    held: dict[SessionKey, tuple[str, list[Message]]] = {}
    for item in items():
        value = item.value if isinstance(item.value, dict) else {}
        if "content" not in value and "fact" in value:
            yield from _flush_sessions(held)  # it may rest on them
        yield from read_or_skip(item, lambda item: _read_line(item, held))
        if sum(len(messages) for _, messages in held.values()) >= MOST_HELD_MESSAGES:
            yield from _flush_sessions(held)
    yield from _flush_sessions(held)


def _flush_sessions(held: dict[SessionKey, tuple[str, list[Message]]]) -> Iterator[Record]:
    for (subject, session, agent), (where, messages) in held.items():
        yield SessionRecord(where, subject, session, messages, agent)
    held.clear()


def _read_line(
    item: JsonItem, held: dict[SessionKey, tuple[str, list[Message]]]
) -> Iterator[Record]:
    value = fields.read_object(item.value)
    if "content" in value:
        known = _TURN_FIELDS
        _collect_message(item.where, value, held)
    elif "fact" in value:
        known = _FACT_FIELDS
        yield _read_fact(item.where, value)
    elif "note" in value:
        known = _NOTE_FIELDS
        yield _read_note(item.where, value)
    elif "block" in value:
        known = _BLOCK_FIELDS
        yield _read_block(item.where, value)
    else:
        raise ItemRefused(_("none of content, fact, note, block"))
    yield from fields.report_unknown_fields(value, known)


def _collect_message(
    where: str, value: Mapping[str, Any], held: dict[SessionKey, tuple[str, list[Message]]]
) -> None:
    at = fields.read_time(value, "timestamp")
    own_id = fields.read_short_text(value, "external_id")
    made = fields.build_message(
        fields.read_short_text(value, "role") or "user",
        fields.read_text(value, "content"),
        speaker=fields.read_short_text(value, "speaker", most=120),
        at=at,
        # With neither, the same line would be another message the next time.
        external_id=own_id or ("" if at else where),
        metadata=fields.read_metadata(value, "metadata"),
    )
    key = (
        fields.read_short_text(value, "subject"),
        fields.read_short_text(value, "session"),
        fields.read_short_text(value, "agent", most=120),
    )
    held.setdefault(key, (where, []))[1].append(made)


def _read_fact(where: str, value: Mapping[str, Any]) -> MemoryRecord:
    relation = value.get("relation")
    since, until = fields.read_time(value, "valid_from"), fields.read_time(value, "valid_to")
    if since and until and until < since:
        raise ItemRefused(_("valid_to: before it began"))
    return MemoryRecord(
        where=where,
        subject=fields.read_short_text(value, "subject"),
        id=fields.read_short_text(value, "id"),
        text=fields.read_text(value, "fact"),
        said_at=fields.read_time(value, "said_at", "timestamp"),
        valid_from=since,
        valid_to=until,
        speaker=fields.read_short_text(value, "speaker", most=120),
        pinned=value.get("pinned") is True,
        metadata=fields.read_metadata(value, "metadata"),
        triples=() if relation is None else (_read_triple(relation),),
        said_in=fields.read_text_list(value, "said_in"),
    )


def _read_triple(given: object) -> RelationTriple:
    value = fields.read_object(given)
    ends = [fields.read_short_text(value, name) for name in ("source", "label", "target")]
    if not all(ends):
        raise ItemRefused(_("relation: source, label and target"))
    return RelationTriple(*ends)


def _read_note(where: str, value: Mapping[str, Any]) -> PassageRecord:
    return PassageRecord(
        where=where,
        subject=fields.read_short_text(value, "subject"),
        id=fields.read_short_text(value, "id"),
        text=fields.read_text(value, "note"),
        at=fields.read_time(value, "timestamp"),
        author=fields.read_short_text(value, "author", most=120),
        tags=fields.read_text_list(value, "tags"),
    )


def _read_block(where: str, value: Mapping[str, Any]) -> BlockRecord:
    return BlockRecord(
        where=where,
        subject=fields.read_short_text(value, "subject"),
        label=fields.read_short_text(value, "block", most=60),
        value=fields.read_block_text(value.get("value", "")),
        agent=fields.read_short_text(value, "agent", most=120),
        description=fields.read_short_text(value, "description", most=500),
        limit=limit if isinstance(limit := value.get("limit"), int) else 0,
        read_only=value.get("read_only") is True,
    )
