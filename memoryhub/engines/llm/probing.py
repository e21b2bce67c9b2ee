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

from memoryhub.engines.llm.chat import SHAPES, Chat, options
from memoryhub.engines.llm.endpoint import connect, translated
from memoryhub.errors import EngineError

_QUESTION = (
    'Reply with one JSON object that has the key "city" and, as its value, the capital of '
    "Portugal in English. Nothing else."
)
_SCHEMA = {
    "type": "object",
    "properties": {"city": {"type": "string"}},
    "required": ["city"],
    "additionalProperties": False,
}
_TOOL = {
    "type": "function",
    "function": {"name": "remember", "description": "Keeps a fact.", "parameters": _SCHEMA},
}
_FEW = 2000  # tokens: room for models that think aloud


class _City(BaseModel):
    city: str


@dataclass(frozen=True, slots=True)
class Capabilities:
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
    def usable(self) -> bool:
        return bool(self.shapes)


def probe(base_url: str, api_key: str, model: str, *, timeout: float = 60.0) -> Capabilities:
    """Up to nine small questions. Raises EngineError where the endpoint can't be asked at all."""
    return _Probe(connect(base_url, api_key, timeout), base_url, model).made()


@dataclass
class _Probe:
    client: openai.OpenAI
    endpoint: str
    model: str
    without: set[str] = field(default_factory=set)
    troubles: dict[str, str] = field(default_factory=dict)

    def made(self) -> Capabilities:
        while self._learns():
            pass
        started = time.perf_counter()
        shapes = [shape for shape in SHAPES if self._answers(shape)]
        took = (time.perf_counter() - started) * 1000 / len(SHAPES)
        return Capabilities(
            endpoint=self.endpoint,
            model=self.model,
            shapes=shapes,
            without=sorted(self.without),
            tools=self._calls_tools(),
            milliseconds=round(took, 1),
            troubles=self.troubles,
        )

    def _learns(self) -> bool:
        """Whether one more option turned out to be refused by name. Other refusals are raised."""
        try:
            with translated():
                self._sent("text")
        except EngineError as error:
            named = {o for o in ("max_tokens", "temperature") if o in error.message.lower()}
            if not named - self.without:
                raise
            self.without |= named
            return True
        return False

    def _answers(self, shape: str) -> bool:
        try:
            with translated():
                text = self._sent(shape).choices[0].message.content or ""
            _City.model_validate_json(text.strip().removeprefix("```json").strip("`\n "))
        except (EngineError, ValidationError, IndexError) as error:
            self.troubles[shape] = str(error).splitlines()[0][:200]
            return False
        return True

    def _calls_tools(self) -> bool:
        try:
            with translated():
                said = self._sent("text", tools=[_TOOL]).choices[0].message
        except (EngineError, IndexError) as error:
            self.troubles["tools"] = str(error)[:200]
            return False
        if not said.tool_calls:
            self.troubles["tools"] = "it answered in words"
        return bool(said.tool_calls)

    def _sent(self, shape: str, **more: Any) -> Any:
        asked = "Use the tool to keep the capital of Portugal." if more else _QUESTION
        given = options(shape, "probe", _SCHEMA, most=_FEW, without=frozenset(self.without))
        messages: Any = [{"role": "user", "content": asked}]
        return self.client.chat.completions.create(
            model=self.model, messages=messages, **given, **more
        )


def remembered(file: Path, endpoint: str, model: str) -> Capabilities | None:
    """What an earlier probe found out, if there was one."""
    found = _all(file).get(_key(endpoint, model))
    try:
        return Capabilities(**found) if found else None
    except TypeError:
        return None  # written by another version


def informed(base_url: str, api_key: str, model: str, timeout: float, file: Path | None) -> Chat:
    """A chat that begins with what a probe found out, if one did."""
    known = remembered(file, base_url, model) if file else None
    shape = known.shapes[0] if known and known.shapes else SHAPES[0]
    without = known.without if known else ()
    return Chat(base_url, api_key, model, timeout=timeout, shape=shape, without=without)


def remember(file: Path, found: Capabilities) -> None:
    """Keep it beside what is known of other models. The file is replaced in one go."""
    known = _all(file) | {_key(found.endpoint, found.model): asdict(found)}
    written = file.with_suffix(".new")
    written.write_text(json.dumps(known, indent=1, ensure_ascii=False), encoding="utf-8")
    written.replace(file)


def _all(file: Path) -> dict[str, dict[str, Any]]:
    try:
        known = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return known if isinstance(known, dict) else {}


def _key(endpoint: str, model: str) -> str:
    return f"{model} at {endpoint.rstrip('/')}"
