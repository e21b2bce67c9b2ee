"""What no client should send: answered with the field or limit at fault, never with 500."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import psycopg
import pytest
from django.db import OperationalError
from django.test import RequestFactory
from psycopg import errors as sqlstates
from rest_framework.request import Request
from rest_framework.test import APIClient

from api.core.problems import exception_handler
from memoryhub.dialogues.messages import Message, check_messages
from memoryhub.dialogues.models import Turn
from memoryhub.errors import InvalidInput
from memoryhub.tenants.models import Space, Tenant
from memoryhub.tenants.scope import tenant_scope

ADD, SEARCH, JOBS = "/api/v1/memories", "/api/v1/search", "/api/v1/jobs"
ANSWER = "/api/v1/answer"
HALF = "\ud800"


def make_add_body(**more: Any) -> dict[str, Any]:
    return {"subject": "ana", "messages": [{"content": "Hello there."}], **more}


def make_message_body(**more: Any) -> dict[str, Any]:
    return make_add_body(messages=[{"content": "Hello there.", **more}])


def post_json(client: APIClient, path: str, body: object, **headers: str) -> Any:
    """As ASCII JSON: a lone surrogate travels as its escape."""
    return client.post(path, json.dumps(body), content_type="application/json", headers=headers)


def get_field_error(answer: Any, status: int, field: str) -> str:
    """The message for the one field at fault."""
    assert answer.status_code == status, answer.content
    assert answer["Content-Type"] == "application/problem+json"
    (error,) = answer.json()["errors"]
    assert error["field"] == field
    return str(error["message"])


def make_nested_object(levels: int) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for _ in range(levels - 1):
        found = {"in": found}
    return found


def list_turns(tenant: Tenant) -> list[Turn]:
    with tenant_scope(tenant.id):
        return list(Turn.objects.select_related("session"))


def test_E3_nuls_in_names_are_stripped(api: APIClient, tenant: Tenant) -> None:
    body = make_add_body(session="tri\0p", agent="Hu\0b")
    assert post_json(api, ADD, body).status_code == 202
    (turn,) = list_turns(tenant)
    assert (turn.session.external_id, turn.agent) == ("trip", "Hub")


ITEM: dict[str, Any] = {"subject": "ana", "namespace": ["a"], "key": "k", "value": {"a": 1}}
NEW_SUBJECTS: list[tuple[str, Callable[[str], Any], str]] = [
    (ADD, lambda name: make_add_body(subject=name), "subject"),
    (
        "/api/v1/memories/batch",
        lambda name: {"items": [make_add_body(), make_add_body(subject=name)]},
        "items[1].subject",
    ),
    ("/api/v1/facts", lambda name: {"subject": name, "text": "Ana rows."}, "subject"),
    ("/api/v1/items/write", lambda name: {"items": [ITEM | {"subject": name}]}, "items[0].subject"),
]


@pytest.mark.parametrize("character", ["\0", "\n", "\r", "\t", "\x1b", "\x9f", "\u2028"])
@pytest.mark.parametrize(("path", "build", "field"), NEW_SUBJECTS)
def test_a_new_subject_has_no_character_that_can_not_be_seen(
    api: APIClient, path: str, build: Callable[[str], Any], field: str, character: str
) -> None:
    for name in (f"a{character}na", f"ana{character}"):
        told = get_field_error(post_json(api, path, build(name)), 422, field)
        assert "not allowed" in told
    assert api.get("/api/v1/spaces").json()["total"] == 0


def test_a_subject_of_before_with_such_a_character_is_still_read(
    api: APIClient, tenant: Tenant
) -> None:
    with tenant_scope(tenant.id):
        space = Space.objects.create(tenant=tenant, subject="a\nna")
    assert api.get(f"/api/v1/spaces/{space.id}").json()["subject"] == "a\nna"
    assert post_json(api, SEARCH, {"subject": "a\nna", "query": "x"}).status_code == 200


def test_a_subject_with_a_nul_is_asked_for_in_vain(api: APIClient) -> None:
    get_field_error(post_json(api, SEARCH, {"subject": "a\0na", "query": "x"}), 422, "subject")
    get_field_error(api.get("/api/v1/spaces/a%00na"), 422, "subject")


def test_names_are_measured_as_they_are_stored(api: APIClient) -> None:
    """Composing makes this letter two."""
    assert get_field_error(post_json(api, ADD, make_add_body(agent="\u0958" * 100)), 422, "agent")


BAD_METADATA = [
    {"a": "x\0"},
    {"x\0": 1},
    {"a": [{"b": HALF}]},
    {HALF: 1},
    {"a": "x" * 70_000},
    make_nested_object(33),
    make_nested_object(300),
]


@pytest.mark.parametrize("metadata", BAD_METADATA, ids=range(len(BAD_METADATA)))
def test_metadata_that_cannot_be_kept_is_refused(
    api: APIClient, tenant: Tenant, metadata: dict[str, Any]
) -> None:
    assert get_field_error(post_json(api, ADD, make_add_body(metadata=metadata)), 422, "metadata")
    answer = post_json(api, ADD, make_message_body(metadata=metadata))
    assert "messages[0].metadata" in answer.json()["errors"][0]["field"]
    assert answer.status_code == 422
    with pytest.raises(InvalidInput) as caught:
        check_messages([Message("user", "Hello there.", metadata=metadata)])
    assert caught.value.field == "messages[0].metadata"
    assert list_turns(tenant) == []


def test_limits_of_metadata_are_named(api: APIClient) -> None:
    assert "65536 bytes" in get_field_error(
        post_json(api, ADD, make_add_body(metadata={"a": "x" * 70_000})), 422, "metadata"
    )
    assert "32 levels" in get_field_error(
        post_json(api, ADD, make_add_body(metadata=make_nested_object(33))), 422, "metadata"
    )


def test_metadata_within_the_limits_is_kept_as_it_is(api: APIClient, tenant: Tenant) -> None:
    metadata = make_nested_object(32) | {"a": r"\u0000", "b": "x" * 60_000, "c": [None, 1.5, "é"]}
    assert post_json(api, ADD, make_add_body(metadata=metadata)).status_code == 202
    assert list_turns(tenant)[0].metadata == metadata


def test_metadata_is_measured_together(api: APIClient) -> None:
    """The message's own is added to the shared one."""
    body = make_message_body(metadata={"a": "x" * 40_000}) | {"metadata": {"b": "x" * 40_000}}
    get_field_error(post_json(api, ADD, body), 422, "messages[0].metadata")


