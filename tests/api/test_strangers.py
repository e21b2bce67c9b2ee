"""Every route of the API: who may call it, and what a stranger gets."""

from __future__ import annotations

import hashlib
import json
from copy import deepcopy
from datetime import timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest
from django.urls import URLPattern
from django.utils import timezone
from rest_framework.test import APIClient

from api.rows.read_views import RowListView
from api.urls import urlpatterns
from memoryhub.tenants.models import ApiKey, Tenant
from memoryhub.tenants.scope import tenant_scope
from memoryhub.tenants.services import create_key, create_tenant, ensure_space, revoke_key
from tests.support import api_scene


def list_list_names() -> list[str]:
    """Of the routes that list rows by their address."""
    found = set()
    for pattern in urlpatterns:
        callback: Any = pattern.callback  # as_view() gives it its class
        if issubclass(callback.view_class, RowListView):
            found.add(str(pattern.name).removesuffix("-query"))
    return sorted(found)


# Route name -> method -> scope. None: open to all. A new route fails until it is listed here.
ROUTES: dict[str, dict[str, str | None]] = {
    "memories": {"POST": "write"},
    "memories-batch": {"POST": "write"},
    "search": {"POST": "read"},
    "context": {"POST": "read"},
    "answer": {"POST": "read"},
    "spaces": {"GET": "read"},
    "space": {"GET": "read"},
    "sessions": {"GET": "read"},
    "session": {"GET": "read"},
    "turns": {"GET": "read"},
    "turn": {"GET": "read"},
    "facts": {"GET": "read"},
    "fact": {"GET": "read"},
    "fact-versions": {"GET": "read"},
    "notes": {"GET": "read"},
    "note": {"GET": "read"},
    "links": {"GET": "read"},
    "link": {"GET": "read"},
    "entities": {"GET": "read"},
    "entity": {"GET": "read"},
    "relations": {"GET": "read"},
    "relation": {"GET": "read"},
    "segments": {"GET": "read"},
    "segment": {"GET": "read"},
    "episodes": {"GET": "read"},
    "episode": {"GET": "read"},
    "traits": {"GET": "read"},
    "trait": {"GET": "read"},
    "profile": {"GET": "read"},
    "blocks": {"GET": "read"},
    "block": {"GET": "read"},
    "block-versions": {"GET": "read"},
    "events": {"GET": "read"},
    "event": {"GET": "read"},
    "history": {"GET": "read"},
    "as-of": {"GET": "read"},
    "changes": {"GET": "read"},
    "conflicts": {"GET": "read"},
    "conflict": {"GET": "read"},
    "fact-correct": {"POST": "write"},
    "fact-end": {"POST": "write"},
    "fact-retract": {"POST": "write"},
    "fact-forget": {"POST": "write"},
    "fact-restore": {"POST": "write"},
    "fact-pin": {"POST": "write"},
    "fact-merge": {"POST": "write"},
    "fact-remember": {"POST": "write"},
    "note-describe": {"POST": "write"},
    "note-pin": {"POST": "write"},
    "note-delete": {"POST": "write"},
    "note-forget": {"POST": "write"},
    "note-restore": {"POST": "write"},
    "note-merge": {"POST": "write"},
    "entity-merge": {"POST": "write"},
    "entity-split": {"POST": "write"},
    "block-revise": {"POST": "write"},
    "block-delete": {"POST": "write"},
    "block-attach": {"POST": "write"},
    "block-detach": {"POST": "write"},
    "block-new": {"POST": "write"},
    "event-undo": {"POST": "write"},
    "conflict-decide": {"POST": "write"},
    "conflicts-decide-many": {"POST": "write"},
    "conflict-take-back": {"POST": "write"},
    "review-rules": {"GET": "admin"},
    "quality": {"GET": "read"},
    "review-rule-new": {"POST": "admin"},
    "review-rule-remove": {"POST": "admin"},
    "trait-set": {"POST": "write"},
    "profile-set": {"POST": "write"},
    "tools": {"GET": "read", "POST": "write"},
    "windows": {"GET": "read"},
    "window": {"GET": "read"},
    "window-open": {"POST": "write"},
    "window-append": {"POST": "write"},
    "window-step": {"POST": "write"},
    "window-schedule": {"POST": "write"},
    "roll-back": {"POST": "admin"},
    "erase": {"POST": "admin"},
    "webhooks": {"GET": "admin"},
    "webhook": {"GET": "admin"},
    "webhook-new": {"POST": "admin"},
    "webhook-change": {"POST": "admin"},
    "webhook-rotate": {"POST": "admin"},
    "webhook-delete": {"POST": "admin"},
    "webhook-ping": {"POST": "admin"},
    "webhook-deliveries": {"GET": "admin"},
    "delivery": {"GET": "admin"},
    "delivery-replay": {"POST": "admin"},
    "export": {"GET": "read"},
    "pause": {"POST": "write"},
    "name": {"POST": "write"},
    "person-links": {"GET": "admin"},
    "person-link-new": {"POST": "admin"},
    "person-link-revoke": {"POST": "admin"},
    "tenant-export": {"GET": "admin"},
    "import-export": {"POST": "admin"},
    "receipts": {"GET": "admin"},
    "receipt": {"GET": "admin"},
    "policy": {"GET": "read", "POST": "admin"},
    "policy-versions": {"GET": "read"},
    "tenant-policy": {"GET": "read", "POST": "admin"},
    "tenant-policy-versions": {"GET": "read"},
    "presets": {"GET": "read"},
    "switches": {"GET": "read"},
    "replays": {"GET": "read"},
    "replay": {"GET": "read"},
    "replay-results": {"GET": "read"},
    "replay-new": {"POST": "write"},
    "replay-cancel": {"POST": "write"},
    "replay-decide": {"POST": "admin"},
    "members": {"GET": "admin"},
    "member-new": {"POST": "admin"},
    "member-role": {"POST": "admin"},
    "member-remove": {"POST": "admin"},
    "keys": {"GET": "admin"},
    "key-new": {"POST": "admin"},
    "key-rotate": {"POST": "admin"},
    "key-revoke": {"POST": "admin"},
    "usage": {"GET": "read"},
    "usage-calls": {"GET": "read"},
    "feedback": {"GET": "read"},
    "feedback-set": {"POST": "write"},
    "items": {"GET": "read"},
    "item": {"GET": "read"},
    "items-read": {"POST": "read"},
    "items-write": {"POST": "write"},
    "golden": {"GET": "read"},
    "golden-question": {"GET": "read"},
    "golden-new": {"POST": "write"},
    "golden-change": {"POST": "write"},
    "golden-remove": {"POST": "write"},
    "imports": {"GET": "read", "POST": "write"},
    "import": {"GET": "read"},
    "import-take": {"POST": "write"},
    "jobs": {"GET": "read"},
    "job": {"GET": "read"},
    "job-retry": {"POST": "write"},
    "job-cancel": {"POST": "write"},
    "job-progress": {"GET": "read"},
    "requests": {"GET": "admin"},
    "audit": {"GET": "admin"},
    "schema": {"GET": None},
    "docs": {"GET": None},
    "redoc": {"GET": None},
    "not-found": {},
}
# Every list, asked for in a body, takes what it takes by its address.
QUERIES = {f"{name}-query": {"POST": ROUTES[name]["GET"]} for name in list_list_names()}
ROUTES |= QUERIES
GUARDED = [(name, m) for name, methods in ROUTES.items() for m, s in methods.items() if s]
# Lists over all that a key may see: for a stranger they are empty.
OVER_ALL = ("spaces", "jobs", "receipts", "usage-calls", "imports", "webhooks", "replays")
# The tenant's own: a stranger's are the stranger's, and for a key of one subject there are none.
OF_TENANT = (
    "tenant-policy",
    "tenant-policy-versions",
    "members",
    "member-new",
    "review-rules",
    "review-rule-new",
    "requests",
    "audit",
)
# The same for everybody.
COMMON = ("presets", "switches")


