"""What was asked, what was changed, and work that is called off, as the API tells and does it."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone
from rest_framework.test import APIClient

from memoryhub.dialogues.models import Turn
from memoryhub.pipeline.models import Job
from memoryhub.policies.services import set_policy
from memoryhub.tenants.models import ApiKey, Tenant
from memoryhub.tenants.scope import tenant_scope
from memoryhub.tenants.services import create_key, revoke_key
from tests.api.conftest import Client
from tests.support.factories import (
    MAY,
    make_event,
    make_job,
    make_receipt,
    make_request,
    make_space,
    make_turns,
)

REQUESTS, AUDIT, JOBS = "/api/v1/requests", "/api/v1/audit", "/api/v1/jobs"


@pytest.fixture
def admin(tenant: Tenant, client_of: Client) -> APIClient:
    return client_of(tenant, "admin")


def list_column(client: APIClient, path: str, column: str, **asked: Any) -> list[Any]:
    """A column of a list's page."""
    if "filter" in asked:
        asked["filter"] = json.dumps(asked["filter"])
    answer = client.get(path, asked)
    assert answer.status_code == 200, answer.content
    return [row[column] for row in answer.json()["items"]]


# --- the request log ---


def test_a_request_tells_its_route_how_it_ended_and_with_which_key(
    tenant: Tenant, admin: APIClient
) -> None:
    key, _ = create_key(tenant, "support bot", ["read"])
    with tenant_scope(tenant.id):
        made = make_request(
            tenant, key_id=key.id, route="api/v1/search", status=422, error="invalid"
        )
        make_request(tenant, at=MAY)
    page = admin.get(f"{REQUESTS}?limit=1").json()
    assert page["total"] == 2
    assert page["items"] == [
        {
            "id": str(made.id),
            "at": made.at.isoformat().replace("+00:00", "Z"),
            "method": "GET",
            "route": "api/v1/search",
            "status": 422,
            "milliseconds": 12.5,
            "error": "invalid",
            "request_id": made.request_id,
            "key_id": str(key.id),
            "key": "support bot",
        }
    ]
    assert list_column(admin, REQUESTS, "key", cursor=page["next"]) == [None], "its key is gone"


def test_requests_are_found_by_all_that_the_console_finds_them_by(
    tenant: Tenant, admin: APIClient
) -> None:
    with tenant_scope(tenant.id):
        make_request(tenant, route="slow", milliseconds=1234.5)
        make_request(tenant, route="refused", status=404, error="not_found")
        make_request(tenant, route="failed", status=500, request_id="deadbeef")
        make_request(tenant, route="old", at=timezone.now() - timedelta(days=3))
    day = (timezone.now() - timedelta(days=1)).isoformat()
    for narrow, routes in (
        ({"at": {"gte": day}}, {"slow", "refused", "failed"}),
        ({"milliseconds": {"gt": 1000}}, {"slow"}),
        ({"status": {"gte": 500}}, {"failed"}),
        ({"AND": [{"status": {"gte": 400}}, {"NOT": {"error": "not_found"}}]}, {"failed"}),
        ({"OR": [{"request_id": "deadbeef"}, {"route": {"icontains": "OLD"}}]}, {"failed", "old"}),
        ({"key": None}, {"slow", "refused", "failed", "old"}),
    ):
        assert set(list_column(admin, REQUESTS, "route", filter=narrow)) == routes, narrow


def test_an_entry_is_of_the_request_that_was_answered(tenant: Tenant, admin: APIClient) -> None:
    from api.core import request_log

    asked = admin.get("/api/v1/spaces")
    request_log.flush_entries()
    (row,) = admin.get(REQUESTS).json()["items"]
    assert (row["route"], row["request_id"]) == ("api/v1/spaces", asked["X-Request-Id"])
    with tenant_scope(tenant.id):
        assert row["key"] == ApiKey.objects.get().name


# --- the audit ---


def test_the_audit_tells_of_all_that_people_and_keys_change(
    tenant: Tenant, admin: APIClient
) -> None:
    with tenant_scope(tenant.id):
        space = make_space(tenant, "ana")
        made = make_event(space, kind="manual", actor="ida", reason="put right")
        make_event(space, reason="read")
        make_receipt(tenant, actor="ida", reason="asked for")
    set_policy(tenant.id, preset="mem0", actor="ida", reason="cheaper")
    key, _ = create_key(tenant, "bot", ["read"], actor="ida")
    revoke_key(key, timezone.now(), actor="eve")
    rows = admin.get(f"{AUDIT}?filter={json.dumps({'actor': ['ida', 'eve']})}").json()
    assert rows["total"] == 5
    assert {(row["area"], row["action"], row["actor"]) for row in rows["items"]} == {
        ("memory", "manual", "ida"),
        ("erasure", "erased", "ida"),
        ("policy", "policy", "ida"),
        ("key", "key.made", "ida"),
        ("key", "key.revoked", "eve"),
    }
    (memory,) = [row for row in rows["items"] if row["area"] == "memory"]
    assert (memory["id"], memory["subject"], memory["reason"]) == (str(made.id), "ana", "put right")


