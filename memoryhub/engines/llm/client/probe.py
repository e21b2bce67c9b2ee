"""What a model behind an endpoint can do, found out by asking it small things.

The hub needs none of this beforehand: it tries the most reliable way to ask for JSON and falls
back. A probe says it before the first dialogue is read, and spares the first calls their tries.
"""

from __future__ import annotations

import json
import time
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import openai
from pydantic import BaseModel, ValidationError

from memoryhub.engines.llm.client.chat import REPLY_SHAPES, ChatClient, build_options
from memoryhub.engines.llm.client.endpoint import build_client, check_reply, translate_errors
from memoryhub.errors import EngineError

_PROBE_QUESTION = (
    'Reply with one JSON object that has the key "city" and, as its value, the capital of '
    "Portugal in English. Nothing else."
)
_PROBE_SCHEMA = {
    "type": "object",
    "properties": {"city": {"type": "string"}},
    "required": ["city"],
    "additionalProperties": False,
}
_PROBE_TOOL = {
    "type": "function",
    "function": {"name": "remember", "description": "Keeps a fact.", "parameters": _PROBE_SCHEMA},
}
_MAX_ANSWER_TOKENS = 2000  # tokens: room for models that think aloud


class _City(BaseModel):
    city: str


@dataclass(frozen=True, slots=True)
class ModelCapabilities:
    """`shapes` are the ways to ask for JSON that gave a usable answer, most reliable first.

    `without` are options that the endpoint refuses by name. `tools`: it calls tools.
    `milliseconds`: of one small answer. `troubles`: what went wrong, by what was tried.
    """

    endpoint: str
    model: str
    shapes: list[str] = field(default_factory=list)
    without: list[str] = field(default_factory=list)
    tools: bool = False
    milliseconds: float = 0.0
    troubles: dict[str, str] = field(default_factory=dict)

    @property
    def is_usable(self) -> bool:
        return bool(self.shapes)


def probe_model(
    base_url: str, api_key: str, model: str, *, timeout: float = 60.0
) -> ModelCapabilities:
    """Up to nine small questions. Raises EngineError where the endpoint can't be asked at all."""
    return _ProbeRun(build_client(base_url, api_key, timeout), base_url, model).run()


@dataclass
class _ProbeRun:
    client: openai.OpenAI
    endpoint: str
    model: str
    without: set[str] = field(default_factory=set)
    troubles: dict[str, str] = field(default_factory=dict)

    def run(self) -> ModelCapabilities:
        while self._learn_refused_option():
            pass
        started = time.perf_counter()
        shapes = [shape for shape in REPLY_SHAPES if self._can_answer_in(shape)]
        took = (time.perf_counter() - started) * 1000 / len(REPLY_SHAPES)
        return ModelCapabilities(
            endpoint=self.endpoint,
            model=self.model,
            shapes=shapes,
            without=sorted(self.without),
            tools=self._can_call_tools(),
            milliseconds=round(took, 1),
            troubles=self.troubles,
        )

    def _learn_refused_option(self) -> bool:
        """Whether one more option turned out to be refused by name. Other refusals are raised."""
        try:
            with translate_errors():
                self._send_question("text")
        except EngineError as error:
            named = {o for o in ("max_tokens", "temperature") if o in error.message.lower()}
            if not named - self.without:
                raise
            self.without |= named
            return True
        return False

    def _can_answer_in(self, shape: str) -> bool:
        try:
            with translate_errors():
                text = self._send_question(shape).choices[0].message.content or ""
            _City.model_validate_json(text.strip().removeprefix("```json").strip("`\n "))
        except (EngineError, ValidationError, IndexError) as error:
            self.troubles[shape] = str(error).splitlines()[0][:200]
            return False
        return True

    def _can_call_tools(self) -> bool:
        try:
            with translate_errors():
                said = self._send_question("text", tools=[_PROBE_TOOL]).choices[0].message
        except (EngineError, IndexError) as error:
            self.troubles["tools"] = str(error)[:200]
            return False
        if not said.tool_calls:
            self.troubles["tools"] = "it answered in words"
        return bool(said.tool_calls)

    def _send_question(self, shape: str, **more: Any) -> Any:
        asked = "Use the tool to keep the capital of Portugal." if more else _PROBE_QUESTION
        given = build_options(
            shape, "probe", _PROBE_SCHEMA, most=_MAX_ANSWER_TOKENS, without=frozenset(self.without)
        )
        messages: Any = [{"role": "user", "content": asked}]
        reply = self.client.chat.completions.create(
            model=self.model, messages=messages, **given, **more
        )
        return check_reply(reply, "choices")


def read_capabilities(file: Path, endpoint: str, model: str) -> ModelCapabilities | None:
    """What an earlier probe found out, if there was one."""
    found = _read_all(file).get(_format_key(endpoint, model))
    try:
        return ModelCapabilities(**found) if found else None
    except TypeError:
        return None  # written by another version


def build_informed_chat(
    base_url: str, api_key: str, model: str, timeout: float, max_tokens: int, file: Path | None
) -> ChatClient:
    """A chat that begins with what a probe found out, if one did."""
    known = read_capabilities(file, base_url, model) if file else None
    shape = known.shapes[0] if known and known.shapes else REPLY_SHAPES[0]
    without = known.without if known else ()
    calls_tools = known is not None and known.tools
    return ChatClient(
        base_url,
        api_key,
        model,
        timeout=timeout,
        max_tokens=max_tokens,
        shape=shape,
        without=without,
        calls_tools=calls_tools,
    )


def save_capabilities(file: Path, found: ModelCapabilities) -> None:
    """Keep it beside what is known of other models. The file is replaced in one go."""
    known = _read_all(file) | {_format_key(found.endpoint, found.model): asdict(found)}
    written = file.with_suffix(".new")
    written.write_text(json.dumps(known, indent=1, ensure_ascii=False), encoding="utf-8")
    written.replace(file)


def _read_all(file: Path) -> dict[str, dict[str, Any]]:
    try:
        known = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return known if isinstance(known, dict) else {}


def _format_key(endpoint: str, model: str) -> str:
    return f"{model} at {endpoint.rstrip('/')}"
