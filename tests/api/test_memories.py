from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import pytest
from django.utils import timezone
from rest_framework.test import APIClient

from memoryhub.dialogues.models import Turn
from memoryhub.pipeline.erasure import erase_targets
from memoryhub.pipeline.erasure.erase_targets import ErasureTarget
from memoryhub.pipeline.models import Job
from memoryhub.tenants.models import Space, Tenant
from memoryhub.tenants.scope import tenant_scope
from memoryhub.tenants.services import ensure_space
from notes.models import Fact, Page

URL = "/api/v1/memories"


def make_add_body(*contents: str, **more: Any) -> dict[str, Any]:
    messages = [{"role": "user", "content": text, "speaker": "Ana"} for text in contents]
    return {"subject": "ana", "messages": messages, **more}


def list_turns(tenant: Tenant) -> list[Turn]:
    with tenant_scope(tenant.id):
        return list(Turn.objects.order_by("seq"))


def test_add_answers_with_the_job_and_derives_nothing_yet(api: APIClient, tenant: Tenant) -> None:
    answer = api.post(URL, make_add_body("I moved to Porto."), format="json")
    assert answer.status_code == 202
    assert answer.json()["job"]["state"] == "queued"
    with tenant_scope(tenant.id):
        assert Fact.objects.count() == 0


def test_waiting_answers_with_the_decisions(api: APIClient) -> None:
    answer = api.post(URL, make_add_body("I moved to Porto.", wait=True), format="json")
    assert answer.status_code == 200
    (decision,) = answer.json()["job"]["decisions"]
    assert decision["op"] == "add"
    assert "Porto" in decision["text"]
    assert decision["reason"]


def test_a_second_residence_supersedes_the_first(api: APIClient) -> None:
    api.post(URL, make_add_body("I live in Porto.", wait=True), format="json")
    later = make_add_body(wait=True)
    later["messages"] = [
        {"content": "I moved to Braga.", "speaker": "Ana", "timestamp": "2030-01-01T10:00:00Z"}
    ]
    (decision,) = api.post(URL, later, format="json").json()["job"]["decisions"]
    assert decision["op"] == "supersede"
    assert "Porto" in decision["target"]["text"]


@pytest.mark.parametrize("empty", ["", "   ", "\u0000", "\n\t"])
def test_E1_empty_text_is_refused_and_nothing_is_stored(
    api: APIClient, tenant: Tenant, empty: str
) -> None:
    answer = api.post(URL, make_add_body("Fine.", empty), format="json")
    assert answer.status_code == 422
    assert answer["Content-Type"] == "application/problem+json"
    assert answer.json()["errors"][0]["field"] == "messages[1].content"
    assert list_turns(tenant) == []


def test_E2_small_talk_is_a_turn_without_facts(api: APIClient, tenant: Tenant) -> None:
    answer = api.post(URL, make_add_body("ok 👍", wait=True), format="json")
    assert answer.json()["job"]["state"] == "done"
    assert len(list_turns(tenant)) == 1
    with tenant_scope(tenant.id):
        assert Fact.objects.count() == 0


def test_E3_nuls_are_stripped_and_text_is_composed(api: APIClient, tenant: Tenant) -> None:
    api.post(URL, make_add_body("\u0000Cafe\u0301"), format="json")
    assert list_turns(tenant)[0].text == "Caf\u00e9"


def test_E4_X10_two_megabytes_are_too_large(api: APIClient, tenant: Tenant) -> None:
    answer = api.post(URL, make_add_body("a" * 2_000_000), format="json")
    assert answer.status_code == 413
    assert answer.json()["code"] == "too_large"
    assert list_turns(tenant) == []


@pytest.mark.parametrize("text", ["\u0000abc", "abc\u0000", "a\u0000\u0000bc"])
def test_X10_what_is_left_without_nuls_is_stored(api: APIClient, tenant: Tenant, text: str) -> None:
    assert api.post(URL, make_add_body(text), format="json").status_code == 202
    assert list_turns(tenant)[0].text == "abc"


def test_X10_an_empty_text_is_refused(api: APIClient, tenant: Tenant) -> None:
    assert api.post(URL, make_add_body(""), format="json").status_code == 422
    assert list_turns(tenant) == []


def test_X10_nine_hundred_kilobytes_are_accepted_whole(api: APIClient, tenant: Tenant) -> None:
    text = "The weather was calm. " * 41_000
    assert api.post(URL, make_add_body(text), format="json").status_code == 202
    assert list_turns(tenant)[0].text == text


