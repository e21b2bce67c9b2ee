"""Named components of the OpenAPI description, made from the types of answers."""

from __future__ import annotations

from copy import deepcopy
from functools import cache
from typing import Any

from drf_spectacular.plumbing import ComponentRegistry, ResolvedComponent
from pydantic import TypeAdapter
from pydantic.json_schema import GenerateJsonSchema
from pydantic_core import core_schema

Schema = dict[str, Any]
# Of dataclasses: answered only where an explanation was asked for.
EXPLAINED_FIELDS = ("found",)
_REFERENCE = "#/components/schemas/"
NO_NUL_PATTERN = "^[^\\u0000]*$"


class _AnswerSchemas(GenerateJsonSchema):
    """Types as they are answered: a field of a dataclass is there, whatever its default."""

    def field_is_required(self, field: Any, total: bool) -> bool:
        if field["type"] == "dataclass-field":
            return field["name"] not in EXPLAINED_FIELDS
        return super().field_is_required(field, total)

    def default_schema(self, schema: core_schema.WithDefaultSchema) -> Schema:
        return self.generate_inner(schema["schema"])

    def field_title_should_be_set(self, schema: Any) -> bool:
        return False


def describe_answer(answer: Any, registry: ComponentRegistry) -> Schema:
    """The schema of a type of answer. It and all that it is made of become components.

    What is no JSON comes as a schema by itself, in which types may stand for theirs.
    """
    if isinstance(answer, dict):
        return {
            key: describe_answer(each, registry) if isinstance(each, dict | type) else each
            for key, each in answer.items()
        }
    made = deepcopy(_build_schema(answer))
    for name, schema in made.pop("$defs", {}).items():
        _register(name, schema, registry)
    return _register(made["title"], made, registry) if "properties" in made else made


@cache
def _build_schema(answer: Any) -> Schema:
    """Most answers are those of several operations."""
    return TypeAdapter(answer).json_schema(
        mode="serialization", schema_generator=_AnswerSchemas, ref_template=f"{_REFERENCE}{{model}}"
    )


def _register(name: str, schema: Schema, registry: ComponentRegistry) -> Schema:
    schema.pop("title", None)
    for key, member in schema.get("properties", {}).items():
        name_choices(f"{name}{key.title().replace('_', '')}", member, registry)
    return register_component(name, schema, registry)


def register_component(name: str, schema: Schema, registry: ComponentRegistry) -> Schema:
    """A reference to the schema, which is a component from now on. Raises ValueError where another
    shape has this name."""
    component: Any = ResolvedComponent  # it has no types
    made = component(name=name, type=component.SCHEMA, schema=schema, object=name)
    if made in registry and registry[made].schema != schema:
        raise ValueError(f"two shapes are called {name}")
    registry.register_on_missing(made)
    return {"$ref": f"{_REFERENCE}{name}"}


def name_choices(name: str, member: Schema, registry: ComponentRegistry) -> None:
    """Gives the choices of a member a name, wherever in it they are."""
    if "enum" in member:
        choices = {key: member.pop(key) for key in ("type", "enum")}
        member |= _register(name, choices, registry)
    for inner in (*member.get("anyOf", ()), *filter(None, [member.get("items")])):
        name_choices(name, inner, registry)
