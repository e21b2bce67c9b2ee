"""Every route of mem0's clients: who may call it, and what a stranger gets."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

import pytest
from django.urls import URLPattern
from rest_framework.test import APIClient

from api.mem0.urls import urlpatterns
from memoryhub.pipeline.models import Job
from memoryhub.tenants.models import Tenant
from memoryhub.tenants.scope import tenant_scope
from memoryhub.tenants.services import create_tenant, ensure_space
from tests.support.factories import make_webhook

# Route name -> method -> scope. A new route fails until it is listed here.
ROUTES: dict[str, dict[str, str]] = {
    "ping": {"GET": "read"},
    "memories-1": {"GET": "read", "POST": "write", "DELETE": "write"},
    "search-1": {"POST": "read"},
    "list-2": {"POST": "read"},
    "search-2": {"POST": "read"},
    "add": {"POST": "write"},
    "list": {"POST": "read"},
    "search": {"POST": "read"},
    "memory": {"GET": "read", "PUT": "write", "DELETE": "write"},
    "history": {"GET": "read"},
    "batch": {"PUT": "write", "DELETE": "write"},
    "events": {"GET": "read"},
    "event": {"GET": "read"},
    "entities": {"GET": "read"},
    "entity-1": {"DELETE": "admin"},
    "entity": {"DELETE": "admin"},
    "exports": {"POST": "read"},
    "export": {"POST": "read"},
    "feedback": {"POST": "write"},
    "summary": {"POST": "read"},
    "projects": {"GET": "read", "POST": "admin"},
    "project": {"GET": "read", "PATCH": "admin", "DELETE": "admin"},
    "members": {"GET": "admin", "POST": "admin", "PUT": "admin", "DELETE": "admin"},
    "profile": {"GET": "read"},
    "profile-settings": {"GET": "read", "POST": "admin"},
    "profile-jobs": {"POST": "read"},
    "profile-job": {"GET": "read"},
    "hooks": {"GET": "admin", "POST": "admin"},
    "hook": {"PUT": "admin", "DELETE": "admin"},
    "not-found": {},
}
GUARDED = [(name, method) for name, methods in ROUTES.items() for method in methods]
# A stranger writes what is theirs, and is told of themselves.
OWN = {"ping", "add", "events", "entities", "profile-settings"}
NAMED = {
    *("memory", "history", "feedback", "batch", "event", "export"),
    *("project", "projects", "members", "entity", "entity-1", "hooks", "hook"),
    *("profile", "profile-jobs", "profile-job"),
}
BOUND = {"memory", "feedback", "history", "batch", "event", "add", "entity", "entity-1"}
BOUND |= {"profile", "profile-jobs"}
Victim = dict[str, tuple[str, Any]]
SAID = "I live in Porto."
HOOK = {"url": "https://hooks.example.org/", "name": "mine", "event_types": ["memory_add"]}


@pytest.fixture
def victim(tenant: Tenant, mem0: APIClient) -> Victim:
    """A tenant's user with a memory: by route, the path that leads to it, and the body."""
    body = {"messages": SAID, "user_id": "ana", "async_mode": False}
    (made,) = mem0.post("/v1/memories/", body, format="json").json()["results"]
    with tenant_scope(tenant.id):
        job = Job.objects.filter(step=Job.Step.DERIVE).get()
        hook = make_webhook(tenant, style="mem0", events=["memory_add"])
    export = mem0.post("/v1/exports/", {"filters": {"user_id": "ana"}}, format="json").json()
    trigger = {"operation": "trigger", "entity_id": "ana"}
    job_url = mem0.post("/v2/profiles/jobs/", trigger, format="json").json()["status_url"]
    mine, project = {"filters": {"user_id": "ana"}}, f"{tenant.id}/projects/{tenant.id}/"
    asked = mine | {"query": "where does she live"}
    orgs = "/api/v1/orgs/organizations/"
    batch = {"memories": [{"memory_id": made["id"], "text": "Ana lives in Faro."}]}
    return {
        "ping": ("/v1/ping/", None),
        "memories-1": ("/v1/memories/?user_id=ana", {"messages": "Hi.", "user_id": "ana"}),
        "search-1": ("/v1/memories/search/", asked),
        "list-2": ("/v2/memories/", mine),
        "search-2": ("/v2/memories/search/", asked),
        "add": ("/v3/memories/add/", {"messages": "Hi.", "user_id": "ana"}),
        "list": ("/v3/memories/", mine),
        "search": ("/v3/memories/search/", asked),
        "memory": (f"/v1/memories/{made['id']}/", {"text": "Ana lives in Faro."}),
        "history": (f"/v1/memories/{made['id']}/history/", None),
        "batch": ("/v1/batch/", batch),
        "events": ("/v1/events/", None),
        "event": (f"/v1/event/{job.id}/", None),
        "entities": ("/v1/entities/", None),
        "entity-1": ("/v1/entities/user/ana/", None),
        "entity": ("/v2/entities/user/ana/", None),
        "exports": ("/v1/exports/", mine),
        "export": ("/v1/exports/get/", {"memory_export_id": export["id"]}),
        "feedback": ("/v1/feedback/", {"memory_id": made["id"], "feedback": "NEGATIVE"}),
        "summary": ("/v1/summary/", mine),
        "projects": (f"{orgs}{tenant.id}/projects/", None),
        "project": (f"{orgs}{project}", {"name": "x"}),
        "members": (f"{orgs}{project}members/", {"email": "a@example.org", "role": "READER"}),
        "profile": ("/v2/entities/user/ana/profile/", None),
        "profile-settings": ("/v2/profiles/settings/", {"enabled": True}),
        "profile-jobs": ("/v2/profiles/jobs/", trigger),
        "profile-job": (job_url, None),
        "hooks": (f"/api/v1/webhooks/projects/{tenant.id}/", HOOK),
        "hook": (f"/api/v1/webhooks/{hook.id}/", {"name": "Porto"}),
    }


