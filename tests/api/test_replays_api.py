"""Replays over the API: begun on golden questions, looked at, called off, decided."""

from __future__ import annotations

from typing import Any

import pytest
from rest_framework.test import APIClient

from memoryhub.golden.models import ReplayRun
from memoryhub.pipeline.models import Job
from memoryhub.tenants.models import Space, Tenant
from memoryhub.tenants.scope import tenant_scope
from tests.support.factories import make_fact, make_question, make_replay, make_space

REPLAYS = "/api/v1/replays"


@pytest.fixture
def space(tenant: Tenant) -> Space:
    with tenant_scope(tenant.id):
        space = make_space(tenant, "ana")
        make_question(space, "Where?", make_fact(space, "Ana lives in Porto"))
    return space


@pytest.fixture
def done(space: Space, tenant: Tenant) -> ReplayRun:
    with tenant_scope(tenant.id):
        question = make_question(space, "What?", make_fact(space, "Ana plays chess"))
        return make_replay(question, space=space, overrides={"recall.k_min": 6})


def post_replay(client: APIClient, **body: Any) -> Any:
    return client.post(f"{REPLAYS}/new", {"overrides": {"recall.k_min": 8}} | body, format="json")


@pytest.mark.parametrize("subject", ["ana", ""])
def test_a_replay_is_planned_and_called_off(
    api: APIClient, tenant: Tenant, space: Space, subject: str
) -> None:
    made = post_replay(api, subject=subject).json()["replay"]
    assert (made["state"], made["subject"]) == ("running", subject or None)
    assert made["candidate"]["switches"] == {"recall.k_min": 8}
    with tenant_scope(tenant.id):
        assert Job.objects.filter(step=Job.Step.REPLAY).count() == 1
    shown = api.get(f"{REPLAYS}/{made['id']}").json()
    assert (shown["answered"], shown["wanted"]) == (0, 2)
    ended = api.post(f"{REPLAYS}/{made['id']}/cancel").json()["replay"]
    assert ended["state"] == "cancelled"
    again = api.post(f"{REPLAYS}/{made['id']}/cancel")
    assert again.json()["code"] == "replay_state"


def test_a_finished_replay_tells_both_sides(api: APIClient, done: ReplayRun) -> None:
    shown = api.get(f"{REPLAYS}/{done.id}").json()
    assert shown["verdicts"] == {"better": 0, "worse": 1, "same": 0}
    assert shown["sums"]["current"]["nearness"] == 1.0
    results = api.get(f"{REPLAYS}/{done.id}/results").json()["items"]
    ranks = {each["side"]: each["ranks"] for each in results}
    assert ranks == {"current": [1], "candidate": [None]}
    assert {each["text"] for each in results} == {"What?"}
    # Nothing of it ends: there is no status to ask for.
    assert api.get(f"{REPLAYS}/{done.id}/results", {"status": "all"}).status_code == 422
    narrowed = api.get(f"{REPLAYS}/{done.id}/results", {"filter": '{"side": "current"}'}).json()
    assert narrowed["total"] == 1


def test_what_is_decided_is_in_force(tenant: Tenant, client_of: Any, done: ReplayRun) -> None:
    admin = client_of(tenant, "admin")
    answer = admin.post(f"{REPLAYS}/{done.id}/decide", {"decision": "live"}, format="json")
    assert answer.json()["replay"]["decision"] == "live"
    assert admin.get("/api/v1/spaces/ana/policy").json()["overrides"] == {"recall.k_min": 6}
    again = admin.post(f"{REPLAYS}/{done.id}/decide", {"decision": "dropped"}, format="json")
    assert again.json()["code"] == "replay_state"


def test_what_cannot_be_tried_is_refused(api: APIClient, space: Space) -> None:
    assert post_replay(api, overrides={}).json()["code"] == "no_change"
    assert post_replay(api, overrides=None).json()["code"] == "no_change"
    assert post_replay(api, tag="none of these").json()["errors"][0]["field"] == "tag"
    assert (
        post_replay(api, overrides={"nosuch.one": 1}).json()["errors"][0]["field"] == "nosuch.one"
    )
    assert post_replay(api, overrides=None, engine="llm").json()["errors"][0]["field"] == "engine"
    assert post_replay(api, subject="nobody").status_code == 404


def test_a_key_of_one_subject_tries_nothing_on_the_whole_tenant(
    tenant: Tenant, client_of: Any, space: Space
) -> None:
    bound = client_of(tenant, "write", space=space)
    assert post_replay(bound).status_code == 404
    assert post_replay(bound, subject="ana").status_code == 200
    assert bound.get(REPLAYS).json()["total"] == 1
