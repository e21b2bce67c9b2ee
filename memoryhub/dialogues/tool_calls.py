"""Calls of tools and their results as messages of a dialogue, and read back from its turns.

A call is in the metadata of the assistant's turn that makes it, `tool_calls`, and stands in its
text as well, so that recall finds it. A result names the call that it answers, `tool_call_id`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from memoryhub.dialogues.messages import Message
from memoryhub.dialogues.models import Turn


@dataclass(frozen=True, slots=True)
class ToolCall:
    """`arguments` is the JSON text as a model wrote it."""

    id: str
    name: str
    arguments: str = ""

    def __str__(self) -> str:
        return f"{self.name}({self.arguments})"


def build_call_message(calls: Sequence[ToolCall], text: str = "", **more: Any) -> Message:
    """The assistant's message that makes these calls. `text`: what it says or thinks beside them;
    `more`: other fields of the message."""
    metadata = more.pop("metadata", {}) | {"tool_calls": [asdict(call) for call in calls]}
    content = "\n".join(filter(None, [text, *map(str, calls)]))
    return Message("assistant", content, metadata=metadata, **more)


def build_result_message(call_id: str, text: str, **more: Any) -> Message:
    """What the tool answered to this call."""
    metadata = more.pop("metadata", {}) | {"tool_call_id": call_id}
    return Message("tool", text or "(nothing)", metadata=metadata, **more)


def list_tool_calls(turn: Turn) -> list[ToolCall]:
    """The calls that a turn makes, in the hub's own form or as OpenAI's protocol has them."""
    told = turn.metadata.get("tool_calls")
    calls = told if isinstance(told, list) else ()  # metadata are a sender's own
    return [_read_call(each) for each in calls if isinstance(each, Mapping)]


def _read_call(told: Mapping[str, Any]) -> ToolCall:
    inner = told.get("function")
    named = inner if isinstance(inner, Mapping) else told
    return ToolCall(
        str(told.get("id", "")), str(named.get("name", "")), str(named.get("arguments", ""))
    )


def get_answered_call(turn: Turn) -> str:
    """The id of the call that a tool's turn answers; "" of any other."""
    return str(turn.metadata.get("tool_call_id", "")) if turn.role == Turn.Role.TOOL else ""


def strip_calls(text: str, calls: Sequence[ToolCall]) -> str:
    """What a turn says beside its calls."""
    return text.removesuffix("\n".join(map(str, calls))).strip()
