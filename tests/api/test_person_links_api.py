"""Links to a person's own page, and the pause, by the API."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from rest_framework.test import APIClient

from memoryhub.dialogues.models import Turn
from memoryhub.tenants.models import Space, Tenant
from memoryhub.tenants.scope import tenant_scope
from tests.support.factories import make_fact, make_space, make_turns

LINKS = "/api/v1/spaces/ana/person-links"
SAID = {"subject": "ana", "messages": [{"content": "I moved to Porto."}]}


@pytest.fixture
def space(tenant: Tenant) -> Space:
    with tenant_scope(tenant.id):
        space = make_space(tenant, "ana")
        (turn,) = make_turns(space, "I live in Rome.")
        make_fact(space, "Ana lives in Rome", turn)
    return space


@pytest.fixture
def admin(tenant: Tenant, client_of: Any) -> APIClient:
    made: APIClient = client_of(tenant, "admin")
    return made


def test_a_link_opens_the_page_until_it_is_closed(admin: APIClient, space: Space) -> None:
    made = admin.post(f"{LINKS}/new", {"note": "by mail"}, format="json")
    assert made.status_code == 200
    assert made["Cache-Control"] == "no-store"
    link = made.json()
    assert link["url"].startswith("http://testserver/me/open#")
    browser = Client()
    browser.post(reverse("me-open"), {"token": link["url"]})
    assert "Ana lives in Rome" in browser.get(reverse("me")).content.decode()
    (listed,) = admin.get(LINKS).json()["items"]
    assert listed["note"] == "by mail"
    assert listed["last_used_at"]
    assert "url" not in listed
    closed = admin.post(f"{LINKS}/{link['id']}/revoke", {}, format="json").json()
    assert closed["revoked_at"]
    assert browser.get(reverse("me")).status_code == 404


def test_a_repeated_request_makes_no_second_link_and_tells_no_address(
    admin: APIClient, space: Space
) -> None:
    headers = {"Idempotency-Key": "once"}
    first = admin.post(f"{LINKS}/new", {}, format="json", headers=headers).json()
    again = admin.post(f"{LINKS}/new", {}, format="json", headers=headers).json()
    assert again["id"] == first["id"]
    assert again["url"] is None
    assert admin.get(LINKS).json()["total"] == 1


@pytest.mark.parametrize("days", [-1, 0, 91, 36500])
def test_a_link_lasts_ninety_days_at_most(admin: APIClient, space: Space, days: int) -> None:
    until = (timezone.now() + timedelta(days=days)).isoformat()
    answer = admin.post(f"{LINKS}/new", {"expires_at": until}, format="json")
    assert answer.status_code == 422
    assert answer.json()["errors"][0]["field"] == "expires_at"
    assert admin.get(LINKS).json()["total"] == 0


def test_what_is_said_while_paused_is_refused_and_not_kept(
    api: APIClient, space: Space, tenant: Tenant
) -> None:
    paused = api.post("/api/v1/spaces/ana/pause", {}, format="json").json()["space"]
    assert paused["paused_at"]
    verbatim = {"user_id": "ana", "infer": False, "messages": SAID["messages"]}
    for path, body in (("memories", SAID), ("memories/batch", {"items": [SAID]})):
        answer = api.post(f"/api/v1/{path}", body, format="json")
        assert answer.status_code == 409
        assert answer.json()["code"] == "memory_paused"
    assert api.post("/v1/memories/", verbatim, format="json").status_code == 409
    tool = {"tool": "core_append", "arguments": {"label": "human", "text": "In Porto."}}
    used = api.post("/api/v1/spaces/ana/tools", tool, format="json").json()
    assert "memory is paused" in str(used)
    with tenant_scope(tenant.id):
        assert not Turn.objects.filter(text__contains="Porto").exists()
    found = api.post("/api/v1/search", {"subject": "ana", "query": "Rome"}, format="json").json()
    assert found["items"]  # what is remembered is still used
    again = api.post("/api/v1/spaces/ana/pause", {"paused": False}, format="json").json()["space"]
    assert again["paused_at"] is None
    assert api.post("/api/v1/memories", SAID, format="json").status_code == 202