def call_as_stranger(client: APIClient, victim: Victim, name: str, method: str) -> Any:
    path, body = victim[name]
    if method == "GET":
        return client.get(path)
    return getattr(client, method.lower())(path, body, format="json")


def test_every_route_states_its_scopes() -> None:
    found = {}
    for pattern in urlpatterns:
        assert isinstance(pattern, URLPattern)
        callback: Any = pattern.callback
        found[str(pattern.name)] = dict(callback.view_class.scopes)
    assert found == ROUTES


# Making a victim takes longer than asking about it: each test goes through all routes.


def test_without_a_key_nothing_is_told(victim: Victim) -> None:
    for name, method in GUARDED:
        answer = call_as_stranger(APIClient(), victim, name, method)
        told = (answer.status_code, answer["Content-Type"], bool(answer.json()["detail"]))
        assert told == (401, "application/json", True), (name, method)


def still_there(mem0: APIClient) -> bool:
    answer = mem0.post("/v3/memories/", {"filters": {"user_id": "ana"}}, format="json").json()
    return ["Porto" in item["memory"] for item in answer["results"]] == [True]


def test_a_stranger_finds_and_changes_nothing(
    victim: Victim, client_of: Any, mem0: APIClient
) -> None:
    """404 for what is named by an id, nothing for what is filtered (E30)."""
    stranger = client_of(create_tenant("Two", "two"), "read", "write", "admin")
    for name, method in sorted(GUARDED, key=lambda each: each[0] in OWN):
        if (name, method) == ("memories-1", "POST"):
            continue  # the same as "add"
        answer = call_as_stranger(stranger, victim, name, method)
        assert answer.status_code == (404 if name in NAMED else 200), (name, method)
        assert "Porto" not in answer.content.decode(), (name, method)
        assert name in OWN or "ana" not in answer.content.decode(), (name, method)
    assert still_there(mem0)


def test_X16_a_key_of_one_subject_sees_no_other(
    victim: Victim, tenant: Tenant, client_of: Any, mem0: APIClient
) -> None:
    with tenant_scope(tenant.id):
        other = ensure_space(tenant.id, "rui")
    bound = client_of(tenant, "read", "write", "admin", space=other)
    for name, method in GUARDED:
        answer = call_as_stranger(bound, victim, name, method)
        assert "Porto" not in answer.content.decode(), (name, method)
        if name in BOUND or (name, method) == ("memories-1", "POST"):
            assert answer.status_code == 404, (name, method)
    assert still_there(mem0)


def test_a_key_does_what_its_scopes_allow_and_no_more(
    victim: Victim, tenant: Tenant, client_of: Any
) -> None:
    reader, writer = client_of(tenant, "read"), client_of(tenant, "write")
    for name, method in GUARDED:
        wanted = ROUTES[name][method]
        refused = call_as_stranger(reader, victim, name, method).status_code == 403
        assert refused == (wanted != "read"), (name, method)
        if wanted == "admin":
            assert call_as_stranger(writer, victim, name, method).status_code == 403, (name, method)


@pytest.mark.parametrize(
    "path", ["/v1/nowhere/", "/v2/memories/x/", "/v1/memories/17/", "/v1/event/17/", "/v3/a\0b/"]
)
def test_unknown_ids_and_paths_are_told_apart_from_nothing(mem0: APIClient, path: str) -> None:
    answer = mem0.get(quote(path))
    assert (answer.status_code, answer["Content-Type"]) == (404, "application/json")
    assert answer.json()["code"] == "not_found"


@pytest.mark.parametrize("name", ["a%00b", "%00", "%F0%9F%8C%8D", "x" * 500])
def test_whatever_an_entity_is_called_it_is_not_there(mem0: APIClient, name: str) -> None:
    assert mem0.get(f"/v2/entities/user/{name}/profile/").status_code == 404
    assert mem0.delete(f"/v2/entities/user/{name}/").status_code == 404
    assert mem0.delete(f"/v2/entities/agent/{name}/").json()["event_id"] is None