def test_a_number_beyond_all_numbers_is_refused(api: APIClient) -> None:
    body = json.dumps(make_add_body(metadata={"a": 7})).replace("7", "1e999")
    get_field_error(api.post(ADD, body, content_type="application/json"), 422, "metadata")


@pytest.mark.parametrize(
    ("path", "body", "field"),
    [
        (ADD, make_add_body(subject=HALF), "subject"),
        (ADD, make_add_body(session=HALF), "session"),
        (ADD, make_add_body(agent=HALF), "agent"),
        (ADD, make_message_body(content=HALF), "messages[0].content"),
        (ADD, make_message_body(role=HALF), "messages[0].role"),
        (ADD, make_message_body(speaker=HALF), "messages[0].speaker"),
        (ADD, make_message_body(external_id=HALF), "messages[0].external_id"),
        (ADD, make_message_body(timestamp=HALF), "messages[0].timestamp"),
        (SEARCH, {"subject": HALF, "query": "Hello"}, "subject"),
        (SEARCH, {"subject": "ana", "query": HALF}, "query"),
        (SEARCH, {"subject": "ana", "query": "Hello", "kinds": [HALF]}, "kinds[0]"),
        (SEARCH, {"subject": "ana", "query": "Hello", "as_of": HALF}, "as_of"),
    ],
)
def test_half_a_surrogate_pair_is_no_text(
    api: APIClient, path: str, body: dict[str, Any], field: str
) -> None:
    get_field_error(post_json(api, path, body), 422, field)


@pytest.mark.parametrize("text", [{"content": HALF}, {"speaker": HALF}, {"external_id": HALF}])
def test_nor_is_it_for_callers_inside(text: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput) as caught:
        check_messages([Message(**{"role": "user", "content": "Hello there."} | text)])
    assert caught.value.field == f"messages[0].{next(iter(text))}"


@pytest.mark.parametrize("key", [HALF, "\0", "x" * 201])
def test_an_idempotency_key_is_printable(api: APIClient, key: str) -> None:
    get_field_error(
        post_json(api, ADD, make_add_body(), **{"Idempotency-Key": key}), 422, "Idempotency-Key"
    )


def test_nesting_beside_the_fields_does_no_harm(api: APIClient) -> None:
    for levels in (50, 300, 700):
        answer = post_json(
            api,
            ADD,
            make_add_body(more=make_nested_object(levels)),
            **{"Idempotency-Key": f"k-{levels}"},
        )
        assert answer.status_code in (400, 422)


def test_a_member_that_is_misspelt_is_refused_wherever_it_stands(api: APIClient) -> None:
    for place, body in (
        ("sesion", make_add_body(sesion="monday")),
        ("messages[0].occurred_at", make_add_body(messages=[{"content": "Hi.", "occurred_at": 1}])),
    ):
        told = get_field_error(post_json(api, ADD, body), 422, place)
        assert "no such member; known: " in told


