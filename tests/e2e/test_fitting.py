"""What opens, and what is current, lies within the screen: on a desktop and on a phone."""

from __future__ import annotations

import pytest
from playwright.sync_api import Locator

from memoryhub.tenants.models import Membership, Tenant
from memoryhub.tenants.scope import tenant_scope
from tests.console.conftest import ConsoleWorld, make_world
from tests.support.browser import Visitor
from tests.support.factories import make_entity, make_fact, make_link, make_member, make_note

pytestmark = pytest.mark.e2e


@pytest.fixture(scope="module")
def world(hive: Tenant) -> ConsoleWorld:
    made = make_world("Hive", hive)
    with tenant_scope(hive.id):
        make_note(made.space, "Something long", keywords=["k" * 300, "W" * 300])
        make_fact(made.space, "Calvin is an extraordinarily conscientious apiculturist in Ghent")
        make_entity(made.space, "Calvin", type="person")
    make_member(hive, Membership.Role.VIEWER)
    return made


def expect_within(part: Locator, width: int) -> None:
    """From the left edge of the screen to the right one."""
    box = part.bounding_box()
    assert box
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= width


@pytest.mark.parametrize(
    ("name", "opener"), [("people", "Remove"), ("people", "Sign out"), ("keys", "Revoke")]
)
def test_what_asks_once_more_is_in_view(
    visitor: Visitor, world: ConsoleWorld, width: int, name: str, opener: str
) -> None:
    page = visitor.open(name)
    page.locator("summary", has_text=opener).first.click()
    sheet = page.locator("details[open] > .sheet")
    expect_within(sheet, width)
    expect_within(sheet.locator("p"), width)
    expect_within(sheet.get_by_role("button"), width)
    text = sheet.locator("p").evaluate("e => [e.scrollWidth, e.clientWidth]")
    assert text[0] <= text[1]
    assert page.evaluate("document.documentElement.scrollWidth") <= width


SPLIT_WORDS = """() => {
  const split = [];
  for (const cell of document.querySelectorAll("main td, main th")) {
    const texts = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT);
    while (texts.nextNode()) {
      for (const found of texts.currentNode.data.matchAll(/[A-Za-z]{2,24}/g)) {
        const word = document.createRange();
        word.setStart(texts.currentNode, found.index);
        word.setEnd(texts.currentNode, found.index + found[0].length);
        if (new Set([...word.getClientRects()].map((line) => Math.round(line.top))).size > 1)
          split.push(found[0]);
      }
    }
  }
  return split }"""


def test_a_word_of_any_length_widens_no_list(
    visitor: Visitor, world: ConsoleWorld, width: int
) -> None:
    page = visitor.open("space-notes", world.space.id)
    assert page.get_by_title("k" * 100).count() == 1  # the whole of what is cut
    assert page.evaluate("document.documentElement.scrollWidth") <= width


@pytest.mark.parametrize(
    "name",
    ["space-facts", "space-notes", "space-entities", "space-segments", "spaces", "jobs", "people"],
)
def test_every_table_shows_whole_words(visitor: Visitor, world: ConsoleWorld, name: str) -> None:
    page = visitor.open(name, *([world.space.id] if name.startswith("space-") else []))
    assert page.locator("main td").count()
    assert page.evaluate(SPLIT_WORDS) == []


def test_every_filter_of_the_admin_opens_in_view(
    visitor: Visitor, world: ConsoleWorld, width: int
) -> None:
    page = visitor.open("admin:notes_fact_changelist")
    menus = page.locator(".pick-one")
    assert menus.count() > 4
    for menu in menus.all():
        menu.locator("summary").click()
        sheet = menu.locator(".sheet")
        # The side is chosen after it has opened.
        page.wait_for_function(
            "e => e.getBoundingClientRect().right <= innerWidth", arg=sheet.element_handle()
        )
        expect_within(sheet, width)
        page.keyboard.press("Escape")


def test_the_current_tab_is_in_view(visitor: Visitor, world: ConsoleWorld, width: int) -> None:
    for name in ("usage", "keys", "predicates", "webhooks"):
        page = visitor.open(name)
        expect_within(page.locator(".tabs [aria-current]"), width)


def test_the_picture_of_links_stays_within_its_card(
    visitor: Visitor, world: ConsoleWorld, width: int
) -> None:
    with tenant_scope(world.tenant.id):
        make_link(world.note, make_note(world.space, "A hive in the garden"))
    page = visitor.open("admin:notes_note_change", world.note.id)
    expect_within(page.locator(".link-picture"), width)
    assert page.evaluate("document.documentElement.scrollWidth") <= width


@pytest.mark.parametrize("name", ["space-facts", "space-notes", "space-entities"])
def test_actions_for_chosen_rows_are_above_the_navigation(
    visitor: Visitor, world: ConsoleWorld, width: int, name: str
) -> None:
    """Of a list longer than the screen, at whose end they stand."""
    with tenant_scope(world.tenant.id):
        for number in range(24):
            words = f"{name} {width} {number}"
            make_fact(world.space, f"Nora keeps hive {words}.")
            make_note(world.space, f"hive {words}")
            make_entity(world.space, f"Hive {words}")
    page = visitor.open(name, world.space.id)
    page.locator("input[name=ids]").first.check()
    box = page.locator("#bulk").get_by_role("button").last.bounding_box()
    places = page.locator(".places").bounding_box()
    screen = page.viewport_size
    assert box
    assert places
    assert screen
    end = places["y"] if width < 500 else screen["height"]
    assert box["y"] + box["height"] <= end
