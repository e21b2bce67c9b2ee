"""POST /api/v1/answer: what it takes, what it gives, and what it refuses."""

from __future__ import annotations

from typing import Any

import pytest
from rest_framework.test import APIClient

from memoryhub.dialogues.messages import Message
from memoryhub.pipeline.ingest.services import IngestRequest
from memoryhub.tenants.models import Tenant
from tests.api.test_hostile import ANSWER, HALF, get_field_error, post_json
from tests.support.ingest import ingest_and_wait


@pytest.fixture
def asked(tenant: Tenant) -> dict[str, Any]:
    """A body that is right, about a subject with a memory."""
    said = [Message("user", "I live in Porto.", "Ana", external_id="m-1")]
    ingest_and_wait(tenant.id, IngestRequest("ana", said, "evening"))
    return {"subject": "ana", "question": "Where does Ana live?"}


def test_an_answer_names_its_sources(api: APIClient, asked: dict[str, Any]) -> None:
    response = post_json(api, ANSWER, asked | {"session": "evening", "explain": True})
    assert response.status_code == 200
    given = response.json()
    assert "Porto" in given["text"]
    assert (given["quoted"], given["abstained"], given["calls"]) == (True, False, 0)
    citation = given["citations"][0]
    assert "Porto" in given["text"][slice(*citation["part"])]
    assert citation["text"][slice(*citation["span"])] == citation["quote"]
    assert citation["refs"] == ["D1:1"]
    assert citation["sources"][0]["external_id"] == "m-1"
    assert given["explain"]["memories"]
    assert set(given["tokens"]) == {"memories", "prompt", "completion"}


def test_to_ask_twice_is_to_get_the_same(api: APIClient, asked: dict[str, Any]) -> None:
    first, second = (post_json(api, ANSWER, asked).json() for _ in range(2))
    assert first["text"] == second["text"]
    assert [c["id"] for c in first["citations"]] == [c["id"] for c in second["citations"]]


def test_what_is_not_known_is_said(api: APIClient, asked: dict[str, Any]) -> None:
    given = post_json(
        api, ANSWER, asked | {"question": "What is the boiling point of tungsten?"}
    ).json()
    assert given["abstained"] is True
    assert given["citations"] == []
    assert given["text"]


@pytest.mark.parametrize(
    ("wrong", "status", "field"),
    [
        ({"question": ""}, 422, "question"),
        ({"question": " \0 "}, 422, "question"),
        ({"question": HALF}, 422, "question"),
        ({"question": None}, 422, "question"),
        ({"question": ["Where?"]}, 422, "question"),
        ({"question": "x" * 1_100_000}, 413, "question"),
        ({"subject": HALF}, 422, "subject"),
        ({"session": HALF}, 422, "session"),
        ({"limit": 0}, 422, "limit"),
        ({"limit": 101}, 422, "limit"),
        ({"limit": "ten"}, 422, "limit"),
        ({"budget_tokens": 99}, 422, "budget_tokens"),
        ({"budget_tokens": 1_000_001}, 422, "budget_tokens"),
        ({"as_of": "yesterday"}, 422, "as_of"),
        ({"include_past": "perhaps"}, 422, "include_past"),
    ],
)
def test_what_is_wrong_is_named(
    api: APIClient, asked: dict[str, Any], wrong: dict[str, Any], status: int, field: str
) -> None:
    get_field_error(post_json(api, ANSWER, asked | wrong), status, field)


@pytest.mark.parametrize("wrong", [{"subject": "rui"}, {"session": "morning"}])
def test_unknown_names_are_not_found(
    api: APIClient, asked: dict[str, Any], wrong: dict[str, Any]
) -> None:
    response = post_json(api, ANSWER, asked | wrong)
    assert (response.status_code, response.json()["code"]) == (404, "not_found")


def test_E31_a_long_question_is_read_in_part(api: APIClient, asked: dict[str, Any]) -> None:
    given = post_json(api, ANSWER, asked | {"question": "Where does Ana live? " * 5000}).json()
    assert given["query_truncated"] is True
    assert given["text"]


def test_odd_characters_do_no_harm(api: APIClient, asked: dict[str, Any]) -> None:
    for question in ("Where does Ana li\0ve?", "🙂🙂", "?", "[m1] {", "\u202e\u0301", "а́б́"):
        assert post_json(api, ANSWER, asked | {"question": question}).status_code == 200


def test_only_post_is_served(api: APIClient) -> None:
    assert api.get(ANSWER).status_code == 405
    assert api.get("/api/v1/schema?format=json").json()["paths"]["/api/v1/answer"]["post"]
