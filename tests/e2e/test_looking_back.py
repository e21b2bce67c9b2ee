"""The time slider in a browser: with the keyboard, and without a script by its form."""

from __future__ import annotations

import re
from datetime import timedelta

import pytest
from playwright.sync_api import Locator, Page, Route, expect

from memoryhub.tenants.models import Tenant
from memoryhub.tenants.scope import tenant_scope
from tests.console.conftest import ConsoleWorld, make_world
from tests.e2e.test_accessibility import list_findings
from tests.support.browser import Visitor
from tests.support.factories import MAY, make_fact

pytestmark = pytest.mark.e2e


@pytest.fixture(scope="module")
def world(hive: Tenant) -> ConsoleWorld:
    """With a fact that was not so yet when the first words were said."""
    found = make_world("Hive", hive)
    with tenant_scope(hive.id):
        make_fact(found.space, "I sell honey", valid_from=MAY + timedelta(days=60))
    return found


def test_the_slider_moves_by_keyboard_and_keeps_the_focus(
    visitor: Visitor, world: ConsoleWorld
) -> None:
    page = visitor.open("space-facts", world.space.id)
    page.locator("summary", has_text="Look back").click()
    page.locator(".moment select").select_option("now")
    expect(page).to_have_url(re.compile("known=now"))
    slider = page.get_by_role("slider")
    slider.focus()
    slider.press("Home")
    expect(page.locator(".as-of")).to_contain_text("based on what is known now")
    expect(page.get_by_role("slider")).to_be_focused()
    expect(page.get_by_role("link", name="I keep bees in Ghent", exact=True)).to_be_visible()
    expect(page.get_by_role("link", name="I sell honey", exact=True)).to_have_count(0)
    page.get_by_role("link", name="Notes").first.click()
    expect(page.locator(".as-of")).to_be_visible()
    page.get_by_role("link", name="Back to now").click()
    expect(page.locator(".as-of")).to_have_count(0)


def test_a_memory_opens_beside_the_timeline_and_keeps_the_place(
    visitor: Visitor, world: ConsoleWorld, width: int
) -> None:
    page = visitor.open("space-timeline", world.space.id)
    mark = page.locator(".made").get_by_role("link", name="I keep bees in Ghent")
    timeline = page.url
    mark.click()
    if width < 1000:  # there is no room beside it
        expect(page.locator(".statement")).to_have_text("I keep bees in Ghent")
        return
    beside = page.get_by_role("complementary", name="The memory")
    expect(beside).to_be_focused()
    expect(beside.get_by_role("heading", name="I keep bees in Ghent")).to_be_visible()
    expect(beside.locator("mark")).to_have_text("I keep bees in Ghent")
    assert page.url == timeline
    assert list_findings(page) == []
    page.keyboard.press("Escape")
    expect(beside).to_be_hidden()
    expect(mark).to_be_focused()
    mark.click()
    beside.get_by_role("link", name="Open in the console").click()
    expect(page.locator(".statement")).to_have_text("I keep bees in Ghent")


def click_unanswered(page: Page, mark: Locator) -> list[Route]:
    """What the click asked for, which waits until the test lets it go on."""
    asked: list[Route] = []
    where = f"**/about?node={mark.get_attribute('data-beside')}"
    page.route(where, lambda route: asked.append(route))  # playwright takes no builtin
    with page.expect_request(where):
        mark.click()
    return asked


def answer_requests(page: Page, asked: list[Route]) -> None:
    """And until the page's script has had its turn: it is told of a later answer later."""
    with page.expect_event("requestfinished"):
        asked.pop().continue_()
    page.evaluate("fetch(location).then((later) => later.text())")


@pytest.mark.parametrize("width", [1280])
def test_of_two_quick_clicks_the_last_one_opens(visitor: Visitor, world: ConsoleWorld) -> None:
    page = visitor.open("space-timeline", world.space.id)
    made = page.locator(".made")
    asked = click_unanswered(page, made.get_by_role("link", name="I keep bees in Ghent"))
    made.get_by_role("link", name="Keeping bees").first.click()
    beside = page.get_by_role("complementary", name="The memory")
    expect(beside.get_by_role("heading", level=2)).to_have_text("Keeping bees")
    answer_requests(page, asked)
    expect(beside.get_by_role("heading", level=2)).to_have_text("Keeping bees")


@pytest.mark.parametrize("width", [1280])
def test_what_was_closed_before_it_came_stays_closed(visitor: Visitor, world: ConsoleWorld) -> None:
    page = visitor.open("space-timeline", world.space.id)
    mark = page.locator(".made").get_by_role("link", name="I keep bees in Ghent")
    asked = click_unanswered(page, mark)
    page.keyboard.press("Escape")
    answer_requests(page, asked)
    expect(page.get_by_role("complementary", name="The memory")).to_be_hidden()
