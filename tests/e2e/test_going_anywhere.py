"""Going anywhere by a few letters of its name."""

from __future__ import annotations

import pytest
from django.urls import reverse
from playwright.sync_api import Locator, Page, expect

from memoryhub.tenants.models import Tenant
from tests.console.conftest import ConsoleWorld, make_world
from tests.e2e.test_accessibility import list_findings
from tests.support.browser import Visitor

pytestmark = pytest.mark.e2e


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
    expect(page.get_by_role("dialog").get_by_role("link", name="Overview").first).to_be_focused()
    page.get_by_role("searchbox", name="Go to").fill("bees")
    links = page.get_by_role("dialog").get_by_role("link")
    expect(links.last).to_have_text("Find “bees” in spaces and memories")
    links.last.click()
    expect(page.get_by_role("link", name="I keep bees in Ghent").first).to_be_visible()


def test_control_k_finds_a_person_by_name(visitor: Visitor, world: ConsoleWorld) -> None:
    page = visitor.open("overview")
    page.keyboard.press("Control+k")
    page.get_by_role("searchbox", name="Go to").fill(world.space.subject)
    found = page.get_by_role("dialog").locator("[data-group=found] a")
    expect(found.first).to_be_visible()
    assert not list_findings(page)
    found.first.click()
    page.wait_for_url(f"**{reverse('space-overview', args=[world.space.id])}")


def type_in_palette(page: Page, words: str) -> Locator:
    """What is offered for the words."""
    page.keyboard.press("Control+k")
    page.get_by_role("searchbox", name="Go to").fill(words)
    return page.get_by_role("dialog").locator("li:not([hidden]) :is(a, button)")


@pytest.mark.parametrize(
    ("words", "name"),
    [
        ("expiry", "API keys"),
        ("forgetting", "Policy"),
        ("retention", "Policy"),
    ],
)
def test_control_k_finds_a_page_by_what_is_set_there(
    visitor: Visitor, world: ConsoleWorld, words: str, name: str
) -> None:
    offered = type_in_palette(visitor.open("overview"), words)
    expect(offered.filter(has_text=name)).to_have_count(1)


def test_control_k_finds_the_settings(visitor: Visitor, world: ConsoleWorld) -> None:
    page = visitor.open("overview")
    expect(type_in_palette(page, "settings").first).to_contain_text("Settings")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Settings", level=1)).to_be_visible()


def test_control_k_turns_the_theme_and_signs_out(visitor: Visitor, world: ConsoleWorld) -> None:
    page = visitor.open("overview")
    assert not page.evaluate("document.documentElement.dataset.theme")
    expect(type_in_palette(page, "dark").first).to_have_text("Switch between light and dark")
    page.keyboard.press("Enter")
    expect(page.locator("html[data-theme]")).to_have_count(1)
    expect(page.get_by_role("dialog")).to_be_hidden()
    expect(type_in_palette(page, "sign out").first).to_have_text("Sign out")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    page.wait_for_url(f"**{reverse('sign-in')}*")


def test_the_first_fact_is_eight_tabs_from_the_beginning(
    visitor: Visitor, world: ConsoleWorld
) -> None:
    page = visitor.open("space-facts", world.space.id)
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")  # the link that skips to the content
    first = page.locator("tbody .title").first
    for _ in range(7):
        page.keyboard.press("Tab")
        if first.evaluate("(fact) => fact === document.activeElement"):
            return
    expect(first).to_be_focused()
