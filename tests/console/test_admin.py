"""Django's admin: every model, the tenant's own rows, and no change behind a service's back."""

from __future__ import annotations

import pytest
from django.apps import apps
from django.contrib import admin
from django.contrib.auth.models import Permission
from django.db.models import Model
from django.test import Client
from django.urls import reverse

from memoryhub.tenants.models import Membership, TenantModel, User
from memoryhub.tenants.scope import tenant_scope
from tests.console.conftest import ConsoleWorld, make_world
from tests.support.factories import make_member

OURS = [model for model in apps.get_models() if issubclass(model, TenantModel)]
READ_ONLY = [model for model in OURS if model is not Membership]


def build_list_address(model: type[Model]) -> str:
    return reverse(f"admin:{model._meta.app_label}_{model._meta.model_name}_changelist")


@pytest.fixture
def operator(client: Client, world: ConsoleWorld) -> Client:
    """A superuser, member of the world's tenant."""
    client.force_login(make_member(world.tenant, is_staff=True, is_superuser=True))
    return client


@pytest.mark.parametrize("model", OURS, ids=lambda m: m._meta.label)
def test_every_model_can_be_looked_at(operator: Client, model: type[Model]) -> None:
    assert operator.get(build_list_address(model)).status_code == 200


@pytest.mark.parametrize("model", READ_ONLY, ids=lambda m: m._meta.label)
def test_what_services_write_is_not_changed_here(operator: Client, model: type[Model]) -> None:
    assert operator.get(build_list_address(model) + "add/").status_code == 403
    assert not admin.site._registry[model].has_delete_permission(operator.get("/").wsgi_request)


def test_a_superuser_sees_the_chosen_tenant_only(operator: Client, world: ConsoleWorld) -> None:
    other = make_world("Orchard")
    page = operator.get(build_list_address(type(world.space))).content.decode()
    assert world.space.subject in page
    assert other.space.subject not in page
    foreign = reverse("admin:tenants_space_change", args=[other.space.id])
    assert operator.get(foreign).status_code == 302  # to the index: "doesn't exist"
    assert (
        operator.get(reverse("admin:tenants_space_change", args=[world.space.id])).status_code
        == 200
    )


def test_a_key_shows_no_digest(operator: Client, world: ConsoleWorld) -> None:
    page = operator.get(reverse("admin:tenants_apikey_change", args=[world.key.id]))
    assert world.key.name in page.content.decode()
    assert world.key.digest not in page.content.decode()


@pytest.fixture
def clerk(client: Client, world: ConsoleWorld) -> Client:
    """Staff with every permission, but no superuser."""
    person = make_member(world.tenant, is_staff=True)
    person.user_permissions.set(Permission.objects.all())
    client.force_login(person)
    return client


def test_staff_see_people_of_their_tenant_only(clerk: Client, world: ConsoleWorld) -> None:
    other = make_world("Orchard")
    page = clerk.get(build_list_address(User)).content.decode()
    assert world.admin.username in page
    assert other.admin.username not in page
    assert clerk.get(build_list_address(User) + "add/").status_code == 403


def test_staff_change_roles_but_add_nobody(clerk: Client, world: ConsoleWorld) -> None:
    with tenant_scope(world.tenant.id):
        membership = Membership.objects.get(user=world.admin)
    address = reverse("admin:tenants_membership_change", args=[membership.id])
    assert clerk.post(address, {"role": "viewer"}).status_code == 302
    with tenant_scope(world.tenant.id):
        assert Membership.objects.get(id=membership.id).role == "viewer"
    assert clerk.get(build_list_address(Membership) + "add/").status_code == 403


def test_a_superuser_adds_people_to_the_chosen_tenant(
    operator: Client, world: ConsoleWorld
) -> None:
    person = User.objects.create_user("newcomer", password="x")
    answer = operator.post(
        build_list_address(Membership) + "add/", {"user": person.id, "role": "editor"}
    )
    assert answer.status_code == 302
    with tenant_scope(world.tenant.id):
        assert Membership.objects.get(user=person).role == "editor"


def test_without_a_tenant_there_is_nothing(client: Client, world: ConsoleWorld) -> None:
    root = User.objects.create_superuser("root", password="x")
    client.force_login(root)
    page = client.get(build_list_address(type(world.space)))
    assert page.status_code == 200
    assert world.space.subject not in page.content.decode()


def test_people_without_staff_rights_are_sent_to_sign_in(browser: Client) -> None:
    assert browser.get(reverse("admin:index")).status_code == 302
