"""Keys over the API: listed without secrets, rotated with an overlap, revoked."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from django.utils import timezone
from rest_framework.test import APIClient

from api.models import IdempotentRequest
from memoryhub.tenants import keys
from memoryhub.tenants.models import ApiKey, Tenant
from memoryhub.tenants.scope import tenant_scope
from memoryhub.tenants.services import create_key, ensure_space

KEYS = "/api/v1/keys"


def make_key_client(key: str) -> APIClient:
    return APIClient(headers={"Authorization": f"Bearer {key}"})


def post_rotation(admin: APIClient, row: ApiKey, **body: Any) -> Any:
    return admin.post(f"{KEYS}/{row.id}/rotate", body, format="json")


def test_keys_are_listed_without_their_secrets(client_of: Any, tenant: Tenant) -> None:
    row, secret = create_key(tenant, "backend", ["read"])
    make_key_client(secret).get("/api/v1/spaces")
    answer = client_of(tenant, "admin").get(KEYS)
    shown = next(each for each in answer.json()["items"] if each["id"] == str(row.id))
    assert (shown["name"], shown["scopes"]) == ("backend", ["read"])
    assert shown["last_used_at"]
    assert "digest" not in shown
    assert secret.split("_", 2)[2] not in answer.content.decode()


def test_a_rotated_key_works_beside_the_new_one_for_a_while(client_of: Any, tenant: Tenant) -> None:
    with tenant_scope(tenant.id):
        space = ensure_space(tenant.id, "ana")
    row, old = create_key(tenant, "backend", ["write"], space=space)
    made = post_rotation(client_of(tenant, "admin"), row, overlap_hours=2)
    assert made["Cache-Control"] == "no-store"
    new = made.json()
    assert (new["name"], new["scopes"], new["subject"]) == ("backend", ["write"], "ana")
    assert [
        make_key_client(key).get("/api/v1/spaces").status_code for key in (old, new["key"])
    ] == [200] * 2
    later = timezone.now() + timedelta(hours=3)
    assert keys.find_live_key(old, later) is None
    assert keys.find_live_key(new["key"], later) is not None


def test_without_an_overlap_the_old_key_ends_at_once(client_of: Any, tenant: Tenant) -> None:
    row, old = create_key(tenant, "backend", ["read"])
    post_rotation(client_of(tenant, "admin"), row, overlap_hours=0)
    assert make_key_client(old).get("/api/v1/spaces").status_code == 401


def test_a_key_that_is_over_is_not_rotated(client_of: Any, tenant: Tenant) -> None:
    admin = client_of(tenant, "admin")
    row, secret = create_key(tenant, "backend", ["read"])
    assert admin.post(f"{KEYS}/{row.id}/revoke").json()["revoked_at"]
    assert make_key_client(secret).get("/api/v1/spaces").status_code == 401
    assert post_rotation(admin, row).json()["code"] == "key_over"
    assert post_rotation(admin, row, overlap_hours=721).status_code == 422


def test_an_admin_key_of_one_subject_reaches_only_that_ones(client_of: Any, tenant: Tenant) -> None:
    with tenant_scope(tenant.id):
        space = ensure_space(tenant.id, "ana")
    row, _ = create_key(tenant, "of the tenant", ["read"])
    bound = client_of(tenant, "admin", space=space)
    assert bound.get(KEYS).json()["total"] == 1
    assert post_rotation(bound, row).status_code == 404
    assert bound.post(f"{KEYS}/{row.id}/revoke").status_code == 404


def post_new_key(admin: APIClient, **body: Any) -> Any:
    headers = {"Idempotency-Key": body.pop("once", "")}
    body = {"name": "bot", "scopes": ["read"]} | body
    return admin.post(f"{KEYS}/new", body, format="json", headers=headers)


def test_a_new_key_works_within_its_scopes_and_subject(client_of: Any, tenant: Tenant) -> None:
    with tenant_scope(tenant.id):
        ensure_space(tenant.id, "ana")
        ensure_space(tenant.id, "rui")
    made = post_new_key(client_of(tenant, "admin"), subject="ana")
    assert made["Cache-Control"] == "no-store"
    key = make_key_client(made.json()["key"])
    assert [each["subject"] for each in key.get("/api/v1/spaces").json()["items"]] == ["ana"]
    assert key.get("/api/v1/spaces/rui").status_code == 404
    said = {"subject": "ana", "messages": [{"content": "Hello."}]}
    assert key.post("/api/v1/memories", said, format="json").status_code == 403


def test_a_new_key_ends_when_it_was_said_to(client_of: Any, tenant: Tenant) -> None:
    admin = client_of(tenant, "admin")
    until = timezone.now() + timedelta(hours=1)
    made = post_new_key(admin, expires_at=until.isoformat()).json()
    assert keys.find_live_key(made["key"], timezone.now()) is not None
    assert keys.find_live_key(made["key"], until) is None
    past = post_new_key(admin, expires_at="2020-01-01T00:00:00Z")
    assert past.json()["errors"][0]["field"] == "expires_at"


def test_a_repetition_makes_no_second_key_and_tells_no_secret(
    client_of: Any, tenant: Tenant
) -> None:
    admin = client_of(tenant, "admin")
    first, again = post_new_key(admin, once="k").json(), post_new_key(admin, once="k").json()
    assert first["key"]
    assert again == first | {"key": None}
    assert admin.get(KEYS).json()["total"] == 2
    with tenant_scope(tenant.id):
        kept = IdempotentRequest.objects.get()
    assert first["key"].split("_", 2)[2] not in str(kept.body)


def test_an_admin_key_of_one_subject_makes_keys_of_that_one(client_of: Any, tenant: Tenant) -> None:
    with tenant_scope(tenant.id):
        space = ensure_space(tenant.id, "ana")
        ensure_space(tenant.id, "rui")
    bound = client_of(tenant, "admin", space=space)
    assert post_new_key(bound).json()["subject"] == "ana"
    assert post_new_key(bound, subject="rui").status_code == 404


def test_what_is_no_key_is_not_made(client_of: Any, tenant: Tenant) -> None:
    admin = client_of(tenant, "admin")
    assert post_new_key(admin, name=" \0").json()["errors"][0]["field"] == "name"
    assert post_new_key(admin, scopes=[]).json()["errors"][0]["field"] == "scopes"
    assert post_new_key(admin, scopes=["root"]).json()["errors"][0]["field"] == "scopes[0]"
    assert post_new_key(admin, subject="nobody").status_code == 404


def test_keys_go_on_working_while_the_hubs_own_key_is_rotated(
    tenant: Tenant, settings: Any
) -> None:
    old = settings.SECRET_KEY
    _, key = create_key(tenant, "agent", ["read"])
    client = APIClient(headers={"Authorization": f"Bearer {key}"})
    settings.SECRET_KEY = "another"
    assert client.get("/api/v1/spaces").status_code == 401
    settings.SECRET_KEY_FALLBACKS = [old]
    assert client.get("/api/v1/spaces").status_code == 200
    settings.SECRET_KEY_FALLBACKS = []  # what was used meanwhile is kept under the new one
    assert client.get("/api/v1/spaces").status_code == 200