@pytest.fixture(scope="module")
def scene(kept_for_module: None) -> tuple[Tenant, dict[str, str]]:
    """A tenant's subject with a row of every kind, and the path of every route to it."""
    tenant = create_tenant("One", "one")
    rows = api_scene.make_row_of_every_kind(tenant)
    named = (name for name in ROUTES if name != "not-found")
    return tenant, {name: api_scene.build_route_path(name, rows, subject="ana") for name in named}


@pytest.fixture
def victim(db: None, scene: tuple[Tenant, dict[str, str]]) -> dict[str, str]:
    return dict(scene[1])


@pytest.fixture
def tenant(
    request: pytest.FixtureRequest, db: None, scene: tuple[Tenant, dict[str, str]]
) -> Tenant:
    """The victim's, and where there is none, one that has nothing."""
    if "victim" in request.fixturenames:
        return deepcopy(scene[0])
    return create_tenant("Alone", "alone")


PLACE = {"subject": "ana", "namespace": ["places"], "key": "Porto"}
BODIES: dict[str, Any] = {
    "items-read": {"ops": [{"get": PLACE}]},
    "items-write": {"items": [{**PLACE, "value": None}]},
    "memories": {"subject": "ana", "messages": [{"content": "Hello there."}]},
    "fact-remember": {"subject": "ana", "text": "Ana keeps hens."},
    "name": {"subject_name": "Ana Braun"},
    "memories-batch": {"items": [{"subject": "ana", "messages": [{"content": "Hello."}]}]},
    "search": {"subject": "ana", "query": "where does she live"},
    "context": {"subject": "ana", "query": "where does she live"},
    "answer": {"subject": "ana", "question": "where does she live"},
    "fact-correct": {"text": "Ana plays go"},
    "note-describe": {"category": "games"},
    "block-new": {"label": "plans"},
    "block-revise": {"value": "Rome."},
    "conflict-decide": {"answer": "keep"},
    "conflicts-decide-many": {"ids": [str(UUID(int=1))], "answer": "reject"},
    "review-rule-new": {"kind": "conflict", "answer": "reject"},
    "trait-set": {"key": "openness", "level": "low"},
    "profile-set": {"key": "home_town", "value": "Rome"},
    "imports": {"source": "jsonl", "subject": "ana", "content": '{"note": "Hello."}'},
    "tools": {"tool": "core_append", "arguments": {"label": "human", "text": "More."}},
    "window-open": {"session": "monday"},
    "window-append": {"messages": [{"content": "I play chess."}]},
    "window-step": {"messages": [{"content": "Where do I play chess?"}]},
    "window-schedule": {"every_minutes": 60},
    "roll-back": {"to": "2026-05-01T00:00:00Z", "dry_run": True},
    "erase": {"target": "subject", "dry_run": True},
    "webhook-new": {
        "subject": "ana",
        "name": "CRM",
        "url": "https://hooks.example.org/",
        "events": ["fact.added"],
    },
    "webhook-change": {"name": "ERP"},
    "policy": {"overrides": {}},
    "tenant-policy": {"overrides": {}},
    "key-new": {"name": "another", "scopes": ["read"]},
    "member-new": {"username": "somebody.else", "role": "viewer"},
    "member-role": {"role": "viewer"},
    "replay-new": {"subject": "ana", "overrides": {"recall.k_min": 7}},
    "replay-decide": {"decision": "dropped"},
    "feedback-set": {"kind": "fact", "memory_id": str(UUID(int=1)), "verdict": None},
    "golden-new": {"text": "Where?", "expected": [{"kind": "fact", "id": str(UUID(int=1))}]},
    "golden-change": {"text": "Where?", "expected": [{"kind": "fact", "id": str(UUID(int=1))}]},
}


