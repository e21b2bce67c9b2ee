"""An agent's messages and tools as OpenAI's protocol has them. Pure.

A call is sent as one only together with its result right behind it, for endpoints refuse any half
of the pair alone; what lacks its other half is told in words.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from itertools import takewhile
from typing import Any

from memoryhub.engines.types import AgentMessage, AgentTool

ProtocolMessage = dict[str, Any]


def render_protocol_tool(tool: AgentTool) -> dict[str, Any]:
    about = {"name": tool.name, "description": tool.description}
    return {"type": "function", "function": about | {"parameters": dict(tool.parameters)}}


def render_protocol_messages(messages: Sequence[AgentMessage]) -> list[ProtocolMessage]:
    """In their order; calls that follow each other are those of one reply."""
    found: list[ProtocolMessage] = []
    at = 0
    while at < len(messages):
        calls = list(takewhile(_is_call, messages[at:]))
        results = list(takewhile(_is_result, messages[at + len(calls) :]))
        at += (len(calls) + len(results)) or 1
        if {call.call_id for call in calls} == {result.call_id for result in results} and calls:
            found += [_render_calls(calls), *map(_render_result, results)]
        else:
            found += map(_render_in_words, [*calls, *results] or [messages[at - 1]])
    return found


def _is_call(message: AgentMessage) -> bool:
    return message.role == "assistant" and bool(message.tool)


def _is_result(message: AgentMessage) -> bool:
    return message.role == "tool"


def _render_calls(calls: Sequence[AgentMessage]) -> ProtocolMessage:
    said = "\n".join(call.content for call in calls if call.content)
    made = [
        {
            "id": call.call_id,
            "type": "function",
            "function": {"name": call.tool, "arguments": call.arguments or "{}"},
        }
        for call in calls
    ]
    return {"role": "assistant", "content": said or None, "tool_calls": made}


def _render_result(result: AgentMessage) -> ProtocolMessage:
    return {"role": "tool", "tool_call_id": result.call_id, "content": result.content}


def _render_in_words(message: AgentMessage) -> ProtocolMessage:
    if _is_result(message):
        return {"role": "user", "content": f"[{message.tool or 'tool'}]\n{message.content}"}
    called = f"{message.tool}({message.arguments})" if message.tool else ""
    text = "\n".join(filter(None, [message.content, called]))
    return {"role": message.role, "content": text}


def flatten_messages(messages: Sequence[ProtocolMessage]) -> list[dict[str, str]]:
    """As the account of calls keeps them: words alone."""
    return [{"role": str(m["role"]), "content": "".join(_list_words(m))} for m in messages]


def _list_words(message: ProtocolMessage) -> Iterator[str]:
    yield message.get("content") or ""
    if calls := message.get("tool_calls"):
        yield json.dumps(calls, ensure_ascii=False)
