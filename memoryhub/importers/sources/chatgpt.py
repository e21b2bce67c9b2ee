"""ChatGPT's `conversations.json`: each conversation a session, of the branch shown last.

A conversation is a tree of messages (`mapping`), for a message can be edited and an answer made
anew; `current_node` is the end of the branch that is shown. Taken is what a person and the
assistant said to each other: no hidden messages, no talk with tools, no thoughts.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

from django.utils.translation import gettext_noop as _

from memoryhub.dialogues.messages import Message
from memoryhub.importers import fields
from memoryhub.importers.fields import ItemRefused, OpenItems, read_or_skip
from memoryhub.importers.json_stream import JsonItem
from memoryhub.importers.records import Record, SessionRecord, SkippedRecord, UnknownFields

SECTIONS = ("conversations",)
ASSISTANT_NAME = "ChatGPT"
_SPOKEN_ROLES = frozenset({"user", "assistant"})
_SPOKEN_CONTENT_TYPES = frozenset({"text", "multimodal_text", "code"})
_PEOPLE_AS_RECIPIENTS = frozenset({"", "all", "assistant"})
# Marks of sources in an answer, which lead nowhere outside of ChatGPT.
_SOURCE_MARKS = re.compile("\ue200[^\ue201]*\ue201|【[^】]{0,80}†[^】]{0,80}】")
_CONVERSATION_FIELDS = {
    *("async_status", "atlas_mode_enabled", "blocked_urls", "context_scopes", "conversation_id"),
    *("conversation_origin", "conversation_template_id", "create_time", "current_node"),
    *("default_model_slug", "disabled_tool_ids", "gizmo_id", "gizmo_type", "id", "is_archived"),
    *("is_do_not_remember", "is_read_only", "is_starred", "is_study_mode", "mapping"),
    *("memory_scope", "moderation_results", "owner", "pinned_time", "plugin_ids", "safe_urls"),
    *("sugar_item_id", "sugar_item_visible", "title", "update_time", "voice"),
}
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def read_records(items: OpenItems) -> Iterator[Record]:
    """In the order of their beginnings, for the file has the latest first. What was said is held
    meanwhile; the far larger rest of the file is not."""
    talks: list[SessionRecord] = []
    for item in items():
        for record in read_or_skip(item, _read_conversation, "turn"):
            if isinstance(record, SessionRecord):
                talks.append(record)
            else:
                yield record
    talks.sort(key=lambda talk: talk.messages[0].timestamp or _EPOCH)
    yield from talks


def _read_conversation(item: JsonItem) -> Iterator[Record]:
    if item.section and item.section != "conversations":
        yield UnknownFields((item.section,))
        return
    value = fields.read_object(item.value)
    name = fields.read_short_text(value, "conversation_id", "id")
    if not name:
        raise ItemRefused(_("no conversation_id"))
    mapping = value.get("mapping")
    if not isinstance(mapping, dict):
        raise ItemRefused(_("mapping: no JSON object"))
    branch = _find_branch(mapping, value.get("current_node"))
    began = fields.read_time(value, "create_time")
    heard: list[Message] = []
    for node_id, node in branch:
        part = JsonItem(f"{item.where}.mapping.{node_id[:60]}", node_id, node, item.at)
        yield from read_or_skip(
            part, lambda p: _collect_message(p.value, heard, began, p.section), "turn"
        )
    if heard:
        yield SessionRecord(item.where, "", name, heard, ASSISTANT_NAME)
    shown = dict(branch)
    left = sum(name not in shown and bool(_get_message(node)) for name, node in mapping.items())
    if left:
        reason = _("on a branch that was left")
        yield SkippedRecord(f"{item.where}.mapping", reason, "turn", count=left)
    yield from fields.report_unknown_fields(value, _CONVERSATION_FIELDS)


def _get_message(node: object) -> dict[str, Any] | None:
    found = node.get("message") if isinstance(node, dict) else None
    return found if isinstance(found, dict) else None


def _find_branch(mapping: Mapping[str, Any], last: object) -> list[tuple[str, object]]:
    """The nodes from the root to the one shown last; without it, to the newest leaf."""
    at = last if isinstance(last, str) and last in mapping else _find_newest_leaf(mapping)
    found: list[tuple[str, object]] = []
    seen: set[str] = set()
    while isinstance(at, str) and at in mapping and at not in seen:
        seen.add(at)
        found.append((at, mapping[at]))
        node = mapping[at]
        at = node.get("parent") if isinstance(node, dict) else None
    return [node for node in reversed(found) if _get_message(node[1])]


def _find_newest_leaf(mapping: Mapping[str, Any]) -> str | None:
    def get_create_time(name: str) -> float:
        at = (_get_message(mapping[name]) or {}).get("create_time")
        return float(at) if isinstance(at, (int, float)) else 0.0

    nodes = {name: node for name, node in mapping.items() if isinstance(node, dict)}
    leaves = [name for name, node in nodes.items() if not node.get("children")]
    return max(leaves, key=get_create_time, default=None)


def _collect_message(
    node: object, heard: list[Message], began: datetime | None, node_id: str
) -> Iterator[Record]:
    """Put what was said into `heard`. Raises Refused for what nobody said to anybody."""
    message = _get_message(node) or {}
    author = message.get("author")
    role = str(author.get("role") or "") if isinstance(author, dict) else ""
    if reason := _explain_refusal(message, role):
        raise ItemRefused(reason)
    said = _join_text_parts(message.get("content"))
    if not said:
        raise ItemRefused(_("no words: a picture, a recording, or nothing"))
    at = fields.read_time(message, "create_time") or (heard[-1].timestamp if heard else began)
    heard.append(
        fields.build_message(
            role,
            said,
            speaker=ASSISTANT_NAME if role == "assistant" else "",
            at=at,
            external_id=fields.read_short_text(message, "id") or node_id[: fields.LONGEST_ID],
        )
    )
    yield from ()


def _explain_refusal(message: Mapping[str, Any], role: str) -> str:
    """Why this is no part of the conversation, "" if it is."""
    metadata = message.get("metadata")
    content = message.get("content")
    kind = str(content.get("content_type") or "") if isinstance(content, dict) else "none"
    hidden = isinstance(metadata, dict) and metadata.get("is_visually_hidden_from_conversation")
    if hidden or message.get("weight") == 0:
        return _("hidden in the conversation")
    if role not in _SPOKEN_ROLES:
        return f"role {role or 'none'}: instructions and results of tools are not taken"
    if kind not in _SPOKEN_CONTENT_TYPES:
        return f"content of the kind {kind or 'none'} is not taken"
    if role == "assistant" and str(message.get("recipient") or "") not in _PEOPLE_AS_RECIPIENTS:
        return _("said to a tool")
    return ""


def _join_text_parts(content: object) -> str:
    """The text of all parts; of recordings, what was heard."""
    if not isinstance(content, dict):
        return ""
    parts = content.get("parts")
    if not isinstance(parts, list):
        parts = [content.get("text")]
    said = [part.get("text") if isinstance(part, dict) else part for part in parts]
    whole = "\n".join(part for part in said if isinstance(part, str))
    return _SOURCE_MARKS.sub("", whole).strip()
