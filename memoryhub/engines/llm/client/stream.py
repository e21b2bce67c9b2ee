"""What the model has said so far, put together from an answer or from the pieces of one. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

_CALL_PARTS = ("name", "arguments")


@dataclass(slots=True)
class AccumulatedAnswer:
    """The first choice's words, and the tools that it calls: each by its `id`, `name` and
    `arguments`. `usage`: (prompt, completion) tokens, where the endpoint counts."""

    parts: list[str] = field(default_factory=list)
    calls: list[dict[str, str]] = field(default_factory=list)
    usage: tuple[int, int] | None = None
    finished: bool = False

    @property
    def text(self) -> str:
        return "".join(self.parts)

    def add_chunk(self, answer: Mapping[str, Any]) -> None:
        """A whole answer, or one chunk. What is not as the protocol has it says nothing."""
        self.usage = _parse_usage(answer.get("usage")) or self.usage
        for choice in list_choices(answer):
            if choice.get("index", 0) == 0:
                self._add_choice(choice)

    def _add_choice(self, choice: Mapping[str, Any]) -> None:
        said = choice.get("delta") or choice.get("message")
        content = said.get("content") if isinstance(said, dict) else None
        if isinstance(content, str):
            self.parts.append(content)
        called = said.get("tool_calls") if isinstance(said, dict) else None
        for at, call in enumerate(called if isinstance(called, list) else []):
            self._add_call(at, call)
        self.finished = self.finished or bool(choice.get("finish_reason"))

    def _add_call(self, at: int, call: Any) -> None:
        """A call, or a piece of the one with its index: what comes later goes behind."""
        told = call.get("function") if isinstance(call, dict) else None
        if not isinstance(told, dict):
            return
        place = call.get("index", at)
        if not isinstance(place, int) or not 0 <= place <= len(self.calls):
            return
        if place == len(self.calls):
            self.calls.append({"id": "", "name": "", "arguments": ""})
        held = self.calls[place]
        for name, piece in (("id", call.get("id")), *((n, told.get(n)) for n in _CALL_PARTS)):
            held[name] += piece if isinstance(piece, str) else ""


def estimate_usage(sent: Sequence[Mapping[str, str]], answer: str) -> tuple[int, int]:
    """(prompt, completion) tokens, for endpoints that count nothing: a budget that sees nothing
    would hold nothing back."""
    from memoryhub.engines.embedding.model_files import count_tokens

    counts = count_tokens([*(each["content"] for each in sent), answer])
    return sum(counts[:-1]), counts[-1]


def list_choices(answer: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    given = answer.get("choices")
    return [each for each in given if isinstance(each, dict)] if isinstance(given, list) else []


def is_last_chunk(chunk: Mapping[str, Any]) -> bool:
    """Whether nothing but the account may come behind it."""
    return all(choice.get("finish_reason") for choice in list_choices(chunk))


def _parse_usage(given: Any) -> tuple[int, int] | None:
    if not isinstance(given, dict):
        return None
    prompt, completion = given.get("prompt_tokens"), given.get("completion_tokens")
    if not (isinstance(prompt, int) and isinstance(completion, int)):
        return None
    return max(0, prompt), max(0, completion)
