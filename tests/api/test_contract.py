"""The contract as it stands: a change of the OpenAPI description is a change of this file.

Written anew by `MEMORYHUB_WRITE_CONTRACT=1 python -m pytest tests/api/test_contract.py`.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from drf_spectacular.drainage import GENERATOR_STATS
from drf_spectacular.generators import SchemaGenerator
from jsonschema import Draft202012Validator  # type: ignore[import-untyped]  # it has no types

from api.schema.pages import describe_operations
from api.urls import urlpatterns

# What is asked and changes nothing.
ASKING = {f"/api/v1/{name}" for name in ("search", "context", "answer", "items/read")}
# There is nothing to say with it.
BARE = {"/api/v1/spaces/{subject}/person-links/{row_id}/revoke"}
CONTRACT = Path(__file__).with_name("openapi.json")


@pytest.fixture(scope="module")
def served(kept_for_module: None) -> str:
    """The description as the hub serves it."""
    GENERATOR_STATS.reset()
    describe_operations.cache_clear()  # the warnings are those of making it
    return Client().get("/api/v1/schema?format=json").content.decode()


@pytest.fixture
def described(served: str) -> dict[str, Any]:
    return dict(json.loads(served))


def test_the_contract_is_the_one_agreed_on(described: dict[str, Any]) -> None:
    text = json.dumps(described, indent=1, sort_keys=True, ensure_ascii=False) + "\n"
    if os.environ.get("MEMORYHUB_WRITE_CONTRACT"):
        CONTRACT.write_text(text, encoding="utf-8")
    assert json.loads(CONTRACT.read_text(encoding="utf-8")) == described


def test_every_route_is_described_without_a_warning(described: dict[str, Any]) -> None:
    assert not GENERATOR_STATS
    names = {"schema", "docs", "redoc", "not-found"}
    assert len(described["paths"]) == len([p for p in urlpatterns if p.name not in names])


def test_it_is_json_unless_yaml_is_asked_for() -> None:
    for accept in ("*/*", "text/html,*/*;q=0.8", "application/json"):
        told = Client().get("/api/v1/schema", headers={"accept": accept})
        assert json.loads(told.content)["openapi"].startswith("3.1")
    told = Client().get("/api/v1/schema", headers={"accept": "application/vnd.oai.openapi"})
    assert told.content.startswith(b"openapi: 3.1")


def test_it_is_made_once_in_each_language(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[object] = []

    def parse(generator: object, request: object, public: bool) -> dict[str, Any]:
        made.append(request)
        return {}

    monkeypatch.setattr(SchemaGenerator, "parse", parse)
    describe_operations.cache_clear()
    for query in ("", "?lang=zh-hans", "", "?lang=zh-hans"):
        assert Client().get(f"/api/v1/schema{query}").status_code == 200
    assert made == [None, None]
    told = Client().get("/api/v1/schema?version=2").json()
    assert "(2)" in told["info"]["version"]
    describe_operations.cache_clear()


def list_references(schema: Any) -> set[str]:
    """The components that it names, at any depth."""
    if isinstance(schema, list):
        return {name for each in schema for name in list_references(each)}
    if not isinstance(schema, dict):
        return set()
    own = {str(schema["$ref"]).rpartition("/")[2]} if isinstance(schema.get("$ref"), str) else set()
    return own | {name for each in schema.values() for name in list_references(each)}


def test_no_component_but_a_filter_holds_itself(described: dict[str, Any]) -> None:
    """Generators of clients leave out the operations that take such a one, unless it is an object
    whose members they can name: tests/clients/test_generated_clients.py."""
    held = {
        name: list_references(each) for name, each in described["components"]["schemas"].items()
    }
    while more := {
        name: deeper
        for name, inner in held.items()
        if (deeper := inner.union(*(held[each] for each in inner))) != inner
    }:
        held |= more
    found = {name for name, inner in held.items() if name in inner}
    assert found == {name for name in held if name.endswith("Filter")}


def test_every_filter_is_described_by_the_columns_of_its_rows(described: dict[str, Any]) -> None:
    shapes = described["components"]["schemas"]
    asked = {path: each for path, each in described["paths"].items() if path.endswith("/query")}
    assert len(asked) > 30
    for path, operations in asked.items():
        listed = described["paths"][path.removesuffix("/query")]["get"]
        (given,) = [each for each in listed["parameters"] if each["name"] == "filter"]
        (body,) = list_references(operations["post"]["requestBody"])
        assert (
            given["content"]["application/json"]["schema"] == shapes[body]["properties"]["filter"]
        )
        (row,) = list_references(given)
        columns = shapes[row.removesuffix("Filter")]["properties"]
        assert set(shapes[row]["properties"]) - set(columns) == {"AND", "OR", "NOT"}, path


def test_every_operation_says_what_it_takes_and_answers(described: dict[str, Any]) -> None:
    for path, operations in described["paths"].items():
        for method, operation in operations.items():
            assert operation["description"], (path, method)
            assert operation["responses"], (path, method)
            names = {parameter["name"] for parameter in operation.get("parameters", ())}
            asks = path in ASKING or path.endswith("/query")
            if method == "post" and path.startswith("/api/v1/") and not asks:
                assert "Idempotency-Key" in names, path
            if method == "post" and path.startswith("/api/v1/spaces/"):
                assert ("requestBody" in operation) is (path not in BARE), path


def test_what_is_read_takes_a_page_and_what_is_written_a_key(described: dict[str, Any]) -> None:
    """Of a path that is read and written, too."""
    for path, operations in described["paths"].items():
        for method, operation in operations.items():
            names = {parameter["name"] for parameter in operation.get("parameters", ())}
            others = {"Idempotency-Key", "If-Match"} if method == "get" else {"limit", "fields"}
            assert not names & others, (path, method)


def test_lists_that_must_have_items_say_so(described: dict[str, Any]) -> None:
    shapes = described["components"]["schemas"]
    for shape, name in (
        ("SearchRequest", "kinds"),
        ("ContextRequest", "channels"),
        ("AddRequest", "messages"),
    ):
        assert shapes[shape]["properties"][name]["minItems"] == 1


def test_a_shape_that_takes_the_empty_text_takes_it_once(described: dict[str, Any]) -> None:
    email = described["components"]["schemas"]["NewMemberRequest"]["properties"]["email"]
    assert Draft202012Validator(email).is_valid("")
    assert Draft202012Validator(email).is_valid("ana@example.org")
    assert not Draft202012Validator(email).is_valid("ana")


def test_every_operation_has_examples_of_its_shape(described: dict[str, Any]) -> None:
    for path, operations in described["paths"].items():
        for method, operation in operations.items():
            shown = list(_list_examples(operation))
            assert shown, (path, method)
            for shape, example in shown:
                whole = {**shape, "components": described["components"]}
                faults = [e.message for e in Draft202012Validator(whole).iter_errors(example)]
                assert faults == [], (path, method)


def _list_examples(operation: dict[str, Any]) -> Iterator[tuple[dict[str, Any], Any]]:
    """Every example of what is sent or answered, with the schema it stands beside."""
    answers = [each for s, each in operation["responses"].items() if s.startswith("2")]
    assert answers
    for part in [operation.get("requestBody", {}), *answers]:
        for given in part.get("content", {}).values():
            examples = [each["value"] for each in given.get("examples", {}).values()]
            for example in examples or [given["example"]]:
                yield given["schema"], example


def test_operations_have_names_of_their_own(described: dict[str, Any]) -> None:
    names = [o["operationId"] for each in described["paths"].values() for o in each.values()]
    assert len(names) == len(set(names))
