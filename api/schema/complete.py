"""The last hand at the OpenAPI description: what is true of every operation, and an example."""

from __future__ import annotations

from typing import Any

from api.schema.components import NO_NUL_PATTERN
from api.schema.openapi import PROBLEM_MEDIA_TYPE, PROBLEM_SCHEMA

Schema = dict[str, Any]
_EXAMPLE_ID = "0197a0de-0000-7000-8000-000000000000"
_EXAMPLE_BY_FORMAT = {
    "uuid": _EXAMPLE_ID,
    "date-time": "2026-05-12T18:30:00Z",
    "date": "2026-05-12",
}
# What is often asked and told, by the name of its property.
_EXAMPLE_BY_NAME = {
    "subject": "ana",
    "text": "Ana plays chess in Porto",
    "value": "chess",
    "content": "I play chess in Porto.",
    "query": "where does she play",
    "question": "where does she play",
    "session": "monday",
    "username": "ida",
    "email": "ida@example.com",
    "reason": "as she said",
    "actor": "ida",
    "owner": "ana",
    "speaker": "Ana",
    "state": "done",
    "preset": "balanced",
    "code": "not_found",
    "type": "urn:memoryhub:not_found",
    "detail": "There is no such subject.",
}
_EXAMPLE_PROBLEM = {
    "type": "urn:memoryhub:not_found",
    "status": 404,
    "code": "not_found",
    "detail": "There is no such subject.",
}
_PROBLEM_REFERENCE = {"$ref": "#/components/schemas/Problem"}
_SHARED_SCHEMAS: Schema = {
    # Of what is in it no more is said: a value would hold itself, and of that generators of
    # clients make nothing, or leave out the operations that take it.
    "JsonObject": {
        "description": "Any JSON, in which no text has a NUL.",
        "type": "object",
        "propertyNames": {"pattern": NO_NUL_PATTERN},
        "additionalProperties": True,
    },
    "Problem": PROBLEM_SCHEMA,
}
_METHODS = ("get", "post", "put", "patch", "delete")


def complete_description(result: Schema, generator: Any, request: Any, public: Any) -> Schema:
    """drf-spectacular's hook after it is done."""
    shapes = result.setdefault("components", {}).setdefault("schemas", {})
    shapes |= _SHARED_SCHEMAS
    for path in result["paths"].values():
        for method in _METHODS:
            if method in path:
                _complete_operation(path[method], shapes)
    return result


def _complete_operation(operation: Schema, shapes: Schema) -> None:
    answers = operation["responses"]
    described = {"schema": _PROBLEM_REFERENCE, "example": _EXAMPLE_PROBLEM}
    answers["default"] = {"description": "A problem.", "content": {PROBLEM_MEDIA_TYPE: described}}
    if any(each["name"] == "If-None-Match" for each in operation.get("parameters", ())):
        answers["304"] = {"description": "It is as the caller has it."}
    for status, answer in answers.items():
        if status.startswith("2"):
            for given in answer.get("content", {}).values():
                _add_example(given, shapes, whole=True)
    body = operation.get("requestBody", {})
    for given in body.get("content", {}).values():
        _add_example(given, shapes, whole=False)
        if "anyOf" in _resolve_reference(given.get("schema", {}), shapes):
            body["required"] = True  # no member is by itself, but some are


def _add_example(given: Schema, shapes: Schema, *, whole: bool) -> None:
    if not given.get("examples") and "example" not in given:
        given["example"] = build_example(given.get("schema", {}), shapes, whole=whole)


def _resolve_reference(schema: Schema, shapes: Schema) -> Any:
    """The shape that it refers to, or itself."""
    return shapes[schema["$ref"].rpartition("/")[2]] if "$ref" in schema else schema


def build_example(schema: Schema, shapes: Schema, name: str = "", *, whole: bool) -> Any:
    """A value of this shape. `whole`: with what an object need not have, too."""
    if "$ref" in schema:
        return build_example(_resolve_reference(schema, shapes), shapes, name, whole=whole)
    for key in ("examples", "enum"):
        if schema.get(key):
            return schema[key][0]
    for key in ("default", "const"):
        if key in schema:
            return schema[key]
    for key in ("allOf", "anyOf", "oneOf"):
        if schema.get(key):
            return build_example(schema[key][0], shapes, name, whole=whole)
    return _build_typed_example(schema, shapes, name, whole=whole)


def _build_typed_example(schema: Schema, shapes: Schema, name: str, *, whole: bool) -> Any:
    kind = schema.get("type", "object")
    if isinstance(kind, list):
        kind = next((each for each in kind if each != "null"), "null")
    if kind == "object":
        return _build_object_example(schema, shapes, whole=whole)
    if kind == "array" and "prefixItems" in schema:
        return [build_example(each, shapes, name, whole=whole) for each in schema["prefixItems"]]
    if kind == "array":
        return [build_example(schema.get("items", {}), shapes, name, whole=whole)]
    if kind == "string":
        return _EXAMPLE_BY_FORMAT.get(schema.get("format", ""), _EXAMPLE_BY_NAME.get(name, "chess"))
    if kind in ("integer", "number"):
        return schema.get("minimum", 1)
    return True if kind == "boolean" else None


def _build_object_example(schema: Schema, shapes: Schema, *, whole: bool) -> Schema:
    inner = schema.get("properties", {})
    named = inner if whole else [n for n in inner if n in schema.get("required", ())]
    return {each: build_example(inner[each], shapes, each, whole=whole) for each in named}
