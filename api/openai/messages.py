"""The messages of a chat completion: what is asked, what is new, and where memory goes. Pure."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from memoryhub.dialogues.messages import encode_text
from memoryhub.errors import InvalidInput

ChatMessage = Mapping[str, Any]


def read_messages(body: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The messages, checked as far as the hub reads them. Raises InvalidInput naming the place."""
    given = body.get("messages")
    if not isinstance(given, list) or not given:
        raise InvalidInput("a list of at least one message", field="messages")
    for at, message in enumerate(given):
        if not isinstance(message, dict) or not isinstance(message.get("role"), str):
            raise InvalidInput("an object with a role", field=f"messages[{at}]")
    # What is handed on has to be JSON in UTF-8.
    encode_text(json.dumps(body, ensure_ascii=False), "messages")
    return given


def extract_text(message: ChatMessage) -> str:
    """The words of a message: pictures, sounds and calls of tools are none."""
    content = message.get("content")
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    texts = [part.get("text") for part in parts if isinstance(part, dict)]
    return "\n".join(text for text in texts if isinstance(text, str))


def find_question(messages: Sequence[ChatMessage]) -> str:
    """What memory is asked: the user's last words, also while tools are at work on them."""
    said = (_strip_unstorable(extract_text(m)) for m in reversed(messages) if m["role"] == "user")
    return next((text for text in said if text), "")


def _strip_unstorable(text: str) -> str:
    """Without what no text in PostgreSQL can have."""
    return text.replace("\0", "").encode(errors="ignore").decode().strip()


def select_new_messages(messages: Sequence[ChatMessage]) -> list[ChatMessage]:
    """What the user has said since the last answer: the rest was sent before.

    Nothing while the results of tools come in. An answer that the client began itself, for the
    model to go on with, is none yet.
    """
    spoken = [m for m in messages if m["role"] in ("user", "assistant", "tool", "function")]
    if spoken and spoken[-1]["role"] == "assistant":
        spoken.pop()
    found: list[ChatMessage] = []
    while spoken and spoken[-1]["role"] == "user":
        found.insert(0, spoken.pop())
    return [message for message in found if extract_text(message).strip()]


def select_new_results(messages: Sequence[ChatMessage]) -> list[ChatMessage]:
    """What tools have answered since the model called them last."""
    spoken = [m for m in messages if m["role"] in ("user", "assistant", "tool")]
    if spoken and spoken[-1]["role"] == "assistant":
        spoken.pop()
    found: list[ChatMessage] = []
    while spoken and spoken[-1]["role"] != "assistant":
        found.insert(0, spoken.pop())
    return [m for m in found if m["role"] == "tool" and isinstance(m.get("tool_call_id"), str)]


def has_earlier_answer(messages: Sequence[ChatMessage]) -> bool:
    """Whether the request carries what was said before, so that memory need not."""
    return any(message["role"] == "assistant" for message in messages)


def insert_memory(messages: Sequence[ChatMessage], block: str) -> list[ChatMessage]:
    """Memory before the user's last words, in the same message.

    It is data, so it does not stand where instructions do; and two messages of one speaker
    running are refused by the templates of many models.
    """
    places = [at for at, message in enumerate(messages) if message["role"] == "user"]
    if not block or not places:
        return list(messages)
    asked = messages[places[-1]]
    changed = {**asked, "content": _prepend_block(asked.get("content"), block)}
    return [*messages[: places[-1]], changed, *messages[places[-1] + 1 :]]


def _prepend_block(content: Any, block: str) -> Any:
    if isinstance(content, list):
        return [{"type": "text", "text": block}, *content]
    return f"{block}\n\n{content or ''}"
