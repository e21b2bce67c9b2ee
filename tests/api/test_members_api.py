"""The people of a tenant over the API: let in, given other roles, taken out."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client
from rest_framework.test import APIClient

from memoryhub.tenants.models import Membership, Tenant, User
from memoryhub.tenants.people import add_person
from memoryhub.tenants.scope import tenant_scope
from memoryhub.tenants.services import add_member, create_tenant
from tests.support.factories import make_member

MEMBERS = "/api/v1/members"


@pytest.fixture
def admin(tenant: Tenant, client_of: Any) -> APIClient:
    make_member(tenant)
    made: APIClient = client_of(tenant, "admin")
    return made


def post_new_member(
    admin: APIClient, name: str = "ida", role: str = "editor", **headers: str
) -> Any:
    body = {"username": name, "role": role, "email": f"{name}@example.com"}
    return admin.post(f"{MEMBERS}/new", body, format="json", headers=headers)


def get_role(name: str, tenant: Tenant) -> str:
    with tenant_scope(tenant.id):
        return Membership.objects.get(user__username=name).role


def test_a_new_person_signs_in_with_the_password_shown_once(
    admin: APIClient, client: Client
) -> None:
    made = post_new_member(admin)
    assert made["Cache-Control"] == "no-store"
    assert made.json()["member"]["role"] == "editor"
    given = {"username": "ida", "password": made.json()["password"]}
    assert client.post("/sign-in", given).status_code == 302
    shown = admin.get(MEMBERS).json()
    assert shown["total"] == 2
    assert "password" not in str(shown)


def test_a_repetition_lets_nobody_in_twice_and_tells_no_password(admin: APIClient) -> None:
    first = post_new_member(admin, **{"Idempotency-Key": "k"}).json()
    again = post_new_member(admin, **{"Idempotency-Key": "k"})
    assert again["Idempotent-Replayed"] == "true"
    assert again.json() == {"member": first["member"], "password": None}
    assert User.objects.filter(username="ida").count() == 1


def test_a_name_that_anybody_has_is_taken(admin: APIClient, tenant: Tenant) -> None:
    post_new_member(admin)
    add_person(create_tenant("Two", "two").id, "eve", "viewer")
    for name in ("ida", "eve"):
        answer = post_new_member(admin, name)
        assert (answer.status_code, answer.json()["code"]) == (409, "name_taken")
    assert admin.get(MEMBERS).json()["total"] == 2


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"username": "i da", "role": "viewer"}, "username"),
        ({"username": "", "role": "viewer"}, "username"),
        ({"username": "x" * 151, "role": "viewer"}, "username"),
        ({"username": "i\0da\n", "role": "viewer"}, "username"),
        ({"username": 7, "role": "viewer"}, "username"),
        ({"username": "ida", "role": "owner"}, "role"),
        ({"username": "ida"}, "role"),
        ({"username": "ida", "role": "viewer", "email": "nowhere"}, "email"),
    ],
)
def test_what_is_no_person_is_refused(admin: APIClient, body: dict[str, Any], field: str) -> None:
    answer = admin.post(f"{MEMBERS}/new", body, format="json")
    assert answer.status_code == 422
    assert answer.json()["errors"][0]["field"] == field


def test_a_role_is_changed(admin: APIClient, tenant: Tenant) -> None:
    row = post_new_member(admin).json()["member"]
    answer = admin.post(f"{MEMBERS}/{row['id']}/role", {"role": "viewer"}, format="json")
    assert answer.json()["member"]["role"] == get_role("ida", tenant) == "viewer"


def test_the_last_admin_stays(admin: APIClient, tenant: Tenant) -> None:
    (last,) = admin.get(MEMBERS).json()["items"]
    for verb, body in (("role", {"role": "viewer"}), ("remove", {})):
        answer = admin.post(f"{MEMBERS}/{last['id']}/{verb}", body, format="json")
        assert answer.json()["code"] == "last_admin"
    post_new_member(admin, role="admin")
    assert admin.post(f"{MEMBERS}/{last['id']}/remove", {}, format="json").status_code == 200
    assert [each["username"] for each in admin.get(MEMBERS).json()["items"]] == ["ida"]


def test_who_is_taken_out_is_forgotten_unless_another_tenant_knows_them(
    admin: APIClient, tenant: Tenant
) -> None:
    other = create_tenant("Two", "two")
    for name in ("ida", "eve"):
        row = post_new_member(admin, name).json()["member"]
        if name == "eve":
            add_member(other, User.objects.get(username=name), "viewer")
        assert admin.post(f"{MEMBERS}/{row['id']}/remove", {}, format="json").status_code == 200
        again = admin.post(f"{MEMBERS}/{row['id']}/remove", {}, format="json")
        assert again.status_code == 404
    assert [user.username for user in User.objects.filter(username__in=["ida", "eve"])] == ["eve"]
    assert get_role("eve", other) == "viewer"
