"""Replies about a person, and an agent's own steps. A bad item costs that item only."""

from __future__ import annotations

import json
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, Field, create_model

from memoryhub.engines.llm.replies.claims import Text, Texts, limit_items
from memoryhub.engines.types import AgentTool

MAX_TRAITS = 20  # of one reply


def _coerce_list(value: Any) -> Any:
    if value is None:
        return []
    return [value] if isinstance(value, str | dict) else value


def _coerce_item(value: Any) -> Any:
    return {"text": value} if isinstance(value, str) else value


def _coerce_share(value: Any) -> Any:
    try:
        return min(1.0, max(0.0, float(value)))
    except (TypeError, ValueError):
        return 0.5


class KnowledgeReplyItem(BaseModel):
    text: Text = ""
    evidence: Texts = []


LenientItem = Annotated[KnowledgeReplyItem, BeforeValidator(_coerce_item)]


class KnowledgeReply(BaseModel):
    user: Annotated[list[LenientItem], BeforeValidator(_coerce_list)]
    agent: Annotated[list[LenientItem], BeforeValidator(_coerce_list)] = []


class TraitReplyItem(BaseModel):
    key: Text = ""
    level: Text = ""
    why: Text = ""
    evidence: Texts = []
    confidence: Annotated[float, BeforeValidator(_coerce_share)] = 0.7


class TraitsReply(BaseModel):
    traits: Annotated[list[TraitReplyItem], BeforeValidator(_coerce_list), limit_items(MAX_TRAITS)]


class StepReply(BaseModel):
    """`arguments` are kept as they came: the tool's executor says what is wrong with them."""

    tool: Text = ""
    text: Text = ""
    arguments: Any = None


_PYTHON_TYPES: dict[str, Any] = {"string": str, "integer": int, "boolean": bool, "number": float}


def build_step_reply(tools: list[AgentTool]) -> type[StepReply]:
    """A step's shape for these tools: their parameters together, so that an endpoint that
    decodes by schema can write arguments at all. Only its schema differs; it reads alike."""
    fields: dict[str, Any] = {}
    for tool in tools:
        for name, about in tool.parameters.get("properties", {}).items():
            fields.setdefault(name, (_type_from_schema(about) | None, None))
    shape = create_model("Arguments", **fields)
    schema = shape.model_json_schema()
    described = {"anyOf": [_tighten_schema(schema), {"type": "null"}]}
    arguments = Annotated[Any, Field(json_schema_extra=described)]
    return create_model("StepReply", __base__=StepReply, arguments=(arguments, None))


def _tighten_schema(schema: dict[str, Any]) -> dict[str, Any]:
    schema["required"] = list(schema.get("properties", {}))
    schema["additionalProperties"] = False
    for about in schema.get("properties", {}).values():
        about.pop("default", None)
    return schema


def _type_from_schema(about: dict[str, Any]) -> Any:
    if about.get("type") == "array":
        return list[str]
    return _PYTHON_TYPES.get(str(about.get("type")), str)


def serialize_arguments(arguments: Any) -> str:
    """Arguments as JSON text, without parameters left null; text stays the text it was."""
    if arguments is None:
        return "{}"
    if isinstance(arguments, str):
        return arguments
    if isinstance(arguments, dict):
        arguments = {name: value for name, value in arguments.items() if value is not None}
    return json.dumps(arguments, ensure_ascii=False)
