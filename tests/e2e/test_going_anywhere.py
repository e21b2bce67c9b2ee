"""Going anywhere by a few letters of its name."""

from __future__ import annotations

import pytest
from django.urls import reverse
from playwright.sync_api import expect

from memoryhub.tenants.models import Tenant
from tests.console.conftest import ConsoleWorld, make_world
from tests.e2e.test_accessibility import list_findings
from tests.support.browser import Visitor


@pytest.fixture(scope="module")
def world(hive: Tenant) -> ConsoleWorld:
    return make_world("Hive", hive)


def test_control_k_goes_anywhere_by_name(visitor: Visitor, world: ConsoleWorld) -> None:
    page = visitor.open("space-facts", world.space.id)
    page.keyboard.press("Control+k")
    page.keyboard.type("webh")
    page.keyboard.press("Enter")
    page.wait_for_url(f"**{reverse('webhooks')}")
    page.keyboard.press("Control+k")
    expect(page.get_by_role("dialog", name="Commands")).to_be_visible()
    expect(page.get_by_role("dialog").get_by_role("link", name="Webhooks")).to_have_count(1)
    assert not list_findings(page)
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog", name="Commands")).to_be_hidden()


def test_control_k_offers_the_page_s_own_tabs_first_and_a_search_last(
    visitor: Visitor, world: ConsoleWorld
) -> None:
    page = visitor.open("space-facts", world.space.id)
    page.keyboard.press("Control+k")
    page.keyboard.press("ArrowDown")
    expect(page.get_by_role("dialog").get_by_role("link", name="Timeline")).to_be_focused()
    page.get_by_role("searchbox", name="Go to").fill("bees")
    assert page.get_by_role("dialog").get_by_role("link").all_inner_texts() == [
        "Find “bees” in spaces and memories"
    ]
    page.keyboard.press("Enter")
    expect(page.get_by_role("link", name="I keep bees in Ghent")).to_be_visible()