def test_E6_the_same_external_id_is_the_same_turn(api: APIClient, tenant: Tenant) -> None:
    body = make_add_body()
    body["messages"] = [{"content": "Hello there.", "external_id": "m-1"}]
    first = api.post(URL, body, format="json")
    again = api.post(URL, body, format="json")
    assert again.status_code == 200
    assert again.json()["turns"][0]["id"] == first.json()["turns"][0]["id"]
    assert again.json()["turns"][0]["duplicate"] is True
    assert again.json()["job"]["id"] == first.json()["job"]["id"]
    with tenant_scope(tenant.id):
        assert Job.objects.count() == 1


def test_E6_without_an_id_text_and_time_are_the_identity(api: APIClient, tenant: Tenant) -> None:
    body = make_add_body()
    body["messages"] = [{"content": "Hello there.", "timestamp": 1767225600}]
    api.post(URL, body, format="json")
    assert api.post(URL, body, format="json").status_code == 200
    assert len(list_turns(tenant)) == 1


def test_E7_said_again_is_a_new_turn_and_one_fact(api: APIClient, tenant: Tenant) -> None:
    for day in ("2026-01-01", "2026-01-20"):
        body = make_add_body(wait=True)
        body["messages"] = [
            {"content": "I have a dog called Bolt.", "speaker": "Ana", "timestamp": f"{day}T10:00Z"}
        ]
        api.post(URL, body, format="json")
    assert len(list_turns(tenant)) == 2
    with tenant_scope(tenant.id):
        facts = list(Fact.objects.all())
    assert {fact.mention_count for fact in facts} == {2}


def test_E8_an_older_statement_becomes_a_closed_interval(api: APIClient, tenant: Tenant) -> None:
    for when, city in (("2026-05-01", "Porto"), ("2025-02-01", "Faro")):
        body = make_add_body(wait=True)
        body["messages"] = [
            {"content": f"I live in {city}.", "speaker": "Ana", "timestamp": f"{when}T10:00Z"}
        ]
        api.post(URL, body, format="json")
    with tenant_scope(tenant.id):
        faro = Fact.objects.get(object__icontains="faro")
        porto = Fact.objects.get(object__icontains="porto")
    assert porto.valid_to is None
    assert faro.valid_to == porto.valid_from


@pytest.mark.parametrize(
    ("timestamp", "flag"),
    [
        (None, "missing"),
        ("2026-01-01T10:00:00", "naive"),
        ("2199-01-01T10:00:00Z", "future"),
        ("2026-01-01T10:00:00+02:00", ""),
        (1767225600, ""),
        (1767225600.5, ""),
        ("1767225600", ""),
        (1767225600000, ""),
    ],
)
def test_E9_what_had_to_be_assumed_about_the_time_is_flagged(
    api: APIClient, timestamp: object, flag: str
) -> None:
    body = make_add_body()
    body["messages"] = [{"content": "Hello there.", "timestamp": timestamp}]
    answer = api.post(URL, body, format="json")
    assert answer.status_code == 202, answer.json()
    assert answer.json()["turns"][0]["time_flag"] == flag


def test_E9_a_naive_time_is_of_the_space_and_a_missing_one_is_now(
    api: APIClient, tenant: Tenant
) -> None:
    with tenant_scope(tenant.id):
        space = ensure_space(tenant.id, "ana")
        space.timezone = "Asia/Tokyo"
        space.save()
    body = make_add_body(wait=True)
    texts = {"I have a parrot.": "2026-01-01T12:00:00", "I have a boat.": "2199-01-01T00:00:00Z"}
    body["messages"] = [{"content": text, "timestamp": at} for text, at in texts.items()]
    body["messages"].append({"content": "I have a kite."})
    before = timezone.now()
    assert api.post(URL, body, format="json").status_code == 200
    naive, future, missing = list_turns(tenant)
    assert naive.occurred_at == datetime(2026, 1, 1, 3, tzinfo=UTC)
    assert future.occurred_at == datetime(2199, 1, 1, tzinfo=UTC)
    assert before <= missing.occurred_at <= timezone.now()


def test_E11_what_is_not_read_yet_is_counted_and_served(api: APIClient) -> None:
    api.post(URL, make_add_body("My zeppelin is moored in Faro."), format="json")
    query = {"subject": "ana", "query": "zeppelin"}
    assert api.post("/api/v1/search", query, format="json").json()["pending_turns"] == 1


