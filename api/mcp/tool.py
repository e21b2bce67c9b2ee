"""What a tool is, and which there are."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, get_type_hints

from mcp_types import Tool as Shown
from mcp_types import ToolAnnotations

from api.mcp.arguments import ToolArguments, build_input_schema
from api.mcp.caller import Caller

JSONSchema = dict[str, Any]


@dataclass(frozen=True, slots=True)
class ToolResult:
    """A tool's answer: for programs, and for models to read."""

    structured: dict[str, Any]
    text: str


@dataclass(frozen=True, slots=True)
class Tool:
    """`scope`: the one its key needs. `destroys`: what it changes may be missed afterwards."""

    name: str
    title: str
    about: str
    run: Callable[[Caller, Any], ToolResult]
    output_schema: JSONSchema
    scope: str = "read"
    destroys: bool = False
    repeatable: bool = False

    @property
    def arguments_type(self) -> type[ToolArguments]:
        """What `run` says that it takes."""
        taken: type[ToolArguments] = get_type_hints(self.run)["asked"]
        return taken

    def to_protocol(self) -> Shown:
        reads = self.scope == "read"
        # What is only read neither destroys nor repeats anything: nothing to tell.
        hints = ToolAnnotations(
            read_only_hint=reads,
            destructive_hint=None if reads else self.destroys,
            idempotent_hint=None if reads else self.repeatable,
            open_world_hint=False,
        )
        return Shown(
            name=self.name,
            title=self.title,
            description=self.about,
            input_schema=build_input_schema(self.arguments_type),
            output_schema=self.output_schema,
            annotations=hints,
        )


TEXT: JSONSchema = {"type": "string"}
NUMBER: JSONSchema = {"type": "number"}
FLAG: JSONSchema = {"type": "boolean"}
NULLABLE_TEXT: JSONSchema = {"type": ["string", "null"]}
ANYTHING: JSONSchema = {}


# Of tools whose changes may be missed.
DESTROYS: dict[str, Any] = {"scope": "write", "destroys": True}


def build_array_schema(of: JSONSchema) -> JSONSchema:
    return {"type": "array", "items": of}


def build_object_schema(needed: dict[str, JSONSchema], **more: JSONSchema) -> JSONSchema:
    """An object with these properties; others may come."""
    told: JSONSchema = {"type": "object"}
    if properties := needed | more:
        told["properties"] = properties
    if needed:
        told["required"] = list(needed)
    return told
