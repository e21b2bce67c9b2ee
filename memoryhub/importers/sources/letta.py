"""Letta's agent files (`.af`), of both versions, and lists of archival passages.

Of an agent file: the core blocks, and what was said. The first version is one agent with
`core_memory` and `messages`, the second has lists of `agents` and `blocks`. Neither holds the
archive: its passages come as the API lists them, as an array or in a member `passages`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.utils.translation import gettext_noop as _

from memoryhub.dialogues.messages import Message
from memoryhub.importers import fields
from memoryhub.importers.fields import ItemRefused, OpenItems, read_or_skip
from memoryhub.importers.json_stream import JsonItem
from memoryhub.importers.records import (
    BlockRecord,
    PassageRecord,
    Record,
    SessionRecord,
    SkippedRecord,
    UnknownFields,
)

PASSAGE_SECTIONS = ("passages", "archival_memory", "archival_passages")
SECTIONS = ("agents", "blocks", "core_memory", "messages", *PASSAGE_SECTIONS)
# How an agent is built is no memory.
_AGENT_FIELDS = {
    *("agent_type", "agents", "base_template_id", "blocks", "block_ids", "compaction_settings"),
    *("context_window_limit", "created_at", "description", "embedding", "embedding_chunk_size"),
    *("embedding_config", "enable_reasoner", "enable_sleeptime", "files", "files_agents"),
    *("folder_ids", "from_template", "group_ids", "groups", "hidden", "id", "identity_ids"),
    *("in_context_message_ids", "in_context_message_indices", "include_base_tool_rules"),
    *("include_base_tools", "include_default_source", "include_multi_agent_tools"),
    *("initial_message_sequence", "llm_config", "max_files_open", "max_reasoning_tokens"),
    *("max_tokens", "mcp_servers", "memory_blocks", "memory_variables"),
    *("message_buffer_autoclear", "messages", "metadata", "metadata_", "model"),
    *("model_settings", "multi_agent_group", "name", "parallel_tool_calls"),
    *("per_file_view_window_char_limit", "project", "project_id", "reasoning", "response_format"),
    *("secrets", "skills", "source_ids", "sources", "system", "tags", "template"),
    *("template_id", "timezone", "tool_exec_environment_variables", "tool_ids", "tool_rules"),
    *("tools", "updated_at", "version", "core_memory", *PASSAGE_SECTIONS),
}
_BLOCK_FIELDS = {
    *("base_template_id", "created_at", "deployment_id", "description", "entity_id", "hidden"),
    *("id", "is_template", "label", "limit", "metadata", "metadata_", "preserve_on_migration"),
    *("project_id", "read_only", "tags", "template_id", "template_name", "updated_at", "value"),
}
_PASSAGE_FIELDS = {
    *("agent_id", "archive_id", "created_at", "created_by_id", "embedding", "embedding_config"),
    *("file_id", "file_name", "id", "is_deleted", "last_updated_by_id", "metadata", "metadata_"),
    *("organization_id", "source_id", "tags", "text", "updated_at"),
}
_MACHINE_MESSAGE_TYPES = (
    *("heartbeat", "login", "system_alert", "function_response", "tool_response"),
)


@dataclass
class _AgentIndex:
    """By name and by block, what the file says of its agents."""

    names: list[str] = field(default_factory=list)
    by_block: dict[str, list[str]] = field(default_factory=dict)

    def find_block_agents(self, block_id: str) -> list[str]:
        """Whose block it is: nobody's in particular where there is one agent, or all have it."""
        mine = self.by_block.get(block_id, [])
        alone = len(self.names) < 2 or not mine or len(mine) == len(self.names)
        return [""] if alone else mine


_OWN_SECTIONS = {"agents", "agent_type", "core_memory", "blocks", *PASSAGE_SECTIONS}
_OWN_PASSAGE_FIELDS = {"archive_id", "embedding_config", "is_deleted", "file_id", "source_id"}


def recognises(item: JsonItem) -> bool:
    keys = set(fields.get_keys(item.value))
    is_passage = "text" in keys and "memory" not in keys and bool(keys & _OWN_PASSAGE_FIELDS)
    return item.section in _OWN_SECTIONS or is_passage or {"agent_type", "name"} <= keys


def read_records(items: OpenItems) -> Iterator[Record]:
    agents = _collect_agents(items)
    talk: list[Message] = []
    for item in items():
        if item.section == "messages":
            yield from read_or_skip(
                item, lambda item: _collect_message(item.value, item.where, agents, talk)
            )
        else:
            yield from read_or_skip(item, lambda item: _read_item(item, agents))
    if talk:
        name = agents.names[0] if agents.names else ""
        yield SessionRecord("messages", "", _format_session_name(name), talk, name)


def _collect_agents(items: OpenItems) -> _AgentIndex:
    """The agents' names stand behind what is theirs."""
    found = _AgentIndex()
    for item in items():
        if item.section == "name" and isinstance(item.value, str):
            found.names.append(item.value[:120])
        if item.section == "agents" and isinstance(item.value, dict):
            name = str(item.value.get("name") or "")[:120]
            found.names.append(name)
            blocks = item.value.get("block_ids")
            for block in blocks if isinstance(blocks, list) else ():
                found.by_block.setdefault(str(block), []).append(name)
    return found


def _read_item(item: JsonItem, agents: _AgentIndex) -> Iterator[Record]:
    if item.section in ("blocks", "core_memory"):
        yield from _read_block(item.where, item.value, agents)
    elif item.section == "agents":
        yield from _read_agent(item)
    elif item.section == "files":
        yield SkippedRecord(
            item.where, _("a document of the agent's, no memory"), "", _read_id(item.value)
        )
    elif item.section in PASSAGE_SECTIONS or not item.section:
        yield from _read_passage(item.where, item.value)
    elif item.section not in _AGENT_FIELDS:
        yield UnknownFields((item.section,))