@pytest.mark.parametrize(
    "timestamp",
    [
        *("yesterday", "2026-13-01", True, [], "9" * 400, "-9e999"),
        *("9999-12-31T23:59:59-01:00", "0001-01-01T00:00:00+01:00", "2201-01-01T00:00:00"),
        *(-62135596800, 1e300, "-12345678", "20260512", "2026"),
    ],
)
def test_a_time_that_is_none_is_refused(api: APIClient, timestamp: object) -> None:
    body = make_add_body()
    body["messages"] = [{"content": "Hello there.", "timestamp": timestamp}]
    answer = api.post(URL, body, format="json")
    assert answer.status_code == 422
    assert answer.json()["errors"][0]["field"] == "messages[0].timestamp"


def test_any_offset_is_stored_in_utc_and_found_again(api: APIClient, tenant: Tenant) -> None:
    body = make_add_body()
    body["messages"] = [{"content": "Hello there.", "timestamp": "2026-01-01T10:00:00-23:59"}]
    answers = [api.post(URL, body, format="json") for _ in range(2)]
    assert [answer.status_code for answer in answers] == [202, 200]
    assert [answer.json()["turns"][0]["duplicate"] for answer in answers] == [False, True]
    (turn,) = list_turns(tenant)
    assert turn.occurred_at == datetime(2026, 1, 2, 9, 59, tzinfo=UTC)


def test_a_naive_time_is_checked_where_it_is(api: APIClient, tenant: Tenant) -> None:
    with tenant_scope(tenant.id):
        space = ensure_space(tenant.id, "ana")
        space.timezone = "America/New_York"
        space.save()
    body = make_add_body()
    body["messages"] = [{"content": "Hello there.", "timestamp": "2200-12-31T23:00:00"}]
    assert api.post(URL, body, format="json").status_code == 422
    search = {"subject": "ana", "query": "Hello", "as_of": "2200-12-31T23:00:00"}
    answer = api.post("/api/v1/search", search, format="json")
    assert answer.status_code == 422
    assert answer.json()["errors"][0]["field"] == "as_of"
    assert list_turns(tenant) == []


def test_a_point_in_the_past_has_the_zone_of_the_space(api: APIClient, tenant: Tenant) -> None:
    with tenant_scope(tenant.id):
        space = ensure_space(tenant.id, "ana")
        space.timezone = "Asia/Tokyo"
        space.save()
    body = make_add_body(wait=True)
    body["messages"] = [{"content": "I have a parrot.", "timestamp": "2026-01-01T12:00:00"}]
    api.post(URL, body, format="json")
    found = {}
    for as_of in ("2026-01-01T11:00:00", "2026-01-01T13:00:00", "2026-01-01T13:00:00Z"):
        asked = {"subject": "ana", "query": "parrot", "kinds": ["turn"], "as_of": as_of}
        answer = api.post("/api/v1/search", asked, format="json")
        found[as_of] = len(answer.json()["items"])
    assert list(found.values()) == [0, 1, 1]


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"subject": ""}, "subject"),
        ({"subject": "x" * 201}, "subject"),
        ({"subject": None}, "subject"),
        ({"messages": []}, "messages"),
        ({"messages": "hello"}, "messages"),
        ({"messages": [{"content": 5}]}, "messages[0].content"),
        ({"messages": [{"role": "robot", "content": "Hi"}]}, "messages[0].role"),
        ({"messages": [{"content": "Hi", "external_id": "x" * 201}]}, "messages[0].external_id"),
        ({"session": "x" * 201}, "session"),
        ({"metadata": []}, "metadata"),
    ],
)
def test_bad_input_names_its_field(
    api: APIClient, tenant: Tenant, change: dict[str, Any], field: str
) -> None:
    answer = api.post(URL, make_add_body("Hello there.") | change, format="json")
    assert answer.status_code == 422, answer.json()
    assert field in {error["field"] for error in answer.json()["errors"]}
    assert list_turns(tenant) == []


@pytest.mark.parametrize("body", [b"{", b"[]", b"NaN", b'"x"', b"\xff", b"[" * 100_000])
def test_what_is_not_a_json_object_is_refused(api: APIClient, body: bytes) -> None:
    answer = api.post(URL, body, content_type="application/json")
    assert answer.status_code == 400
    assert answer["Content-Type"] == "application/problem+json"


