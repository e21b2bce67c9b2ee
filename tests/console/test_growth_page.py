"""The page that tells what grows and what ends it."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from django.apps import apps
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from memoryhub.console.pages.growth.queries import KINDS, KindGrowth, list_tables
from memoryhub.policies.services import set_policy
from memoryhub.tenants.models import TenantModel
from memoryhub.tenants.scope import tenant_scope
from tests.console.conftest import ConsoleWorld, make_world
from tests.console.test_access import set_operator
from tests.support.factories import make_call


def get_kinds(browser: Client) -> dict[str, KindGrowth]:
    """By title, as the page tells them."""
    kinds = browser.get(reverse("growth")).context["kinds"]
    return {str(kind.words.title): kind for kind in kinds}


def get_text(browser: Client) -> str:
    return browser.get(reverse("growth")).content.decode()


def test_every_table_of_tenants_is_of_a_kind() -> None:
    told = [table.model for table in list_tables()]
    assert len(told) == len(set(told))
    assert set(told) == {m for m in apps.get_models() if issubclass(m, TenantModel)}
    assert {table.growth.kind for table in list_tables()} == KINDS.keys()


def test_rows_are_counted_by_the_day_on_which_they_came(
    browser: Client, world: ConsoleWorld
) -> None:
    before = get_kinds(browser)["Model calls"]
    now = timezone.now()
    oldest = now - timedelta(days=400)
    with tenant_scope(world.tenant.id):
        for days in (0, 0, 3, 20):
            make_call(world.space, created_at=now - timedelta(days=days))
        make_call(world.space, created_at=oldest)
    after = get_kinds(browser)["Model calls"]
    assert after.rows == before.rows + 5
    assert after.oldest == oldest
    more = [n - m for n, m in zip(after.came, before.came, strict=True)]
    assert (more[-1], more[-4], sum(more)) == (2, 1, 3)


def test_an_admin_sees_the_rows_of_the_tenant_alone(browser: Client, world: ConsoleWorld) -> None:
    before = {title: kind.rows for title, kind in get_kinds(browser).items()}
    make_world("Other")
    assert {title: kind.rows for title, kind in get_kinds(browser).items()} == before
    assert "The whole hub" not in get_text(browser)


def test_an_operator_sees_what_all_take(client: Client, world: ConsoleWorld) -> None:
    set_operator(world, True)
    client.force_login(world.admin)
    page = client.get(reverse("growth"))
    assert "The whole hub" in page.content.decode()
    assert page.context["total"] == sum(kind.bytes for kind in page.context["hub"]) > 0


def test_what_ends_rows_is_told(browser: Client, world: ConsoleWorld, settings: Any) -> None:
    settings.RECALL_LOG_DAYS = 21
    kinds = get_kinds(browser)
    assert (kinds["Recalls"].days, kinds["Recalls"].bounded_by) == (21, "MEMORYHUB_RECALL_LOG_DAYS")
    assert (kinds["Jobs"].days, kinds["Idempotent responses"].days) == (None, 90)
    set_policy(
        world.tenant.id,
        actor="ida",
        overrides={"retention.recall_days": 9, "retention.job_days": 50, "erase.hold": True},
    )
    kinds = get_kinds(browser)
    assert (kinds["Recalls"].days, kinds["Recalls"].bounded_by, kinds["Jobs"].days) == (9, "", 50)
    page = get_text(browser)
    assert "after 9 days" in page
    assert "by a person" in page  # settings
    assert "A legal hold is on" in page
    assert "never" in page  # the list of changes


def test_days_are_set_on_the_page_of_data(browser: Client, world: ConsoleWorld) -> None:
    form = {"retention.call_days": "30", "retention.audit_days": "364", "back": "data"}
    refused = browser.post(reverse("policy-change"), form | {"version": "1"}, follow=True)
    assert "365" in refused.content.decode()
    assert get_kinds(browser)["Model calls"].days is None
    form["retention.audit_days"] = "400"
    browser.post(reverse("policy-change"), form | {"version": "1"})
    assert get_kinds(browser)["Model calls"].days == 30
    assert get_kinds(browser)["List of changes"].days == 400