def call_as_stranger(client: APIClient, paths: dict[str, str], name: str, method: str) -> Any:
    if name == "import-export":
        return client.generic("POST", paths[name], make_empty_export(), "application/x-ndjson")
    if method == "GET":
        return client.get(paths[name])
    return client.generic(method, paths[name], json.dumps(BODIES.get(name, {})), "application/json")


def make_empty_export() -> str:
    """An export of a tenant without anything."""
    top = {"format": "memoryhub-export", "version": "1.0", "scope": "tenant", "counts": {}}
    line = f"{json.dumps(top)}\n"
    end = {"row": "end", "lines": 1, "sha256": hashlib.sha256(line.encode()).hexdigest()}
    return f"{line}{json.dumps(end)}\n"


def read_content(answer: Any) -> str:
    return b"".join(answer).decode()  # whether it is streamed or not


def test_every_route_states_its_scope() -> None:
    found = {}
    for pattern in urlpatterns:
        assert isinstance(pattern, URLPattern)
        callback: Any = pattern.callback  # as_view() gives it these two attributes
        view, options = callback.view_class, callback.view_initkwargs
        opened = options.get("permission_classes") == []
        found[pattern.name] = {"GET": None} if opened else dict(options.get("scopes", view.scopes))
    assert found == ROUTES


