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
from memoryhub.importers.fields import Refused
from memoryhub.importers.records import Block, Memory, Passage, Record, Talk, Triple, Unknown
from memoryhub.importers.sources.base import Items, guarded
from memoryhub.importers.streaming import Item

# Messages held at most: what was said in turns by many subjects is put together by session.
HELD = 500
_OF_TURN = {
    *("subject", "content", "role", "speaker", "session", "timestamp", "external_id"),
    *("metadata", "agent"),
}
_OF_FACT = {
    *("subject", "fact", "id", "said_at", "timestamp", "valid_from", "valid_to", "speaker"),
    *("metadata", "pinned", "relation", "said_in"),
}
_OF_NOTE = {"subject", "note", "id", "timestamp", "author", "tags"}
_OF_BLOCK = {"subject", "block", "value", "agent", "description", "limit", "read_only"}

Key = tuple[str, str, str]


def read(items: Items) -> Iterator[Record]:
    held: dict[Key, tuple[str, list[Message]]] = {}
    for item in items():
        value = item.value if isinstance(item.value, dict) else {}
        if "content" not in value and "fact" in value:
            yield from _flushed(held)  # it may rest on them
        yield from guarded(item, lambda item: _line(item, held))
        if sum(len(messages) for _, messages in held.values()) >= HELD:
            yield from _flushed(held)
    yield from _flushed(held)


def _flushed(held: dict[Key, tuple[str, list[Message]]]) -> Iterator[Record]:
    for (subject, session, agent), (where, messages) in held.items():
        yield Talk(where, subject, session, messages, agent)
    held.clear()


def _line(item: Item, held: dict[Key, tuple[str, list[Message]]]) -> Iterator[Record]:
    value = fields.as_object(item.value)
    if "content" in value:
        known = _OF_TURN
        _said(item.where, value, held)
    elif "fact" in value:
        known = _OF_FACT
        yield _fact(item.where, value)
    elif "note" in value:
        known = _OF_NOTE
        yield _note(item.where, value)
    elif "block" in value:
        known = _OF_BLOCK
        yield _block(item.where, value)
    else:
        raise Refused(_("none of content, fact, note, block"))
    if left := fields.unknown(value, known):
        yield Unknown(left)


def _said(where: str, value: Mapping[str, Any], held: dict[Key, tuple[str, list[Message]]]) -> None:
    at = fields.time_of(value, "timestamp")
    own_id = fields.name_of(value, "external_id")
    made = fields.message(
        fields.name_of(value, "role") or "user",
        fields.text(value, "content"),
        speaker=fields.name_of(value, "speaker", most=120),
        at=at,
        # With neither, the same line would be another message the next time.
        external_id=own_id or ("" if at else where),
        metadata=fields.metadata_of(value, "metadata"),
    )
    key = (
        fields.name_of(value, "subject"),
        fields.name_of(value, "session"),
        fields.name_of(value, "agent", most=120),
    )
    held.setdefault(key, (where, []))[1].append(made)


def _fact(where: str, value: Mapping[str, Any]) -> Memory:
    relation = value.get("relation")
    since, until = fields.time_of(value, "valid_from"), fields.time_of(value, "valid_to")
    if since and until and until < since:
        raise Refused(_("valid_to: before it began"))
    return Memory(
        where=where,
        subject=fields.name_of(value, "subject"),
        id=fields.name_of(value, "id"),
        text=fields.text(value, "fact"),
        said_at=fields.time_of(value, "said_at", "timestamp"),
        valid_from=since,
        valid_to=until,
        speaker=fields.name_of(value, "speaker", most=120),
        pinned=value.get("pinned") is True,
        metadata=fields.metadata_of(value, "metadata"),
        triples=() if relation is None else (_triple(relation),),
        said_in=fields.names_of(value, "said_in"),
    )


def _triple(given: object) -> Triple:
    value = fields.as_object(given)
    ends = [fields.name_of(value, name) for name in ("source", "label", "target")]
    if not all(ends):
        raise Refused(_("relation: source, label and target"))
    return Triple(*ends)


def _note(where: str, value: Mapping[str, Any]) -> Passage:
    return Passage(
        where=where,
        subject=fields.name_of(value, "subject"),
        id=fields.name_of(value, "id"),
        text=fields.text(value, "note"),
        at=fields.time_of(value, "timestamp"),
        author=fields.name_of(value, "author", most=120),
        tags=fields.names_of(value, "tags"),
    )


def _block(where: str, value: Mapping[str, Any]) -> Block:
    words, limit = value.get("value", ""), value.get("limit", 0)
    if not isinstance(words, str):
        raise Refused(_("value: no text"))
    return Block(
        where=where,
        subject=fields.name_of(value, "subject"),
        label=fields.name_of(value, "block", most=60),
        value=fields.words(words, "value") if words.strip() else "",
        agent=fields.name_of(value, "agent", most=120),
        description=fields.name_of(value, "description", most=500),
        limit=limit if isinstance(limit, int) else 0,
        read_only=value.get("read_only") is True,
    )
