"""One chat completion, in whatever dialect of the protocol the endpoint understands."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, cast

import openai

from memoryhub.engines.llm.client.endpoint import build_client, check_reply, translate_errors
from memoryhub.errors import EngineError

ChatMessages = Sequence[dict[str, str]]

# How to ask for JSON, most reliable first; the last one only asks in words.
REPLY_SHAPES = ("json_schema", "json_object", "text")
# What a request may go without, where an endpoint refuses it by name.
SCHEMA_LIMITS = ("maxItems", "maxLength")
OPTIONAL_PARAMETERS = ("max_tokens", "temperature", *SCHEMA_LIMITS, "parallel_tool_calls")
_THINKING_FACTOR = 4  # how many times the tokens a model gets that thinks before it replies
_OVERFLOW_PHRASES = ("context", "too long", "too many tokens", "maximum length")
_REFUSAL_ERRORS = (openai.BadRequestError, openai.UnprocessableEntityError)


@dataclass(frozen=True, slots=True)
class Completion:
    """A reply's text, and what it cost."""

    text: str
    prompt_tokens: int = 0
    completion_tokens: int = 0


@dataclass(frozen=True, slots=True)
class ToolChoice:
    """What a model that was given tools replied: the first one that it calls, with the words
    beside it; or words alone. `dropped` counts further calls."""

    completion: Completion
    tool: str = ""
    arguments: str = ""
    dropped: int = 0


class UnusableReplyError(EngineError):
    """A reply that was paid for and is none: cut off, or a refusal."""

    def __init__(self, message: str, completion: Completion, *, code: str) -> None:
        super().__init__(message, code=code)
        self.completion = completion


class ChatModel(Protocol):
    """Whatever completes a chat: an endpoint, or a script in tests."""

    model: str

    def complete(self, messages: ChatMessages, name: str, schema: dict[str, Any]) -> Completion:
        """`name` is the purpose. Raises EngineError: `reply_cut`, `context_exceeded`, ..."""


class ChatClient:
    """A model behind an endpoint. Remembers which options the endpoint refuses."""

    def __init__(
        self,
        base_url: str,
        api_key: str,
        model: str,
        *,
        timeout: float = 120.0,
        max_tokens: int = 4000,
        shape: str = REPLY_SHAPES[0],
        without: Collection[str] = (),
        calls_tools: bool = False,
    ) -> None:
        """`shape`, `without` and `calls_tools` are where to begin: what a probe found out.
        `max_tokens`: of a reply, beside what it is about."""
        self.model = model
        self.calls_tools = calls_tools
        self._client = build_client(base_url, api_key, timeout)
        self._max_tokens = max_tokens
        self._shape = REPLY_SHAPES.index(shape)
        self._without = frozenset(without)
        self._thinks = False  # before it replies, out of the same tokens

    def complete(self, messages: ChatMessages, name: str, schema: dict[str, Any]) -> Completion:
        """Raises EngineError: `reply_cut` when it ran out of tokens, `context_exceeded` when
        the messages do not fit, `refused` when it would not answer."""
        with translate_errors():
            completion = self._send_request(messages, name, schema)
            if not self._thinks and _has_only_thought(completion):
                self._thinks = True
                completion = self._send_request(messages, name, schema)
        return _read_reply(completion)

    def choose_tool(
        self, messages: Sequence[dict[str, Any]], tools: Sequence[dict[str, Any]]
    ) -> ToolChoice:
        """One of these tools with its arguments, or words, from an endpoint that calls tools.

        Raises EngineError as `complete` does.
        """
        with translate_errors():
            completion = self._send_tools(messages, tools)
            if not self._thinks and _has_only_thought(completion):
                self._thinks = True
                completion = self._send_tools(messages, tools)
        reply = _read_reply(completion)
        made = [c for c in completion.choices[0].message.tool_calls or [] if c.type == "function"]
        if not made:
            return ToolChoice(reply)
        chosen = made[0].function
        return ToolChoice(reply, chosen.name, chosen.arguments or "{}", len(made) - 1)

    def _send_tools(
        self, messages: Sequence[dict[str, Any]], tools: Sequence[dict[str, Any]]
    ) -> Any:
        while True:
            most = self._compute_limit(messages)
            given = build_options("text", "", {}, most=most, without=self._without)
            if "parallel_tool_calls" not in self._without:
                given["parallel_tool_calls"] = False
            try:
                reply = self._client.chat.completions.create(
                    model=self.model,
                    messages=cast("Any", messages),
                    tools=cast("Any", tools),
                    **given,
                )
                return check_reply(reply, "choices")
            except _REFUSAL_ERRORS as error:
                if not self._adapt_to_refusal(error):
                    raise

    def _compute_limit(self, messages: Sequence[Mapping[str, Any]]) -> int:
        """Tokens that a reply to these messages may have."""
        most = self._max_tokens + sum(len(m.get("content") or "") for m in messages[1:]) // 4
        return most * (_THINKING_FACTOR if self._thinks else 1)

    def _send_request(self, messages: ChatMessages, name: str, schema: dict[str, Any]) -> Any:
        shape = self._shape
        most = self._compute_limit(messages)
        while True:
            given = build_options(
                REPLY_SHAPES[shape], name, schema, most=most, without=self._without
            )
            try:
                reply = self._client.chat.completions.create(
                    model=self.model, messages=cast("Any", messages), **given
                )
            except _REFUSAL_ERRORS as error:
                if self._adapt_to_refusal(error):
                    continue
                if shape + 1 == len(REPLY_SHAPES):
                    raise
                shape += 1
            else:
                self._shape = shape
                return check_reply(reply, "choices")

    def _adapt_to_refusal(self, error: openai.APIStatusError) -> bool:
        """Whether the refusal named an option that can be left out from now on."""
        said = error.message.lower()
        if any(word in said for word in _OVERFLOW_PHRASES):
            raise EngineError(
                "The messages exceed the model's context", permanent=True, code="context_exceeded"
            ) from error
        named = {option for option in OPTIONAL_PARAMETERS if option.lower() in said}
        new = named - self._without
        self._without |= new
        return bool(new)


