"""How lists are asked for: what a filter may say of a kind of row, and the body of a query."""

from __future__ import annotations

from typing import Any

from drf_spectacular.plumbing import ComponentRegistry
from drf_spectacular.utils import OpenApiParameter

from api.core.fields import DAY_OR_TIME_PATTERN, SECONDS_SCHEMA
from api.rows.answers import build_row_type
from api.rows.columns import Resource
from api.rows.filters import ANY_VALUE, MOST_CHARACTERS, MOST_CHOICES, OPERATORS, FieldKind
from api.rows.lists import build_filter_fields
from api.schema.components import NO_NUL_PATTERN, Schema, name_choices, register_component

FILTER_ABOUT = (
    "Conditions, which hold together. A value means `eq`, a list `in`, `*` any value at all, null "
    "none; `NOT`: none of these holds. At most 100 conditions in 10 levels."
)
_SHORT_TEXT: Schema = {"type": "string", "maxLength": MOST_CHARACTERS, "pattern": NO_NUL_PATTERN}
# Of times text, or seconds since 1970, in the same years.
_VALUES_BY_KIND: dict[FieldKind, list[Schema]] = {
    "id": [{"type": "string", "format": "uuid"}],
    "text": [_SHORT_TEXT],
    "list": [_SHORT_TEXT],
    "time": [{"type": "string", "pattern": DAY_OR_TIME_PATTERN}, SECONDS_SCHEMA],
    "day": [{"type": "string", "format": "date"}],
    "number": [{"type": "number", "exclusiveMinimum": -(2**63), "exclusiveMaximum": 2**63}],
    "flag": [{"type": "boolean"}],
}
_TYPE_BY_PYTHON: dict[Any, str] = {str: "string", bool: "boolean"}


def describe_filter(resource: Resource, registry: ComponentRegistry) -> Schema:
    """The filter of a kind of row, as a component: a member for each column, and AND, OR, NOT."""
    name = f"{build_row_type(resource).__name__}Filter"
    own = {"$ref": f"#/components/schemas/{name}"}
    several = {"type": "array", "items": own, "minItems": 1}
    columns = {
        column: _describe_condition(field.kind, registry)
        for column, field in build_filter_fields(resource).items()
    }
    made = {
        "description": FILTER_ABOUT,
        "type": "object",
        "properties": {"AND": several, "OR": several, "NOT": {"anyOf": [own, several]}, **columns},
        "additionalProperties": False,
    }
    return register_component(name, made, registry)


def _describe_condition(kind: FieldKind, registry: ComponentRegistry) -> Schema:
    """What a column of this kind may be held against."""
    values, operators = _VALUES_BY_KIND[kind], OPERATORS[kind]
    several = [
        {"type": "array", "items": each, "minItems": 1, "maxItems": MOST_CHOICES} for each in values
    ]
    value, nothing = _join_choices(values), {"type": "null"}
    value_or_nothing = _join_choices([*values, nothing])
    shapes = {"eq": value_or_nothing, "ne": value_or_nothing, "in": _join_choices(several)}
    tests = {
        "type": "object",
        "properties": {op: shapes.get(op, value) for op in operators if op != "any"},
        "additionalProperties": False,
        "minProperties": 1,
    }
    takes_any = "any" in operators and _SHORT_TEXT not in values
    choices = [
        *values,
        *([{"type": "string", "const": ANY_VALUE}] if takes_any else []),
        *(several if "in" in operators else []),
        register_component(f"{kind.title()}Tests", tests, registry),
        nothing,
    ]
    return register_component(f"{kind.title()}Condition", _join_choices(choices), registry)


def _join_choices(choices: list[Schema]) -> Schema:
    return choices[0] if len(choices) == 1 else {"anyOf": choices}


def describe_list_query(
    name: str, resource: Resource, members: list[OpenApiParameter], registry: ComponentRegistry
) -> Schema:
    """The body that asks for a list, as a component: its parameters, as members."""
    row = build_row_type(resource).__name__
    names = {"fields": f"{row}Column", "status": "ListStatus"}
    properties = {}
    for each in members:
        if each.name == "filter":
            properties[each.name] = describe_filter(resource, registry)
        else:
            properties[each.name] = _describe_member(each)
            choices = names.get(each.name, f"{name}{each.name.title()}")
            name_choices(choices, properties[each.name], registry)
    made = {"type": "object", "properties": properties, "additionalProperties": False}
    return register_component(name, made, registry)


def _describe_member(parameter: OpenApiParameter) -> Schema:
    """Without a default: generators would have it sent each time."""
    given: Any = parameter.type
    shape = dict(given) if isinstance(given, dict) else {"type": _TYPE_BY_PYTHON[given]}
    shape.pop("default", None)
    if parameter.enum:
        shape["enum"] = list(parameter.enum)
    return shape | {"description": parameter.description}
