"""The last hand at the OpenAPI description: what is true of every operation, and an example."""

from __future__ import annotations

from typing import Any

from api.schema import PROBLEM, PROBLEM_TYPE

Schema = dict[str, Any]
_ID = "0197a0de-0000-7000-8000-000000000000"
_FORMATS = {"uuid": _ID, "date-time": "2026-05-12T18:30:00Z", "date": "2026-05-12"}
# What is often asked and told, by the name of its property.
_WORDS = {
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
_PROBLEM = {
    "type": "urn:memoryhub:not_found",
    "status": 404,
    "code": "not_found",
    "detail": "There is no such subject.",
}
_NO_NUL = "^[^\\u0000]*$"
_INNER = {"$ref": "#/components/schemas/JsonValue"}
_OBJECT = {
    "type": "object",
    "propertyNames": {"pattern": _NO_NUL},
    "additionalProperties": _INNER,
}
_SHAPES: Schema = {
    "JsonObject": _OBJECT,
    "JsonValue": {
        "anyOf": [
            {"type": ["null", "boolean", "number"]},
            {"type": "string", "pattern": _NO_NUL},
            {"type": "array", "items": _INNER},
            _OBJECT,
        ]
    },
}
_METHODS = ("get", "post", "put", "patch", "delete")


def completed(result: Schema, generator: Any, request: Any, public: Any) -> Schema:
    """drf-spectacular's hook after it is done."""
    shapes = result.setdefault("components", {}).setdefault("schemas", {})
    shapes |= _SHAPES
    for path in result["paths"].values():
        for method in _METHODS:
            if method in path:
                _complete(path[method], shapes)
    return result


def _complete(operation: Schema, shapes: Schema) -> None:
    answers = operation["responses"]
    described = {"schema": PROBLEM, "example": _PROBLEM}
    answers["default"] = {"description": "A problem.", "content": {PROBLEM_TYPE: described}}
    if any(each["name"] == "If-None-Match" for each in operation.get("parameters", ())):
        answers["304"] = {"description": "It is as the caller has it."}
    for status, answer in answers.items():
        if status.startswith("2"):
            for given in answer.get("content", {}).values():
                _exemplify(given, shapes, whole=True)
    body = operation.get("requestBody", {})
    for given in body.get("content", {}).values():
        _exemplify(given, shapes, whole=False)
        if "anyOf" in _followed(given.get("schema", {}), shapes):
            body["required"] = True  # no member is by itself, but some are


def _exemplify(given: Schema, shapes: Schema, *, whole: bool) -> None:
    if not given.get("examples") and "example" not in given:
        given["example"] = example_of(given.get("schema", {}), shapes, whole=whole)


def _followed(schema: Schema, shapes: Schema) -> Any:
    """The shape that it refers to, or itself."""
    return shapes[schema["$ref"].rpartition("/")[2]] if "$ref" in schema else schema


def example_of(schema: Schema, shapes: Schema, name: str = "", *, whole: bool) -> Any:
    """A value of this shape. `whole`: with what an object need not have, too."""
    if "$ref" in schema:
        return example_of(_followed(schema, shapes), shapes, name, whole=whole)
    for key in ("examples", "enum"):
        if schema.get(key):
            return schema[key][0]
    for key in ("default", "const"):
        if key in schema:
            return schema[key]
    for key in ("allOf", "anyOf", "oneOf"):
        if schema.get(key):
            return example_of(schema[key][0], shapes, name, whole=whole)
    return _typed(schema, shapes, name, whole=whole)


def _typed(schema: Schema, shapes: Schema, name: str, *, whole: bool) -> Any:
    kind = schema.get("type", "object")
    kind = next((each for each in kind if each != "null"), "null") if _many(kind) else kind
    if kind == "object":
        return _object(schema, shapes, whole=whole)
    if kind == "array":
        return [example_of(schema.get("items", {}), shapes, name, whole=whole)]
    if kind == "string":
        return _FORMATS.get(schema.get("format", ""), _WORDS.get(name, "chess"))
    if kind in ("integer", "number"):
        return schema.get("minimum", 1)
    return True if kind == "boolean" else None


def _many(kind: Any) -> bool:
    return isinstance(kind, list)


def _object(schema: Schema, shapes: Schema, *, whole: bool) -> Schema:
    inner = schema.get("properties", {})
    named = inner if whole else [n for n in inner if n in schema.get("required", ())]
    return {each: example_of(inner[each], shapes, each, whole=whole) for each in named}
