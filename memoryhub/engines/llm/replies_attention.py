"""Replies about a person, and an agent's own steps. A bad item costs that item only."""

from __future__ import annotations

import json
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, Field, create_model

from memoryhub.engines.llm.replies import Text, Texts, at_most
from memoryhub.engines.types import Tool

MOST_TRAITS = 20  # of one reply


def _listed(value: Any) -> Any:
    if value is None:
        return []
    return [value] if isinstance(value, str | dict) else value


def _item(value: Any) -> Any:
    return {"text": value} if isinstance(value, str) else value


def _share(value: Any) -> Any:
    try:
        return min(1.0, max(0.0, float(value)))
    except (TypeError, ValueError):
        return 0.5


class KnowledgeReplyItem(BaseModel):
    text: Text = ""
    evidence: Texts = []


Item = Annotated[KnowledgeReplyItem, BeforeValidator(_item)]


class KnowledgeReply(BaseModel):
    user: Annotated[list[Item], BeforeValidator(_listed)]
    agent: Annotated[list[Item], BeforeValidator(_listed)] = []


class TraitReplyItem(BaseModel):
    key: Text = ""
    level: Text = ""
    why: Text = ""
    evidence: Texts = []
    confidence: Annotated[float, BeforeValidator(_share)] = 0.7


class TraitsReply(BaseModel):
    traits: Annotated[list[TraitReplyItem], BeforeValidator(_listed), at_most(MOST_TRAITS)]


class StepReply(BaseModel):
    """`arguments` are kept as they came: the tool's executor says what is wrong with them."""

    tool: Text = ""
    text: Text = ""
    arguments: Any = None


_TYPES: dict[str, Any] = {"string": str, "integer": int, "boolean": bool, "number": float}


def step_reply(tools: list[Tool]) -> type[StepReply]:
    """A step's shape for these tools: their parameters together, so that an endpoint that
    decodes by schema can write arguments at all. Only its schema differs; it reads alike."""
    fields: dict[str, Any] = {}
    for tool in tools:
        for name, about in tool.parameters.get("properties", {}).items():
            fields.setdefault(name, (_type(about) | None, None))
    shape = create_model("Arguments", **fields)
    schema = shape.model_json_schema()
    described = {"anyOf": [_strict(schema), {"type": "null"}]}
    arguments = Annotated[Any, Field(json_schema_extra=described)]
    return create_model("StepReply", __base__=StepReply, arguments=(arguments, None))


def _strict(schema: dict[str, Any]) -> dict[str, Any]:
    schema["required"] = list(schema.get("properties", {}))
    schema["additionalProperties"] = False
    for about in schema.get("properties", {}).values():
        about.pop("default", None)
    return schema


def _type(about: dict[str, Any]) -> Any:
    if about.get("type") == "array":
        return list[str]
    return _TYPES.get(str(about.get("type")), str)


def as_sent(arguments: Any) -> str:
    """Arguments as JSON text, without parameters left null; text stays the text it was."""
    if arguments is None:
        return "{}"
    if isinstance(arguments, str):
        return arguments
    if isinstance(arguments, dict):
        arguments = {name: value for name, value in arguments.items() if value is not None}
    return json.dumps(arguments, ensure_ascii=False)
