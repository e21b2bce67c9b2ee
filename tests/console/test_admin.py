"""Django's admin: every model, the tenant's own rows, and no change behind a service's back."""

from __future__ import annotations

import pytest
from django.contrib import admin
from django.db.models import Model
from django.test import Client
from django.urls import reverse

from memoryhub.tenants.models import User
from tests.console.conftest import ConsoleWorld, make_world
from tests.support.factories import make_member

LOOKED_AT = sorted(admin.site._registry, key=lambda model: model._meta.label)


def build_list_address(model: type[Model]) -> str:
    return reverse(f"admin:{model._meta.app_label}_{model._meta.model_name}_changelist")


def test_every_model_can_be_looked_at_and_none_changed(browser: Client) -> None:
    for model in LOOKED_AT:
        assert browser.get(build_list_address(model)).status_code == 200, model
        assert browser.get(build_list_address(model) + "add/").status_code == 403, model


def test_what_is_shown_is_of_the_tenant_in_use(browser: Client, world: ConsoleWorld) -> None:
    other = make_world("Orchard")
    for model, own, foreign in (
        (type(world.space), world.space.subject, other.space.subject),
        (User, world.admin.username, other.admin.username),
        (type(world.tenant), world.tenant.name, other.tenant.name),
    ):
        page = browser.get(build_list_address(model)).content.decode()
        assert own in page
        assert foreign not in page


def test_an_operator_sees_the_tenant_in_use_too(client: Client, world: ConsoleWorld) -> None:
    other = make_world("Orchard")
    client.force_login(make_member(world.tenant, is_superuser=True))
    assert other.admin.username not in client.get(build_list_address(User)).content.decode()


def test_no_account_is_changed_here(browser: Client, world: ConsoleWorld) -> None:
    where = reverse("admin:tenants_user_change", args=[world.admin.id])
    form = {"username": "x", "is_superuser": "on", "password": "x"}
    assert browser.post(where, form).status_code == 403
    assert not User.objects.get(id=world.admin.id).is_superuser
    assert browser.get(f"{where}password/").status_code in (302, 404)


def test_a_key_shows_no_digest(browser: Client, world: ConsoleWorld) -> None:
    page = browser.get(reverse("admin:tenants_apikey_change", args=[world.key.id]))
    assert world.key.name in page.content.decode()
    assert world.key.digest not in page.content.decode()


@pytest.mark.parametrize("role", ["viewer", "editor"])
def test_it_takes_an_admin_of_the_tenant(client: Client, world: ConsoleWorld, role: str) -> None:
    client.force_login(make_member(world.tenant, role, is_staff=True))
    assert client.get(reverse("admin:index"), follow=True).status_code == 403


def test_an_operator_of_no_tenant_finds_none_here(client: Client, world: ConsoleWorld) -> None:
    client.force_login(User.objects.create_superuser("root", password="x"))
    assert client.get(build_list_address(type(world.space)), follow=True).status_code == 403


def test_there_is_one_way_to_sign_in(client: Client, db: None) -> None:
    answer = client.get(reverse("admin:index"), follow=True)
    assert answer.redirect_chain[-1][0].startswith(reverse("sign-in"))
    form = {"username": "x", "password": "x"}
    assert client.post(reverse("admin:login"), form).status_code == 302