def test_an_idempotency_key_makes_a_write_happen_once(api: APIClient, tenant: Tenant) -> None:
    headers = {"Idempotency-Key": "k-1"}
    first = api.post(URL, make_add_body("Hello there."), format="json", headers=headers)
    again = api.post(URL, make_add_body("Hello there."), format="json", headers=headers)
    assert again.json()["turns"] == first.json()["turns"]
    assert again["Idempotent-Replayed"] == "true"
    assert len(list_turns(tenant)) == 1


def test_an_idempotency_key_is_not_for_another_body(api: APIClient) -> None:
    headers = {"Idempotency-Key": "k-1"}
    api.post(URL, make_add_body("Hello there."), format="json", headers=headers)
    answer = api.post(URL, make_add_body("Something else."), format="json", headers=headers)
    assert answer.status_code == 409
    assert answer.json()["code"] == "idempotency_key_reused"


def test_an_erasure_forgets_what_was_answered_under_an_idempotency_key(
    api: APIClient, tenant: Tenant
) -> None:
    headers = {"Idempotency-Key": "k-1"}
    first = api.post(URL, make_add_body("Hello there."), format="json", headers=headers)
    (turn,) = list_turns(tenant)
    with tenant_scope(tenant.id):
        space = Space.objects.get(id=turn.space_id)
    erase_targets.execute_erasure(space, ErasureTarget("turns", (turn.id,)), "eva", timezone.now())
    again = api.post(URL, make_add_body("Hello there."), format="json", headers=headers)
    assert again["Idempotent-Replayed"] == "true"
    assert first.json()["turns"] != []
    assert again.json()["turns"] == []
    assert len(list_turns(tenant)) == 1  # the key still counts as used: nothing was said again


def test_turns_form_pages_by_who_speaks(api: APIClient, tenant: Tenant) -> None:
    people = ["Ana", "Hub", "Ana", "Ana", "Hub", "Hub"]
    body = make_add_body()
    body["messages"] = [{"content": f"Words {n}.", "speaker": who} for n, who in enumerate(people)]
    api.post(URL, body, format="json")
    with tenant_scope(tenant.id):
        pages = [(p.first_seq, p.last_seq, p.kind) for p in Page.objects.all()]
    assert pages == [(1, 2, "exchange"), (3, 3, "one_sided"), (4, 6, "exchange")]


def test_a_page_grows_when_the_reply_comes_later(api: APIClient, tenant: Tenant) -> None:
    for who in ("Ana", "Hub"):
        body = make_add_body()
        body["messages"] = [{"content": f"{who} speaks.", "speaker": who}]
        api.post(URL, body, format="json")
    with tenant_scope(tenant.id):
        assert [(p.first_seq, p.last_seq) for p in Page.objects.all()] == [(1, 2)]


def test_a_long_silence_begins_another_unnamed_session(api: APIClient, tenant: Tenant) -> None:
    for when in ("2026-01-01T10:00Z", "2026-01-01T10:20Z", "2026-01-01T12:00Z"):
        body = make_add_body()
        body["messages"] = [{"content": "Hello there.", "timestamp": when}]
        api.post(URL, body, format="json")
    with tenant_scope(tenant.id):
        assert [t.session.ordinal for t in Turn.objects.order_by("seq")] == [1, 1, 2]


def test_adding_takes_few_statements(
    api: APIClient, one_long_minute: None, django_assert_max_num_queries: Any
) -> None:
    api.post(URL, make_add_body("Hello there."), format="json")
    with django_assert_max_num_queries(40):
        api.post(URL, make_add_body(*(f"Words number {n}." for n in range(50))), format="json")


def test_answers_are_json_with_a_request_id(api: APIClient) -> None:
    answer = api.post(
        URL, make_add_body("Hello there."), format="json", headers={"X-Request-Id": "abc"}
    )
    assert answer["X-Request-Id"] == "abc"
    assert json.loads(answer.content)["space"]["subject"] == "ana"


def test_an_unforeseen_error_is_a_problem_that_tells_nothing(
    api: APIClient, tenant: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*args: Any) -> None:
        raise RuntimeError("secret detail")

    monkeypatch.setattr("api.v1.memories.ingest_messages", broken)
    answer = api.post(URL, make_add_body("Hello there."), format="json")
    assert answer.status_code == 500
    assert answer["Content-Type"] == "application/problem+json"
    assert answer.json()["code"] == "internal_error"
    assert "secret" not in answer.content.decode()
    assert list_turns(tenant) == []