def test_messages_are_taken_as_a_models_client_has_them(api: APIClient) -> None:
    said: dict[str, Any] = {
        "role": "assistant",
        "content": "Hi.",
        "refusal": None,
        "annotations": [],
    }
    assert post_json(api, ADD, make_add_body(messages=[said])).status_code in (200, 202)


@pytest.mark.parametrize("state", ["%00", "weird", "DONE", "%ED%A0%80"])
def test_unknown_states_of_jobs_are_refused(api: APIClient, state: str) -> None:
    assert "queued" in get_field_error(api.get(f"{JOBS}?state={state}"), 422, "state")


def test_jobs_of_a_state(api: APIClient) -> None:
    post_json(api, ADD, make_add_body())
    assert api.get(f"{JOBS}?state=queued").json()["total"] == 1
    assert api.get(f"{JOBS}?state=dead").json()["total"] == 0


@pytest.mark.parametrize("path", ["/api/v1/docs", "/api/v1/schema", SEARCH, JOBS])
@pytest.mark.parametrize("method", ["OPTIONS", "DELETE", "PUT", "TRACE"])
def test_methods_that_a_path_lacks(api: APIClient, path: str, method: str) -> None:
    answer: Any = api.generic(method, path)
    assert answer.status_code == 405
    assert answer.json()["code"] == "method_not_allowed"
    assert answer["Allow"] == ("POST" if path == SEARCH else "GET, HEAD")


def test_head_is_get_without_a_body(api: APIClient) -> None:
    for path in (JOBS, "/api/v1/docs", "/api/v1/schema"):
        answer = api.head(path)
        assert (answer.status_code, answer.content) == (200, b"")
    assert api.head(SEARCH).status_code == 405


def test_a_stranger_is_not_told_of_methods(db: None) -> None:
    assert APIClient().delete(JOBS).status_code == 401


def test_a_body_of_unknown_length_is_asked_for_its_length(api: APIClient) -> None:
    for path in (ADD, SEARCH, ANSWER):
        answer = api.generic("POST", path, "", headers={"Transfer-Encoding": "chunked"})
        assert answer.status_code == 411
        assert answer.json()["code"] == "length_required"


def test_too_large_a_body_is_a_problem(api: APIClient, settings: Any) -> None:
    settings.DATA_UPLOAD_MAX_MEMORY_SIZE = 2000
    answer = post_json(api, ADD, make_message_body(content="x" * 3000))
    assert answer.status_code == 413
    assert answer["Content-Type"] == "application/problem+json"
    assert answer.json()["code"] == "too_large"


def test_one_id_for_two_texts_is_refused(api: APIClient, tenant: Tenant) -> None:
    body = make_add_body(
        messages=[
            {"content": "Hello there.", "external_id": "m-1"},
            {"content": "Hello there."},
            {"content": "Good night."},
            {"content": "Goodbye.", "external_id": "m-1"},
        ]
    )
    get_field_error(post_json(api, ADD, body), 422, "messages[3].external_id")
    assert list_turns(tenant) == []


def test_the_same_message_twice_in_a_call_is_one(api: APIClient, tenant: Tenant) -> None:
    twice = {"content": "Hello there.", "external_id": "m-1"}
    assert post_json(api, ADD, make_add_body(messages=[twice, twice])).status_code == 202
    assert len(list_turns(tenant)) == 1


def test_E31_long_queries_are_read_in_part_and_larger_ones_refused(api: APIClient) -> None:
    post_json(api, ADD, make_add_body())
    answer = post_json(api, SEARCH, {"subject": "ana", "query": "Hello again. " * 2000})
    assert answer.json()["query_truncated"] is True
    get_field_error(
        post_json(api, SEARCH, {"subject": "ana", "query": "x" * 1_100_000}), 413, "query"
    )
    get_field_error(post_json(api, SEARCH, {"subject": "ana", "query": "\0 "}), 422, "query")
    assert post_json(api, SEARCH, {"subject": "ana", "query": "Hel\0lo"}).status_code == 200


def database_error(cause: Exception) -> OperationalError:
    error = OperationalError(str(cause))
    error.__cause__ = cause
    return error


@pytest.mark.parametrize(
    ("cause", "status"),
    [
        (psycopg.OperationalError("connection refused"), 503),
        (sqlstates.ConnectionFailure("gone"), 503),
        (sqlstates.AdminShutdown("terminating"), 503),
        (sqlstates.StatementTooComplex("stack depth limit exceeded"), 500),
        (sqlstates.QueryCanceled("statement timeout"), 500),
        (sqlstates.DiskFull("no space"), 507),
        (sqlstates.DeadlockDetected("deadlock detected"), 409),
    ],
)
def test_only_a_lost_connection_is_an_unreachable_database(cause: Exception, status: int) -> None:
    request = Request(RequestFactory().get("/"))
    response = exception_handler(database_error(cause), {"request": request})
    assert (response.status_code if response else 500) == status