def _read_id(value: object) -> str:
    return str(value.get("id") or "") if isinstance(value, dict) else ""


def _read_agent(item: JsonItem) -> Iterator[Record]:
    """An agent of the second version, with its messages in it."""
    value = fields.read_object(item.value)
    name = fields.read_short_text(value, "name", most=120)
    talk: list[Message] = []
    for at, each in enumerate(_read_list(value, "messages")):
        part = JsonItem(f"{item.where}.messages[{at}]", "", each, item.at)
        yield from read_or_skip(
            part, lambda p: _collect_message(p.value, p.where, _AgentIndex([name]), talk), "turn"
        )
    if talk:
        yield SessionRecord(f"{item.where}.messages", "", _format_session_name(name), talk, name)
    for section in PASSAGE_SECTIONS:
        for at, each in enumerate(_read_list(value, section)):
            part = JsonItem(f"{item.where}.{section}[{at}]", "", each, item.at)
            yield from read_or_skip(part, lambda p: _read_passage(p.where, p.value), "note")
    yield from fields.report_unknown_fields(value, _AGENT_FIELDS, "agents[].")


def _read_list(value: Mapping[str, Any], name: str) -> Sequence[Any]:
    found = value.get(name) or []
    if not isinstance(found, list):
        raise ItemRefused(f"{name}: no list")
    return found


def _format_session_name(agent: str) -> str:
    return f"letta {agent}".strip()


def _read_block(where: str, given: object, agents: _AgentIndex) -> Iterator[Record]:
    value = fields.read_object(given)
    label = fields.read_short_text(value, "label", most=60)
    if not label:
        raise ItemRefused(_("no label"))
    words, limit = fields.read_block_text(value.get("value")), value.get("limit")
    for agent in agents.find_block_agents(str(value.get("id") or "")):
        yield BlockRecord(
            where=where,
            subject="",
            label=label,
            value=words,
            agent=agent,
            description=fields.read_short_text(value, "description", most=10_000)[:500],
            limit=limit if isinstance(limit, int) else 0,
            read_only=value.get("read_only") is True,
        )
    yield from fields.report_unknown_fields(value, _BLOCK_FIELDS, "blocks[].")


def _read_passage(where: str, given: object) -> Iterator[Record]:
    value = fields.read_object(given)
    if value.get("is_deleted") is True:
        raise ItemRefused(_("deleted"))
    yield PassageRecord(
        where=where,
        subject="",
        id=fields.read_short_text(value, "id"),
        text=fields.read_text(value, "text"),
        at=fields.read_time(value, "created_at"),
        author=fields.read_short_text(value, "agent_id", most=120),
        tags=fields.read_text_list(value, "tags"),
    )
    yield from fields.report_unknown_fields(value, _PASSAGE_FIELDS, "passages[].")


def _collect_message(
    given: object, where: str, agents: _AgentIndex, talk: list[Message]
) -> Iterator[Record]:
    """Put what was said into `talk`; whatever else passed is skipped, with the reason.

    Ids in a file are counted anew with every export: a message is known by its words and time.
    """
    value = fields.read_object(given)
    role = fields.read_short_text(value, "role")
    if role not in ("user", "assistant"):
        raise ItemRefused(f"role {role or 'none'}: instructions and results of tools are not taken")
    at = fields.read_time(value, "created_at")
    said, machine = _extract_spoken_text(value, role)
    if machine:
        raise ItemRefused(f"{machine}: written by the machine")
    if not said.strip():
        raise ItemRefused(_("no words"))
    speaker = fields.read_short_text(value, "name", most=120)
    if role == "assistant":
        speaker = speaker or (agents.names[0] if agents.names else "")
    own_id = "" if at else where
    talk.append(fields.build_message(role, said, speaker=speaker, at=at, external_id=own_id))
    yield from ()


def _extract_spoken_text(value: Mapping[str, Any], role: str) -> tuple[str, str]:
    """(what was said, the kind of machine's message it is instead)."""
    words = _join_text_parts(value.get("content", value.get("text")))
    if role == "assistant":
        return "\n".join(part for part in (words, *_extract_sent_messages(value)) if part), ""
    packed = _parse_packed_json(words)
    if packed is None:
        return words, ""
    kind = str(packed.get("type") or "")
    return ("", kind) if kind in _MACHINE_MESSAGE_TYPES else (str(packed.get("message") or ""), "")


def _join_text_parts(content: object) -> str:
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    said = [p.get("text") for p in parts if isinstance(p, dict) and p.get("type") == "text"]
    return "\n".join(text for text in said if isinstance(text, str))


def _extract_sent_messages(value: Mapping[str, Any]) -> Iterator[str]:
    """What an agent said by its tool `send_message`."""
    calls = value.get("tool_calls")
    for call in calls if isinstance(calls, list) else ():
        function = call.get("function") if isinstance(call, dict) else None
        if isinstance(function, dict) and function.get("name") == "send_message":
            told = _parse_packed_json(function.get("arguments"))
            if told and isinstance(told.get("message"), str):
                yield told["message"]


def _parse_packed_json(text: object) -> dict[str, Any] | None:
    """The JSON object that a text is, if it is one: how older agents are told of messages."""
    if not isinstance(text, str) or not text.lstrip().startswith("{"):
        return None
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) and ("message" in found or "type" in found) else None