def test_without_a_key_nothing_is_told(victim: dict[str, str]) -> None:
    for name, method in GUARDED:
        answer = call_as_stranger(APIClient(), victim, name, method)
        assert answer.status_code == 401, name
        assert answer["Content-Type"] == "application/problem+json", name
        assert answer["WWW-Authenticate"].startswith("Bearer"), name


@pytest.mark.parametrize(("name", "method"), GUARDED)
def test_a_stranger_finds_nothing(
    victim: dict[str, str], client_of: Any, name: str, method: str
) -> None:
    """404 for what is named, an empty list for what is listed; never 403 with details (E30)."""
    stranger = client_of(create_tenant("Two", "two"), "read", "write", "admin")
    answer = call_as_stranger(stranger, victim, name, method)
    reads, name = method == "GET" or name.endswith("-query"), name.removesuffix("-query")
    if name == "keys":  # its own alone
        assert answer.json()["total"] == 1
    elif name in OVER_ALL and reads:
        assert answer.json()["items"] == []
        assert answer.json()["total"] == 0
    elif name in OF_TENANT or name in COMMON or name == "key-new":
        assert answer.status_code == 200
    elif name == "usage":
        assert answer.json()["total"]["calls"] == 0
    elif name in ("tenant-export", "import-export"):  # all of their own, which is nothing
        assert answer.status_code == 200
    elif name == "items-read":
        assert answer.json() == {"results": [None]}
    elif name == "items-write":
        assert answer.json() == {"changed": 0}
    elif name in ("memories", "memories-batch"):  # in another tenant it is another subject
        assert answer.status_code == 202
    elif name == "fact-remember" or name == "imports":  # the same
        assert answer.status_code == 200
    else:
        assert answer.status_code == 404
        assert answer.json()["code"] == "not_found"
    assert "Porto" not in read_content(answer)


def test_a_strangers_write_does_not_reach_the_subject(
    victim: dict[str, str], tenant: Tenant, client_of: Any, api: APIClient
) -> None:
    before = api.get(victim["jobs"]).json()["total"]
    call_as_stranger(client_of(create_tenant("Two", "two")), victim, "memories", "POST")
    assert api.get(victim["jobs"]).json()["total"] == before


@pytest.mark.parametrize(("name", "method"), GUARDED)
def test_X16_a_key_of_one_subject_sees_no_other(
    victim: dict[str, str], tenant: Tenant, client_of: Any, name: str, method: str
) -> None:
    with tenant_scope(tenant.id):
        other = ensure_space(tenant.id, "rui")
    bound = client_of(tenant, "read", "write", "admin", space=other)
    answer = call_as_stranger(bound, victim, name, method)
    reads, name = method == "GET" or name.endswith("-query"), name.removesuffix("-query")
    if name in (*OVER_ALL, "keys") and reads:
        assert "ana" not in {item.get("subject") for item in answer.json()["items"]}
    elif name == "usage":
        assert answer.json()["total"]["calls"] == 0
    elif name in COMMON:
        assert answer.status_code == 200
    elif name == "key-new":
        assert answer.json()["subject"] == "rui"
    elif name == "items-read":
        assert answer.json() == {"results": [None]}
    else:
        assert answer.status_code == 404
    assert "Porto" not in answer.content.decode()


def test_a_key_does_nothing_beyond_its_scopes(
    victim: dict[str, str], tenant: Tenant, client_of: Any
) -> None:
    reader, writer = client_of(tenant, "read"), client_of(tenant, "read", "write")
    for name, method in GUARDED:
        wanted = ROUTES[name][method]
        for client in {"read": (), "write": (reader,), "admin": (reader, writer)}[str(wanted)]:
            refused = call_as_stranger(client, victim, name, method)
            assert refused.status_code == 403, name
            assert refused.json()["detail"].endswith(f"it takes {wanted}."), name