def _read_reply(completion: Any) -> Completion:
    """Raises EngineError where there is none."""
    choices = completion.choices
    if not choices:
        raise EngineError("The model endpoint sent no choice")
    said, usage = choices[0].message, completion.usage
    reply = Completion(
        said.content or said.refusal or "",
        usage.prompt_tokens if usage else 0,
        usage.completion_tokens if usage else 0,
    )
    if choices[0].finish_reason == "length":
        raise UnusableReplyError("The model's reply was cut off", reply, code="reply_cut")
    if said.refusal or choices[0].finish_reason == "content_filter":
        refusal = (said.refusal or "content filter")[:300]
        raise UnusableReplyError(f"The model refused: {refusal}", reply, code="refused")
    return reply


def _has_only_thought(completion: Any) -> bool:
    """Whether the tokens ran out while the model was thinking, before a word of its reply."""
    if not completion.choices or completion.choices[0].finish_reason != "length":
        return False
    said = completion.choices[0].message
    return not (said.content or said.tool_calls)


def build_options(
    shape: str, name: str, schema: dict[str, Any], *, most: int, without: frozenset[str]
) -> dict[str, Any]:
    """Of a request for JSON of this shape, without what the endpoint refuses."""
    limit = "max_completion_tokens" if "max_tokens" in without else "max_tokens"
    found: dict[str, Any] = {limit: most}
    if "temperature" not in without:
        found["temperature"] = 0
    if shape == "json_schema":
        told = _strip_limits(schema, without.intersection(SCHEMA_LIMITS))
        described = {"name": name, "schema": told, "strict": True}
        found["response_format"] = {"type": shape, "json_schema": described}
    elif shape == "json_object":
        found["response_format"] = {"type": shape}
    return found


def _strip_limits(schema: Any, names: Collection[str]) -> Any:
    """A schema without the lengths of lists or texts that an endpoint does not take."""
    if isinstance(schema, list):
        return [_strip_limits(part, names) for part in schema]
    if not isinstance(schema, dict):
        return schema
    return {key: _strip_limits(part, names) for key, part in schema.items() if key not in names}
