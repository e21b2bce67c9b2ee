"""The strict JSON ladder (spec §0.1): a reply is valid, is made valid once, or has failed.

Never an empty result for a failure, and never error text or an apology as content.
"""

from __future__ import annotations

import json
import re
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from memoryhub.engines.llm.chat import Chat, Messages
from memoryhub.engines.llm.prompting import template
from memoryhub.errors import EngineError

Reply = TypeVar("Reply", bound=BaseModel)

_THOUGHT = re.compile(
    r"<(think|thinking|reasoning)>.*?</\1>|^.*?</(?:think|thinking|reasoning)>", re.S
)
_SHOWN = 4000  # characters of a bad reply sent back for repair


class UnreadableError(Exception):
    """Why a reply does not fit, in words a model can act on."""


def ask(chat: Chat, messages: Messages, shape: type[Reply]) -> Reply:
    """The model's reply as `shape`. Raises EngineError `unreadable_reply` after one repair."""
    name, schema = shape.__name__.lower(), strict_schema(shape)
    text = chat.complete(messages, name, schema)
    try:
        return read(text, shape)
    except UnreadableError as problem:
        again = [*messages, *_repair(text, str(problem))]
    try:
        return read(chat.complete(again, name, schema), shape)
    except UnreadableError as problem:
        raise EngineError(
            f"The model {chat.model} sent no usable reply: {problem}", code="unreadable_reply"
        ) from problem


def read(text: str, shape: type[Reply]) -> Reply:
    """A reply's text as `shape`, as it is or dug out of what surrounds it."""
    try:
        return shape.model_validate(_object(text))
    except ValidationError as error:
        faults = [f"{'.'.join(map(str, e['loc'])) or 'reply'}: {e['msg']}" for e in error.errors()]
        raise UnreadableError("; ".join(faults[:5])) from error


def _object(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        inner = _THOUGHT.sub("", text)
    start = inner.find("{")
    if start < 0:
        raise UnreadableError("it holds no JSON object")
    try:
        # Not strict: models put bare line breaks into strings.
        return json.JSONDecoder(strict=False).raw_decode(inner[start:])[0]
    except (ValueError, RecursionError) as error:
        raise UnreadableError(f"it is not valid JSON ({error})") from error


def _repair(text: str, problem: str) -> list[dict[str, str]]:
    asked = template("repair").replace("{problem}", problem[:1000])
    return [
        {"role": "assistant", "content": text[:_SHOWN]},
        {"role": "user", "content": asked},
    ]


def strict_schema(shape: type[BaseModel]) -> dict[str, Any]:
    """The JSON schema as strict mode wants it: every property required, no others, no defaults."""
    schema = shape.model_json_schema(by_alias=True)
    for part in (schema, *schema.get("$defs", {}).values()):
        _tighten(part)
    return schema


def _tighten(part: dict[str, Any]) -> None:
    if "properties" not in part:
        return
    part["required"] = list(part["properties"])
    part["additionalProperties"] = False
    for field in part["properties"].values():
        field.pop("default", None)
