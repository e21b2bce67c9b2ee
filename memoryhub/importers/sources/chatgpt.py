"""ChatGPT's `conversations.json`: each conversation a session, of the branch shown last; saved
memories and custom instructions, which stand among the hidden messages.

A conversation is a tree of messages (`mapping`), for a message can be edited and an answer made
anew; `current_node` is the end of the branch that is shown. Taken is what a person and the
assistant said to each other: no hidden messages, no talk with tools, no thoughts. Memories are told
twice: when the assistant saves one, to its tool `bio`, and as the list that it was shown.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from django.utils.translation import gettext_noop as _

from memoryhub.dialogues.messages import Message
from memoryhub.importers import fields
from memoryhub.importers.fields import ItemRefused, OpenItems, read_or_skip
from memoryhub.importers.json_stream import JsonItem
from memoryhub.importers.records import (
    BlockRecord,
    MemoryRecord,
    Record,
    SessionRecord,
    SkippedRecord,
    UnknownFields,
)

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
_MEMORY_TOOL = "bio"
# Custom instructions: the block, what it is for, where the text stands in the content of a message
# with an explanation around it, and where in its metadata without.
_INSTRUCTIONS = (
    (
        "about_user",
        "What the user tells every chat about themselves.",
        "user_profile",
        "about_user_message",
    ),
    (
        "custom_instructions",
        "How the user wants to be answered.",
        "user_instructions",
        "about_model_message",
    ),
)
_FENCED = re.compile(r"```(?:[a-z]*\n)?(.*?)```", re.S)
# ("1. [2026-05-12]. Lives in Lisbon.")
_LISTED_MEMORY = re.compile(r"^\s*\d+\.\s*(?:\[(\d{4}-\d\d-\d\d)\]\.?\s*)?(\S.*)$", re.M)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def recognises(item: JsonItem) -> bool:
    return "mapping" in fields.get_keys(item.value)


def read_records(items: OpenItems) -> Iterator[Record]:
    """In the order of their beginnings, for the file has the latest first. What was said is held
    meanwhile; the far larger rest of the file is not."""
    talks: list[SessionRecord] = []
    kept = _KeptContext()
    for item in items():
        for record in read_or_skip(item, lambda item: _read_conversation(item, kept), "turn"):
            if isinstance(record, SessionRecord):
                talks.append(record)
            else:
                yield record
    talks.sort(key=lambda talk: talk.messages[0].timestamp or _EPOCH)
    yield from talks
    yield from kept.build_records()


@dataclass
class _KeptContext:
    """What ChatGPT keeps of the user beside conversations. `saved`: by text, where and when the
    assistant saved it. `listed`: the latest list of memories, with the days it tells."""

    saved: dict[str, tuple[str, datetime | None]] = field(default_factory=dict)
    listed: dict[str, datetime | None] = field(default_factory=dict)
    listed_where: str = ""
    listed_at: datetime = _EPOCH
    blocks: dict[str, tuple[datetime, BlockRecord]] = field(default_factory=dict)

    def take(self, message: Mapping[str, Any], where: str, began: datetime | None) -> bool:
        """Whether the message is of this kind: if so, what it says is kept."""
        content = message.get("content")
        at = fields.read_time(message, "create_time") or began
        if not isinstance(content, dict):
            return False
        match content.get("content_type"):
            case "user_editable_context":
                self._take_instructions(message, content, where, at or _EPOCH)
            case "model_editable_context":
                self._take_list(str(content.get("model_set_context") or ""), where, at or _EPOCH)
            case _ if message.get("recipient") == _MEMORY_TOOL:
                for line in filter(str.strip, _join_text_parts(content).splitlines()):
                    self.saved.setdefault(fields.clean_field_text(line, "content"), (where, at))
            case _:
                return False
        return True

    def _take_instructions(
        self, message: Mapping[str, Any], content: Mapping[str, Any], where: str, at: datetime
    ) -> None:
        metadata = message.get("metadata")
        bare = metadata.get("user_context_message_data") if isinstance(metadata, dict) else None
        for label, about, wrapped_name, bare_name in _INSTRUCTIONS:
            text = bare.get(bare_name) if isinstance(bare, dict) else None
            wrapped = content.get(wrapped_name)
            if not text and isinstance(wrapped, str):
                fenced = _FENCED.search(wrapped)
                text = fenced[1] if fenced else wrapped
            known_at = self.blocks[label][0] if label in self.blocks else _EPOCH
            if isinstance(text, str) and text.strip() and at >= known_at:
                value = fields.read_block_text(text)
                block = BlockRecord(where, "", label, value, description=about)
                self.blocks[label] = at, block

    def _take_list(self, text: str, where: str, at: datetime) -> None:
        found = {
            fields.clean_field_text(words, "model_set_context"): _parse_day(day)
            for day, words in _LISTED_MEMORY.findall(text)
        }
        if found and at >= self.listed_at:
            self.listed, self.listed_where, self.listed_at = found, where, at

    def build_records(self) -> Iterator[Record]:
        for text, day in self.listed.items():
            where, at = self.saved.get(text, (self.listed_where, day))
            yield MemoryRecord(where, "", "", text, said_at=at or day)
        for text, (where, at) in self.saved.items():
            if text in self.listed:
                continue
            if self.listed and (at or _EPOCH) <= self.listed_at:
                yield SkippedRecord(where, _("no longer among the saved memories"), "fact")
            else:
                yield MemoryRecord(where, "", "", text, said_at=at)
        yield from (block for _at, block in self.blocks.values())


def _parse_day(text: str) -> datetime | None:
    try:
        return datetime.fromisoformat(text).replace(tzinfo=UTC) if text else None
    except ValueError:
        return None


def _read_conversation(item: JsonItem, kept: _KeptContext) -> Iterator[Record]:
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
        yield from read_or_skip(part, lambda p: _collect_message(p, heard, began, kept), "turn")
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
    node: JsonItem, heard: list[Message], began: datetime | None, kept: _KeptContext
) -> Iterator[Record]:
    """Put what was said into `heard`, and what is kept of the user into `kept`. Raises Refused for
    what nobody said to anybody."""
    message = _get_message(node.value) or {}
    if kept.take(message, node.where, began):
        return
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
            external_id=fields.read_short_text(message, "id") or node.section[: fields.LONGEST_ID],
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
