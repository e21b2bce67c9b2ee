"""Zep and Graphiti: episodes, edges with their times, and nodes.

`{"episodes": […], "edges": […], "nodes": […]}`, or an array or JSON lines of them mixed, as the
library's models or Zep's API write them; `messages` of a thread as well. Episodes of messages are
what was said; texts and JSON are notes. An edge is a fact with its relation, from `valid_at` to
`invalid_at`, and rests on the messages of its episodes. What a node says of itself is a note.
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
from memoryhub.importers.fields import Refused
from memoryhub.importers.records import Memory, Passage, Record, Talk, Triple, Unknown
from memoryhub.importers.sources.base import Items, guarded
from memoryhub.importers.streaming import Item

SECTIONS = ("episodes", "edges", "nodes", "messages", "entity_edges", "entity_nodes")
_KIND_OF_SECTION = {
    "episodes": "episode",
    "messages": "episode",
    "edges": "edge",
    "entity_edges": "edge",
    "nodes": "node",
    "entity_nodes": "node",
}
_OWNER = ("user_id", "group_id", "graph_id")
_SESSION = ("thread_id", "session_id", "thread_uuid")
_COMMON = {"uuid", "uuid_", "name", "created_at", "score", "relevance", "labels", "scope"}
_COMMON |= {*_OWNER, *_SESSION, "graph_uuid", "user_uuid", "project_uuid"}
_OF_EPISODE = _COMMON | {
    *("content", "document_id", "entity_edges", "episode_metadata", "metadata", "processed"),
    *("role", "role_type", "source", "source_description", "token_count", "type", "updated_at"),
    *("valid_at", "task_id"),
}
_OF_EDGE = _COMMON | {
    *("attributes", "episodes", "episode_uuids", "expired_at", "fact", "fact_embedding"),
    *("hyperedge_uuid", "invalid_at", "reference_time", "source_node_uuid", "target_node_uuid"),
    *("source_node_labels", "target_node_labels", "source_node_name", "target_node_name"),
    *("type", "valid_at"),
}
_OF_NODE = _COMMON | {"attributes", "name_embedding", "summary", "type"}
_ROLES = {
    **dict.fromkeys(("user", "human", "norole", "customer"), "user"),
    **dict.fromkeys(("assistant", "ai", "bot", "agent", "chatbot"), "assistant"),
    "system": "system",
    **dict.fromkeys(("tool", "function"), "tool"),
}
_ACTOR = re.compile(r"^([^\W\d_][^:\n]{0,79}?)(?:\s*\((\w{1,20})\))?:\s+(?=\S)", re.M)
_START = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass
class _Graph:
    """What edges refer to: names and types of nodes, and the messages of episodes, by uuid."""

    names: dict[str, tuple[str, str]] = field(default_factory=dict)
    messages: dict[str, list[str]] = field(default_factory=dict)


def read(items: Items) -> Iterator[Record]:
    """What was said first, in the order of time; then the facts that rest on it."""
    graph = _Graph()
    talks: dict[tuple[str, str], list[Message]] = defaultdict(list)
    for item in items():
        if _kind(item) == "node":
            _know(item.value, graph)
        elif _kind(item) == "episode":
            yield from guarded(item, lambda item: _episode(item, graph, talks), "turn")
    yield from _talks(talks)
    for item in items():
        if _kind(item) in ("edge", "node"):
            yield from guarded(item, lambda item: _rest(item, graph), "fact")
        elif not _kind(item):
            yield from guarded(item, _strange)


def _kind(item: Item) -> str:
    if item.section:
        return _KIND_OF_SECTION.get(item.section, "")
    value = item.value if isinstance(item.value, dict) else {}
    if "fact" in value:
        return "edge"
    if "content" in value:
        return "episode"
    return "node" if "name" in value and ("labels" in value or "summary" in value) else ""


def _strange(item: Item) -> Iterator[Record]:
    if item.section:
        yield Unknown((item.section,))
        return
    raise Refused(_("neither an episode, an edge, nor a node"))


def _uuid(value: Mapping[str, Any]) -> str:
    return fields.name_of(value, "uuid", "uuid_")


def _owner(value: Mapping[str, Any]) -> str:
    return fields.name_of(value, *_OWNER)


def _know(value: object, graph: _Graph) -> None:
    if isinstance(value, dict) and isinstance(value.get("name"), str):
        labels = value.get("labels")
        own = [each for each in labels if each != "Entity"] if isinstance(labels, list) else []
        kind = own[0].lower()[:20] if own and isinstance(own[0], str) else ""
        graph.names[str(value.get("uuid") or value.get("uuid_"))] = (value["name"], kind)


Talks = dict[tuple[str, str], list[Message]]


def _episode(item: Item, graph: _Graph, talks: Talks) -> Iterator[Record]:
    value = fields.as_object(item.value)
    source = fields.name_of(value, "source", "type") or "message"
    if source == "fact_triple":
        raise Refused(_("a triple: its edge says it"))
    uuid, owner = _uuid(value), _owner(value)
    at = fields.time_of(value, "valid_at", "created_at")
    if source in ("text", "json"):
        yield Passage(
            where=item.where,
            subject=owner,
            id=uuid,
            text=fields.text(value, "content"),
            at=at,
            author=fields.name_of(value, "source_description", most=10_000)[:120],
            tags=[source],
        )
    else:
        said = _messages(value, uuid or item.where, at)
        session = fields.name_of(value, *_SESSION) or f"{at or _START:%Y-%m-%d}"
        talks[owner, session] += said
        graph.messages[uuid] = [message.external_id for message in said]
    if left := fields.unknown(value, _OF_EPISODE, "episodes[]."):
        yield Unknown(left)


def _messages(value: Mapping[str, Any], own_id: str, at: datetime | None) -> list[Message]:
    """One message, or one for every "actor: words" in it. Raises Refused."""
    content = fields.text(value, "content")
    given = fields.name_of(value, "role_type").lower()
    named = fields.name_of(value, "role", "name", most=200)
    if given or not _ACTOR.match(content):
        role = _ROLES.get(given or named.lower(), "user")
        speaker = "" if named.lower() in _ROLES or not given else named[:120]
        return [fields.message(role, content, speaker=speaker, at=at, external_id=own_id)]
    made = []
    for number, (actor, role_word, words) in enumerate(_spoken(content), 1):
        role = _ROLES.get((role_word or actor).lower(), "user")
        speaker = "" if actor.lower() in _ROLES else actor
        name = own_id if number == 1 else f"{own_id}#{number}"
        made.append(fields.message(role, words, speaker=speaker, at=at, external_id=name))
    return made


def _spoken(content: str) -> Iterator[tuple[str, str, str]]:
    """(actor, role in brackets, words) of each."""
    found = list(_ACTOR.finditer(content))
    ends = [match.start() for match in found[1:]] + [len(content)]
    for match, end in zip(found, ends, strict=True):
        yield match[1].strip(), match[2] or "", content[match.end() : end].strip()


def _talks(talks: Talks) -> Iterator[Record]:
    for (owner, session), messages in sorted(talks.items(), key=lambda talk: _began(talk[1])):
        messages.sort(key=lambda message: message.timestamp or _START)
        yield Talk(f"session {session}", owner, session, messages)


def _began(messages: list[Message]) -> datetime:
    return min(message.timestamp or _START for message in messages)


def _rest(item: Item, graph: _Graph) -> Iterator[Record]:
    yield from (_edge if _kind(item) == "edge" else _node)(item, graph)


def _edge(item: Item, graph: _Graph) -> Iterator[Record]:
    value = fields.as_object(item.value)
    since = fields.time_of(value, "valid_at", "created_at")
    until = fields.time_of(value, "invalid_at", "expired_at")
    if since and until and until < since:
        raise Refused(_("invalid_at: before it began"))
    episodes = fields.names_of(value, "episodes") or fields.names_of(value, "episode_uuids")
    relation, triple = fields.name_of(value, "name"), _triple(value, graph)
    attributes = fields.metadata_of(value, "attributes")
    origin = {"relation": relation, "episodes": episodes[:50], "attributes": attributes}
    yield Memory(
        where=item.where,
        subject=_owner(value),
        id=_uuid(value),
        text=fields.text(value, "fact"),
        said_at=fields.time_of(value, "reference_time", "created_at"),
        valid_from=since,
        valid_to=until,
        origin={name: each for name, each in origin.items() if each},
        triples=(triple,) if triple else (),
        said_in=[name for each in episodes for name in graph.messages.get(each, ())],
    )
    if left := fields.unknown(value, _OF_EDGE, "edges[]."):
        yield Unknown(left)


def _triple(value: Mapping[str, Any], graph: _Graph) -> Triple | None:
    """None where the file doesn't tell the names of both ends."""
    ends = [
        graph.names.get(
            fields.name_of(value, f"{end}_node_uuid"),
            (fields.name_of(value, f"{end}_node_name"), ""),
        )
        for end in ("source", "target")
    ]
    label = fields.name_of(value, "name").lower()
    (source, source_type), (target, target_type) = ends
    if source and target and label:
        return Triple(source[:200], label[:120], target[:200], source_type, target_type)
    return None


def _node(item: Item, graph: _Graph) -> Iterator[Record]:
    value = fields.as_object(item.value)
    name = fields.name_of(value, "name", most=10_000)
    if not name:
        raise Refused(_("no name"))
    if left := fields.unknown(value, _OF_NODE, "nodes[]."):
        yield Unknown(left)
    if not value.get("summary"):
        return
    yield Passage(
        where=item.where,
        subject=_owner(value),
        id=_uuid(value),
        text=f"{name}: {fields.text(value, 'summary')}",
        at=fields.time_of(value, "created_at"),
        author="zep",
        tags=["entity", *(each for each in fields.names_of(value, "labels") if each != "Entity")],
    )
