"""Ways to add: rehearsed, at once, many together."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone
from rest_framework.test import APIClient

from memoryhub.dialogues.models import Session, Turn
from memoryhub.pipeline.jobs import runner
from memoryhub.pipeline.models import Job
from memoryhub.tenants.models import Space, Tenant
from memoryhub.tenants.scope import tenant_scope
from notes.models import EvolutionEvent, Fact, IndexEntry, Page

ADD, BATCH = "/api/v1/memories", "/api/v1/memories/batch"
KINDS: tuple[Any, ...] = (Space, Session, Turn, Page, Job, Fact, EvolutionEvent, IndexEntry)


def make_add_body(*texts: str, **more: Any) -> dict[str, Any]:
    messages = [{"content": text, "speaker": "Ana"} for text in texts]
    return {"subject": "ana", "messages": messages, **more}


def post_add(client: APIClient, body: dict[str, Any], path: str = ADD, **headers: str) -> Any:
    return client.post(path, body, format="json", headers=headers)


def count_rows(tenant: Tenant) -> dict[str, int]:
    with tenant_scope(tenant.id):
        return {kind.__name__: kind.objects.count() for kind in KINDS}


def test_a_dry_run_shows_every_decision_and_changes_nothing(api: APIClient, tenant: Tenant) -> None:
    post_add(api, make_add_body("I live in Porto.", wait=True))
    before = count_rows(tenant)
    answer = post_add(api, make_add_body("I moved to Lisbon. I live in Lisbon now.", dry_run=True))
    assert answer.status_code == 200, answer.content
    shown = answer.json()
    assert (shown["dry_run"], shown["new_subject"], shown["new_turns"]) == (True, False, 1)
    moved = next(each for each in shown["decisions"] if each["op"] == "supersede")
    assert "Porto" in moved["target"]["text"]
    assert moved["reason"]
    assert moved["turns"] == [0]
    assert count_rows(tenant) == before


def test_a_dry_run_for_a_new_subject_makes_none(api: APIClient, tenant: Tenant) -> None:
    before = count_rows(tenant)
    shown = post_add(api, make_add_body("I live in Porto.", dry_run=True)).json()
    assert shown["new_subject"] is True
    assert {each["op"] for each in shown["decisions"]} == {"add"}
    assert count_rows(tenant) == before
    assert api.get("/api/v1/spaces").json()["total"] == 0


def test_a_dry_run_of_what_is_known_already_decides_nothing(api: APIClient) -> None:
    body = make_add_body("I live in Porto.", session="s")
    body["messages"][0]["external_id"] = "m1"
    post_add(api, body | {"wait": True})
    shown = post_add(api, body | {"dry_run": True}).json()
    assert (shown["new_turns"], shown["decisions"]) == (0, [])


def test_a_dry_run_of_too_much_is_refused(api: APIClient) -> None:
    answer = post_add(api, make_add_body("word " * 12_000, dry_run=True))
    assert (answer.status_code, answer.json()["code"]) == (413, "too_large")


def test_what_is_waited_for_tells_decision_reason_and_target(api: APIClient) -> None:
    post_add(api, make_add_body("I live in Porto.", wait=True))
    done = post_add(api, make_add_body("I live in Lisbon now.", wait=True)).json()["job"]
    assert done["state"] == "done"
    for decision in done["decisions"]:
        assert {"text", "op", "reason", "fact_id", "target", "turns"} <= set(decision)
    moved = next(each for each in done["decisions"] if each["op"] == "supersede")
    assert moved["target"]["id"]


def test_a_batch_is_stored_all_or_none(api: APIClient, tenant: Tenant) -> None:
    items = [
        make_add_body("Hello there."),
        make_add_body("Good day.", session="s") | {"subject": "rui"},
    ]
    before = count_rows(tenant)
    wrong = post_add(api, {"items": [*items, make_add_body("")]}, BATCH)
    assert wrong.status_code == 422
    assert count_rows(tenant) == before
    answer = post_add(api, {"items": items}, BATCH, **{"Idempotency-Key": "b"})
    assert answer.status_code == 202, answer.content
    told = answer.json()["items"]
    assert [each["space"]["subject"] for each in told] == ["ana", "rui"]
    assert all(each["job_id"] for each in told)
    again = post_add(api, {"items": items}, BATCH, **{"Idempotency-Key": "b"})
    assert again["Idempotent-Replayed"] == "true"
    assert again.json() == answer.json()


@pytest.mark.parametrize(
    ("items", "field"),
    [
        ([], "items"),
        ([make_add_body("x")] * 101, "items"),
        ([make_add_body("x", wait=True)], "items[0].wait"),
        ([make_add_body("x"), make_add_body("x", dry_run=True)], "items[1].dry_run"),
        ([make_add_body(*["x"] * 300)] * 2, "items"),
        ([{"subject": "ana"}], "items[0].messages"),
        ("x", "items"),
    ],
    ids=range(7),
)
def test_a_bad_batch_is_refused_whole(
    api: APIClient, tenant: Tenant, items: Any, field: str
) -> None:
    answer = post_add(api, {"items": items}, BATCH)
    assert answer.status_code == 422, answer.content
    assert answer.json()["errors"][0]["field"] == field
    assert count_rows(tenant)["Turn"] == 0


def test_what_is_read_later_tells_decision_reason_and_target_of_every_candidate(
    api: APIClient, tenant: Tenant
) -> None:
    post_add(api, make_add_body("I live in Porto.", wait=True))
    told = post_add(api, make_add_body("I live in Lisbon now. I like tea.")).json()
    assert told["job"]["decisions"] == []
    with tenant_scope(tenant.id):
        space = Space.objects.get()
    runner.drain_space(tenant.id, space.id, timezone.now() + timedelta(hours=1))
    decisions = api.get(f"/api/v1/jobs/{told['job_id']}").json()["decisions"]
    assert {each["op"] for each in decisions} >= {"supersede", "add"}
    for each in decisions:
        assert each["reason"]
        assert each["turns"]
        assert (each["target"] is None) == (each["op"] == "add")
    moved = next(each for each in decisions if each["op"] == "supersede")
    assert "Porto" in moved["target"]["text"]
