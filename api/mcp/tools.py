"""What a tool is, and which there are."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from mcp_types import Tool as Shown
from mcp_types import ToolAnnotations

from api.mcp.arguments import Arguments, input_schema
from api.mcp.calling import Caller

Schema = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Told:
    """A tool's answer: for programs, and for models to read."""

    structured: dict[str, Any]
    text: str


@dataclass(frozen=True, slots=True)
class Tool:
    """`scope`: the one its key needs. `destroys`: what it changes may be missed afterwards."""

    name: str
    title: str
    about: str
    shape: type[Arguments]
    work: Callable[[Caller, Any], Told]
    answers: Schema
    scope: str = "read"
    destroys: bool = False
    repeatable: bool = False

    def shown(self) -> Shown:
        reads = self.scope == "read"
        hints = ToolAnnotations(
            read_only_hint=reads,
            destructive_hint=self.destroys,
            idempotent_hint=reads or self.repeatable,
            open_world_hint=False,
        )
        return Shown(
            name=self.name,
            title=self.title,
            description=self.about,
            input_schema=input_schema(self.shape),
            output_schema=self.answers,
            annotations=hints,
        )


TEXT: Schema = {"type": "string"}
NUMBER: Schema = {"type": "number"}
FLAG: Schema = {"type": "boolean"}
MAYBE: Schema = {"type": ["string", "null"]}
ANY: Schema = {}


def listed(of: Schema) -> Schema:
    return {"type": "array", "items": of}


def made_of(needed: dict[str, Schema], **more: Schema) -> Schema:
    """An object with these properties; others may come."""
    return {"type": "object", "properties": needed | more, "required": list(needed)}
