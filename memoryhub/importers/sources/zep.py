"""Zep and Graphiti: episodes, edges with their times, and nodes.

`{"episodes": […], "edges": […], "nodes": […]}`, or an array or JSON lines of them mixed, as the
library's models or Zep's API write them; `messages` of a thread and `facts` of a session as well.
Episodes of messages are what was said; texts and JSON are notes. An edge is a fact with its
relation, from `valid_at` to `invalid_at`, and rests on the messages of its episodes. What a node
says of itself is a note.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from django.utils.translation import gettext_noop as _

from memoryhub.dialogues.messages import Message
from memoryhub.importers import fields
from memoryhub.importers.fields import ItemRefused, OpenItems, find_item_id, read_or_skip
from memoryhub.importers.json_stream import JsonItem
from memoryhub.importers.records import (
    MemoryRecord,
    PassageRecord,
    Record,
    RelationTriple,
    SessionRecord,
    SkippedRecord,
    UnknownFields,
)

SECTIONS = ("episodes", "edges", "nodes", "messages", "entity_edges", "entity_nodes", "facts")
_KIND_OF_SECTION = {
    "episodes": "episode",
    "messages": "episode",
    "edges": "edge",
    "entity_edges": "edge",
    "facts": "edge",  # of a session, as Zep had them before it had a graph
    "nodes": "node",
    "entity_nodes": "node",
}
_OWNER_FIELDS = ("user_id", "group_id", "graph_id")
_SESSION_FIELDS = ("thread_id", "session_id", "thread_uuid")
_COMMON_FIELDS = {"uuid", "uuid_", "name", "created_at", "score", "relevance", "labels", "scope"}
_COMMON_FIELDS |= {*_OWNER_FIELDS, *_SESSION_FIELDS, "graph_uuid", "user_uuid", "project_uuid"}
_EPISODE_FIELDS = _COMMON_FIELDS | {
    *("content", "document_id", "entity_edges", "episode_metadata", "metadata", "processed"),
    *("role", "role_type", "source", "source_description", "token_count", "type", "updated_at"),
    *("valid_at", "task_id"),
}
_EDGE_FIELDS = _COMMON_FIELDS | {
    *("attributes", "episodes", "episode_uuids", "expired_at", "fact", "fact_embedding"),
    *("hyperedge_uuid", "invalid_at", "reference_time", "source_node_uuid", "target_node_uuid"),
    *("source_node_labels", "target_node_labels", "source_node_name", "target_node_name"),
    *("type", "valid_at", "rating"),
}
_NODE_FIELDS = _COMMON_FIELDS | {"attributes", "name_embedding", "summary", "type"}
_ROLES = {
    **dict.fromkeys(("user", "human", "norole", "customer"), "user"),
    **dict.fromkeys(("assistant", "ai", "bot", "agent", "chatbot"), "assistant"),
    "system": "system",
    **dict.fromkeys(("tool", "function"), "tool"),
}
_ACTOR_LINE = re.compile(r"^([^\W\d_][^:\n]{0,79}?)(?:\s*\((\w{1,20})\))?:\s+(?=\S)", re.M)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass
class _GraphIndex:
    """What edges refer to: names and types of nodes, and the messages of episodes, by uuid."""

    names: dict[str, tuple[str, str]] = field(default_factory=dict)
    messages: dict[str, list[str]] = field(default_factory=dict)


_OWN_SECTIONS = {"episodes", "edges", "nodes", "entity_edges", "entity_nodes"}
_OWN_FIELDS = {"group_id", "graph_id", "source_description", "role_type", "thread_id", "labels"}


def recognises(item: JsonItem) -> bool:
    keys = set(fields.get_keys(item.value))
    is_own = "source_node_uuid" in keys or ("uuid" in keys and bool(keys & _OWN_FIELDS))
    is_own = is_own or {"uuid", "fact"} <= keys
    return item.section in _OWN_SECTIONS or is_own


def read_records(items: OpenItems) -> Iterator[Record]:
    """What was said first, in the order of time; then the facts that rest on it."""
    graph = _GraphIndex()
    talks: dict[tuple[str, str], list[Message]] = defaultdict(list)
    for item in items():
        if _get_item_kind(item) == "node":
            _index_node(item.value, graph)
        elif _get_item_kind(item) == "episode":
            yield from read_or_skip(item, lambda item: _read_episode(item, graph, talks), "turn")
    yield from _build_sessions(talks)
    for item in items():
        kind = _get_item_kind(item)
        if kind == "edge":
            yield from read_or_skip(item, lambda item: _read_edge(item, graph), "fact")
        elif kind == "node":
            yield from read_or_skip(item, _read_node, "fact")
        elif item.section and not kind:
            yield UnknownFields((item.section,))
        elif not kind:
            reason = _("neither an episode, an edge, nor a node")
            yield SkippedRecord(item.where, reason, "", find_item_id(item.value))


def _get_item_kind(item: JsonItem) -> str:
    if item.section:
        return _KIND_OF_SECTION.get(item.section, "")
    value = item.value if isinstance(item.value, dict) else {}
    if "fact" in value:
        return "edge"
    if "content" in value:
        return "episode"
    return "node" if "name" in value and ("labels" in value or "summary" in value) else ""


def _read_uuid(value: Mapping[str, Any]) -> str:
    return fields.read_short_text(value, "uuid", "uuid_")


def _read_owner(value: Mapping[str, Any]) -> str:
    return fields.read_short_text(value, *_OWNER_FIELDS)


def _index_node(value: object, graph: _GraphIndex) -> None:
    if isinstance(value, dict) and isinstance(value.get("name"), str):
        labels = value.get("labels")
        own = [each for each in labels if each != "Entity"] if isinstance(labels, list) else []
        kind = own[0].lower()[:20] if own and isinstance(own[0], str) else ""
        graph.names[str(value.get("uuid") or value.get("uuid_"))] = (value["name"], kind)


SessionMessages = dict[tuple[str, str], list[Message]]


def _read_episode(item: JsonItem, graph: _GraphIndex, talks: SessionMessages) -> Iterator[Record]:
    value = fields.read_object(item.value)
    source = fields.read_short_text(value, "source", "type") or "message"
    if source == "fact_triple":
        raise ItemRefused(_("a triple: its edge says it"))
    uuid, owner = _read_uuid(value), _read_owner(value)
    at = fields.read_time(value, "valid_at", "created_at")
    if source in ("text", "json"):
        yield PassageRecord(
            where=item.where,
            subject=owner,
            id=uuid,
            text=fields.read_text(value, "content"),
            at=at,
            author=fields.read_short_text(value, "source_description", most=10_000)[:120],
            tags=[source],
        )
    else:
        said = _build_messages(value, uuid or item.where, at)
        session = fields.read_short_text(value, *_SESSION_FIELDS) or f"{at or _EPOCH:%Y-%m-%d}"
        talks[owner, session] += said
        graph.messages[uuid] = [message.external_id for message in said]
    yield from fields.report_unknown_fields(value, _EPISODE_FIELDS, "episodes[].")


def _build_messages(value: Mapping[str, Any], own_id: str, at: datetime | None) -> list[Message]:
    """One message, or one for every "actor: words" in it. Raises Refused."""
    content = fields.read_text(value, "content")
    given = fields.read_short_text(value, "role_type").lower()
    named = fields.read_short_text(value, "role", "name", most=200)
    if given or not _ACTOR_LINE.match(content):
        role = _ROLES.get(given or named.lower(), "user")
        speaker = "" if named.lower() in _ROLES or not given else named[:120]
        return [fields.build_message(role, content, speaker=speaker, at=at, external_id=own_id)]
    made = []
    for number, (actor, role_word, words) in enumerate(_split_actor_lines(content), 1):
        role = _ROLES.get((role_word or actor).lower(), "user")
        speaker = "" if actor.lower() in _ROLES else actor
        name = own_id if number == 1 else f"{own_id}#{number}"
        made.append(fields.build_message(role, words, speaker=speaker, at=at, external_id=name))
    return made


def _split_actor_lines(content: str) -> Iterator[tuple[str, str, str]]:
    """(actor, role in brackets, words) of each."""
    found = list(_ACTOR_LINE.finditer(content))
    ends = [match.start() for match in found[1:]] + [len(content)]
    for match, end in zip(found, ends, strict=True):
        yield match[1].strip(), match[2] or "", content[match.end() : end].strip()


def _build_sessions(talks: SessionMessages) -> Iterator[Record]:
    for messages in talks.values():
        messages.sort(key=_get_time)
    for (owner, session), messages in sorted(talks.items(), key=lambda talk: _get_time(talk[1][0])):
        yield SessionRecord(f"session {session}", owner, session, messages)


def _get_time(message: Message) -> datetime:
    return message.timestamp or _EPOCH


def _read_edge(item: JsonItem, graph: _GraphIndex) -> Iterator[Record]:
    value = fields.read_object(item.value)
    since = fields.read_time(value, "valid_at", "created_at")
    until = fields.read_time(value, "invalid_at", "expired_at")
    if since and until and until < since:
        raise ItemRefused(_("invalid_at: before it began"))
    episodes = fields.read_text_list(value, "episodes") or fields.read_text_list(
        value, "episode_uuids"
    )
    relation, triple = fields.read_short_text(value, "name"), _build_triple(value, graph)
    attributes = fields.read_metadata(value, "attributes")
    origin = {"relation": relation, "episodes": episodes[:50], "attributes": attributes}
    yield MemoryRecord(
        where=item.where,
        subject=_read_owner(value),
        id=_read_uuid(value),
        text=fields.read_text(value, "fact"),
        said_at=fields.read_time(value, "reference_time", "created_at"),
        valid_from=since,
        valid_to=until,
        origin={name: each for name, each in origin.items() if each},
        triples=(triple,) if triple else (),
        said_in=[name for each in episodes for name in graph.messages.get(each, ())],
    )
    yield from fields.report_unknown_fields(value, _EDGE_FIELDS, "edges[].")


def _build_triple(value: Mapping[str, Any], graph: _GraphIndex) -> RelationTriple | None:
    """None where the file doesn't tell the names of both ends."""
    ends = [
        graph.names.get(
            fields.read_short_text(value, f"{end}_node_uuid"),
            (fields.read_short_text(value, f"{end}_node_name"), ""),
        )
        for end in ("source", "target")
    ]
    label = fields.read_short_text(value, "name").lower()
    (source, source_type), (target, target_type) = ends
    if source and target and label:
        return RelationTriple(source[:200], label[:120], target[:200], source_type, target_type)
    return None


def _read_node(item: JsonItem) -> Iterator[Record]:
    value = fields.read_object(item.value)
    name = fields.read_short_text(value, "name", most=10_000)
    if not name:
        raise ItemRefused(_("no name"))
    yield from fields.report_unknown_fields(value, _NODE_FIELDS, "nodes[].")
    if not value.get("summary"):
        return
    labels = [each for each in fields.read_text_list(value, "labels") if each != "Entity"]
    yield PassageRecord(
        where=item.where,
        subject=_read_owner(value),
        id=_read_uuid(value),
        text=f"{name}: {fields.read_text(value, 'summary')}",
        at=fields.read_time(value, "created_at"),
        author="zep",
        tags=["entity", *labels],
    )
