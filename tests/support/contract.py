"""A client of the API that holds every answer to the OpenAPI description, to the letter."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

from drf_spectacular.generators import SchemaGenerator
from jsonschema import (  # type: ignore[import-untyped]  # it has no types
    Draft202012Validator,
    FormatChecker,
)
from rest_framework.test import APIClient
from rest_framework.utils.encoders import JSONEncoder

PREFIX = "/api/v1/"


class ContractClient(APIClient):
    """Fails where an answer is not as its operation describes it, or has a member too many."""

    def request(self, **request: Any) -> Any:
        answer: Any = super().request(**request)
        is_json = answer.get("Content-Type", "").startswith("application/json")
        is_ours = request["PATH_INFO"].startswith(PREFIX) and answer.status_code < 300
        if is_json and is_ours and answer.content:
            faults = find_faults(answer)
            assert faults == [], (request["REQUEST_METHOD"], request["PATH_INFO"], faults)
        return answer


def find_faults(answer: Any) -> list[str]:
    """What of a JSON answer is not as described. mem0's wire, which has paths of its own below the
    same prefix, is not described here."""
    if answer.resolver_match.func.__module__.startswith("api.mem0"):
        return []
    if answer.resolver_match.url_name == "schema":  # the description itself
        return []
    route = f"/{answer.resolver_match.route}".replace("<path:subject>", "{subject}")
    path = route.replace("<uuid:row_id>", "{row_id}")
    request = answer.wsgi_request
    validator = _build_validator(path, request.method.lower(), str(answer.status_code))
    return [f"{fault.json_path}: {fault.message}" for fault in validator.iter_errors(answer.json())]


@cache
def build_description() -> dict[str, Any]:
    """The OpenAPI description as JSON has it."""
    generator: Any = SchemaGenerator  # it has no types
    described = generator().get_schema(public=True)
    return dict(json.loads(json.dumps(described, cls=JSONEncoder)))


@cache
def _build_validator(path: str, method: str, status: str) -> Any:
    answers = build_description()["paths"][path][method]["responses"]
    shape = answers[status]["content"]["application/json"]["schema"]
    return Draft202012Validator(
        {**shape, "components": _close_components()}, format_checker=FormatChecker()
    )


@cache
def _close_components() -> Any:
    return _close_objects(build_description()["components"])


def _close_objects(schema: Any) -> Any:
    """With no members but those that are described."""
    if isinstance(schema, list):
        return [_close_objects(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    closed = {key: _close_objects(each) for key, each in schema.items()}
    if isinstance(schema.get("properties"), dict) and "type" in schema:
        closed.setdefault("additionalProperties", False)
    return closed