def test_the_audit_is_narrowed_turned_and_read_page_by_page(
    tenant: Tenant, admin: APIClient
) -> None:
    with tenant_scope(tenant.id):
        spaces = [make_space(tenant, name) for name in ("ana", "rui")]
        for day in range(6):
            at = MAY + timedelta(days=day)
            make_event(spaces[day % 2], kind="undo", reason=f"day {day}", created_at=at)
        make_receipt(tenant, reason="day 6", created_at=MAY + timedelta(days=6))
    mine = {"reason": {"contains": "day"}}
    assert list_column(admin, AUDIT, "reason", filter={**mine, "area": "erasure"}) == ["day 6"]
    assert list_column(admin, AUDIT, "reason", filter={"subject": "ana"}) == [
        "day 4",
        "day 2",
        "day 0",
    ]
    of_rui = {"subject": {"icontains": "RU"}, **mine}
    assert list_column(admin, AUDIT, "reason", filter=of_rui) == ["day 5", "day 3", "day 1"]
    others = {"NOT": {"subject": "ana"}, **mine}
    assert list_column(admin, AUDIT, "reason", filter=others) == [
        "day 6",
        "day 5",
        "day 3",
        "day 1",
    ]
    assert list_column(admin, AUDIT, "reason", filter={**mine, "subject": None}) == ["day 6"]
    backwards = list_column(admin, AUDIT, "reason", filter=mine, reverse="true")
    assert backwards == [f"day {n}" for n in range(7)]
    seen: list[str] = []
    asked = {"limit": "3", "fields": "reason", "filter": json.dumps(mine)}
    while asked:
        page = admin.get(AUDIT, asked).json()
        assert page["total"] == 7
        assert all(set(row) == {"reason"} for row in page["items"])
        seen += [row["reason"] for row in page["items"]]
        asked = {**asked, "cursor": page["next"]} if page["next"] else {}
    assert seen == [f"day {n}" for n in range(6, -1, -1)]


# --- work that is called off ---


def test_a_job_is_cancelled_once_for_a_reason_and_taken_up_again(
    tenant: Tenant, client_of: Client
) -> None:
    api = client_of(tenant, "write")
    with tenant_scope(tenant.id):
        space = make_space(tenant, "ana")
        (turn,) = make_turns(space, "I play chess.")
        job = make_job(space, "queued", first_seq=turn.seq, last_seq=turn.seq)
        actor = f"key mh_{ApiKey.objects.get().prefix}_…"
    path, once = f"{JOBS}/{job.id}/cancel", {"Idempotency-Key": "stop"}
    answer = api.post(path, {"reason": "sent by mistake"}, format="json", headers=once)
    assert answer.status_code == 200
    told = answer.json()
    assert (told["id"], told["state"]) == (str(job.id), "cancelled")
    assert told["error"] == f"Cancelled by {actor}: sent by mistake"
    again = api.post(path, {"reason": "sent by mistake"}, format="json", headers=once)
    assert (again.json(), again["Idempotent-Replayed"]) == (told, "true")
    refused = api.post(path, {}, format="json")
    assert (refused.status_code, refused.json()["code"]) == (409, "job_ended")
    with tenant_scope(tenant.id):
        assert Turn.objects.get().state == "failed"
    assert api.post(f"{JOBS}/{job.id}/retry", {}, format="json").json()["state"] == "queued"
    with tenant_scope(tenant.id):
        assert Turn.objects.get().state == "pending"


@pytest.mark.parametrize(
    ("step", "state", "code"),
    [("rederive", "queued", "job_needed"), ("derive", "done", "job_ended")],
)
def test_what_others_wait_for_and_what_is_over_is_not_cancelled(
    tenant: Tenant, api: APIClient, step: str, state: str, code: str
) -> None:
    with tenant_scope(tenant.id):
        job = make_job(make_space(tenant, "ana"), state, step=step)
    answer = api.post(f"{JOBS}/{job.id}/cancel", {}, format="json")
    assert (answer.status_code, answer.json()["code"]) == (409, code)
    with tenant_scope(tenant.id):
        assert Job.objects.get().state == state


@pytest.mark.parametrize("body", [{"reason": "x" * 501}, {"reason": ["a"]}, {"reason": None}])
def test_a_reason_that_is_none_is_refused(
    tenant: Tenant, api: APIClient, body: dict[str, Any]
) -> None:
    with tenant_scope(tenant.id):
        job = make_job(make_space(tenant, "ana"), "queued")
    answer = api.post(f"{JOBS}/{job.id}/cancel", body, format="json")
    assert answer.status_code == 422
    assert answer.json()["errors"][0]["field"] == "reason"
    with tenant_scope(tenant.id):
        assert Job.objects.get().state == "queued"