@pytest.mark.parametrize(("name", "method"), [g for g in GUARDED if ROUTES[g[0]][g[1]] == "admin"])
def test_what_takes_an_admin_is_done_for_one(
    victim: dict[str, str], tenant: Tenant, client_of: Any, name: str, method: str
) -> None:
    assert call_as_stranger(client_of(tenant, "admin"), victim, name, method).status_code == 200


@pytest.mark.parametrize(("name", "method"), [g for g in GUARDED if ROUTES[g[0]][g[1]] == "read"])
def test_writing_allows_reading(
    victim: dict[str, str], tenant: Tenant, client_of: Any, name: str, method: str
) -> None:
    assert call_as_stranger(client_of(tenant, "write"), victim, name, method).status_code == 200


@pytest.mark.parametrize("value", ["", "Bearer", "Bearer x", "Basic abc", "Bearer mh_a_b", "\xff"])
def test_what_is_no_key_is_refused(db: None, value: str) -> None:
    answer = APIClient(headers={"Authorization": value}).get("/api/v1/spaces")
    assert answer.status_code == 401


def test_revoked_and_expired_keys_are_refused(tenant: Tenant, client_of: Any) -> None:
    expired = client_of(tenant, "read", expires_at=timezone.now() - timedelta(seconds=1))
    assert expired.get("/api/v1/spaces").status_code == 401
    row, key = create_key(tenant, "to revoke", ["read"])
    client = APIClient(headers={"Authorization": f"Token {key}"})
    assert client.get("/api/v1/spaces").status_code == 200
    revoke_key(row, timezone.now())
    assert client.get("/api/v1/spaces").status_code == 401


def test_a_wrong_secret_with_a_right_prefix_is_refused(tenant: Tenant) -> None:
    _, key = create_key(tenant, "test", ["read"])
    wrong = key[:-4] + ("aaaa" if not key.endswith("aaaa") else "bbbb")
    client = APIClient(headers={"Authorization": f"Bearer {wrong}"})
    assert client.get("/api/v1/spaces").status_code == 401


def test_the_secret_is_nowhere_in_the_database(tenant: Tenant) -> None:
    row, key = create_key(tenant, "test", ["read"])
    secret = key.removeprefix(f"mh_{row.prefix}_")
    with tenant_scope(tenant.id):
        stored = ApiKey.objects.filter(id=row.id).values().get()
    assert not [value for value in stored.values() if secret in str(value)]


def test_last_use_is_kept(tenant: Tenant, api: APIClient) -> None:
    api.get("/api/v1/spaces")
    with tenant_scope(tenant.id):
        assert ApiKey.objects.get().last_used_at is not None


def test_unknown_ids_and_paths_are_problems(api: APIClient) -> None:
    for path in (f"/api/v1/jobs/{uuid4()}", "/api/v1/jobs/17", "/api/v1/nowhere"):
        answer = api.get(path)
        assert answer.status_code == 404
        assert answer.json()["code"] == "not_found"


@pytest.mark.parametrize(
    "query", ["limit=x", "limit=-1", "limit=0", "limit=201", "cursor=x", "cursor=" + "W" * 900]
)
def test_pages_have_limits(api: APIClient, query: str) -> None:
    answer = api.get(f"/api/v1/jobs?{query}")
    assert answer.status_code == 422
    assert answer.json()["errors"][0]["field"] in ("limit", "cursor")


def test_the_documentation_is_served_from_here(client: Any, db: None) -> None:
    for path in ("/api/v1/docs", "/api/v1/redoc"):
        answer = client.get(path)
        page = answer.content.decode()
        assert "//" not in page.replace("//localhost", "").replace("//testserver", "")
        assert "<script>" not in page
        allowed = answer["Content-Security-Policy"].replace(";", " ").split()
        hosts = {source for source in allowed if ":" in source or "." in source or source == "*"}
        assert hosts <= {"data:", "blob:"}
    schema = client.get("/api/v1/schema?format=json").json()
    assert schema["openapi"].startswith("3.1")
    assert "/api/v1/search" in schema["paths"]
