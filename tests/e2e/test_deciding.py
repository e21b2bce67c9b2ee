"""What an operator and a person decide, by keyboard and by click, in a real browser.

The inbox with its keys, many at once and a rule; the quality centre; a call to copy out of the
playground; a person's page.
"""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone
from playwright.sync_api import Page, expect

from memoryhub.tenants import person_links
from memoryhub.tenants.models import Tenant
from memoryhub.tenants.scope import tenant_scope
from notes.models import Fact, Proposal, ReviewRule
from personas.models import Trait
from tests.console.conftest import ConsoleWorld, make_world
from tests.console.test_inbox import make_conflict
from tests.console.test_quality_pages import make_duplicate_pair
from tests.support.browser import Visitor
from tests.support.factories import make_trait

pytestmark = [pytest.mark.e2e, pytest.mark.writes]


@pytest.fixture
def width() -> int:
    return 1280


@pytest.fixture
def world(tenant: Tenant) -> ConsoleWorld:
    """With an inbox of three conflicts, the oldest of them on top, and nothing else in it."""
    found = make_world("Hive", tenant)
    with tenant_scope(tenant.id):
        Proposal.objects.all().delete()
        ReviewRule.objects.all().delete()
    for number in range(3):
        make_conflict(found, number, created_at=timezone.now() + timedelta(seconds=number))
    return found


def count_open_proposals(world: ConsoleWorld) -> int:
    with tenant_scope(world.tenant.id):
        return int(Proposal.objects.filter(state="open").count())


def get_status(world: ConsoleWorld, words: str) -> str:
    """Of the fact with these words."""
    with tenant_scope(world.tenant.id):
        return str(Fact.objects.get(text=words).status)


def expect_focus(page: Page, number: int) -> None:
    """The case of this number has the focus."""
    expect(page.locator("[data-case]:focus")).to_contain_text(f"Nora lives in Rome, {number}.")


def test_the_inbox_is_gone_through_by_keyboard(visitor: Visitor, world: ConsoleWorld) -> None:
    page = visitor.open("review")
    page.keyboard.press("j")
    expect_focus(page, 0)
    page.keyboard.press("j")
    expect_focus(page, 1)
    page.keyboard.press("k")
    expect_focus(page, 0)
    page.keyboard.press("r")
    expect(page.locator("[data-case]")).to_have_count(2)
    assert get_status(world, "Nora lives in Rome, 0.") == "retracted"
    expect_focus(page, 1)  # what took its place
    page.keyboard.press("a")
    expect(page.locator("[data-case]")).to_have_count(1)
    assert get_status(world, "Nora lives in Porto, 1.") == "superseded"
    expect_focus(page, 2)
    page.keyboard.press("u")
    expect(page.get_by_text("the case is open again")).to_be_visible()
    expect(page.locator("[data-case]")).to_have_count(2)
    assert get_status(world, "Nora lives in Porto, 1.") == "active"
    page.keyboard.press("j")
    page.keyboard.press("2")  # keep both, by its number
    expect(page.locator("[data-case]")).to_have_count(1)
    assert get_status(world, "Nora lives in Rome, 1.") == "active"


def test_a_case_that_is_alone_on_its_page_is_answered_without_being_chosen(
    visitor: Visitor, world: ConsoleWorld
) -> None:
    page = visitor.open("review")
    page.get_by_role("link", name="One at a time").click()
    expect(page.locator("[data-case]")).to_have_count(1)
    page.keyboard.press("r")
    expect(page.get_by_text("Nora lives in Rome, 1.").first).to_be_visible()
    assert get_status(world, "Nora lives in Rome, 0.") == "retracted"
    with tenant_scope(world.tenant.id):
        case = Proposal.objects.filter(state="open").earliest("created_at")
    page = visitor.open("review-case", case.id)
    page.keyboard.press("b")
    expect(page.get_by_role("button", name="Undo").first).to_be_visible()
    assert count_open_proposals(world) == 1


def test_a_case_is_reworded_by_keyboard(visitor: Visitor, world: ConsoleWorld) -> None:
    page = visitor.open("review")
    page.keyboard.press("j")
    page.keyboard.press("e")
    words = page.get_by_label("The new memory, in your words").first
    expect(words).to_be_focused()
    page.keyboard.type("Nora lives in Rome and rows.")  # also j, r and u are only letters here
    page.get_by_role("button", name="Accept with this text").first.click()
    expect(page.locator("[data-case]")).to_have_count(2)
    with tenant_scope(world.tenant.id):
        assert Fact.objects.get(text="Nora lives in Rome and rows.").is_protected


def test_many_are_chosen_by_keyboard_answered_and_taken_back(
    visitor: Visitor, world: ConsoleWorld
) -> None:
    page = visitor.open("review")
    for key in "jxjx":
        page.keyboard.press(key)
    expect(page.locator("[data-chosen]")).to_have_text("2 selected")
    page.get_by_label("All on this page").check()
    expect(page.locator("[data-chosen]")).to_have_text("3 selected")
    page.get_by_label("Why", exact=True).first.fill("assistants guess")
    bulk = page.get_by_role("form", name="Decide the selected cases")
    bulk.get_by_role("button", name="Reject").click()
    expect(page.get_by_role("heading", name="Rejected: 3 of 3")).to_be_visible()
    assert count_open_proposals(world) == 0
    page.get_by_role("button", name="Undo all").click()
    expect(page.get_by_role("heading", name="Undone: 3 of 3")).to_be_visible()
    assert count_open_proposals(world) == 3


def test_a_rule_answers_what_is_like_the_case_it_was_made_from(
    visitor: Visitor, world: ConsoleWorld
) -> None:
    page = visitor.open("review")
    page.get_by_role("link", name="Create a rule").first.click()
    expect(page.get_by_role("heading", name="A rule based on this case")).to_be_visible()
    expect(page.get_by_label("About", exact=True)).to_have_value("lives_in")
    page.get_by_label("Also decide the open cases it covers").check()
    page.get_by_role("button", name="Create rule").click()
    expect(page.get_by_text("Open cases decided by it: 3.")).to_be_visible()
    assert get_status(world, "Nora lives in Rome, 0.") == "retracted"
    visitor.open("review")
    expect(page.get_by_text("Nothing to review")).to_be_visible()
    visitor.open("review-rules")
    page.get_by_role("button", name="Remove").click()
    expect(page.get_by_text("it decides no more cases")).to_be_visible()


def test_a_pair_of_the_quality_centre_is_merged_and_a_fact_retired_both_taken_back(
    visitor: Visitor, world: ConsoleWorld
) -> None:
    older, newer = make_duplicate_pair(world)

    def held() -> int:
        with tenant_scope(world.tenant.id):
            rows = Fact.objects.filter(id__in=[older.id, newer.id], retired_at=None)
            return int(rows.count())

    page = visitor.open("quality")
    page.get_by_role("link", name="Duplicates").click()
    page.locator("#spaces").get_by_role("link", name=world.space.subject).click()
    for button in ("Merge into the older one", "Hide the newer one"):
        page.get_by_role("button", name=button).click()
        expect(page.locator(".messages")).to_be_visible()
        expect(page.get_by_role("button", name=button)).to_have_count(0)
        assert held() == 1
        page.get_by_role("button", name="Undo").click()
        expect(page.get_by_text("Undone.")).to_be_visible()
        expect(page.get_by_role("button", name=button)).to_be_visible()
        assert held() == 2


def test_a_question_of_the_playground_is_copied_as_a_call(
    visitor: Visitor, world: ConsoleWorld
) -> None:
    page = visitor.page
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    visitor.open("space-search", world.space.id)
    page.get_by_label("Question").fill("Where are the bees?")
    page.get_by_role("button", name="Ask").click()
    called = page.get_by_role("region", name="As a call")
    for language, words in (
        ("curl", f"curl -s {visitor.base}/api/v1/search"),
        ("Python", "found = hub.search("),
        ("JavaScript", "await fetch("),
    ):
        copy = called.get_by_role("button", name=f"Copy as {language}")
        if not copy.is_visible():
            called.get_by_text(language, exact=True).first.click()
        copy.click()
        expect(called.get_by_role("button", name="Copied")).to_be_visible()
        copied = page.evaluate("navigator.clipboard.readText()")
        assert words in copied
        assert "Where are the bees?" in copied
        expect(called.get_by_role("button", name=f"Copy as {language}")).to_be_visible()


@pytest.mark.parametrize("width", [1280, 390])
def test_a_person_takes_back_what_is_thought_of_them_and_that_too(
    visitor: Visitor, world: ConsoleWorld, width: int
) -> None:
    with tenant_scope(world.tenant.id):
        make_trait(world.space, "openness", "high", world.turn)

    def thought() -> list[str]:
        with tenant_scope(world.tenant.id):
            held = Trait.objects.filter(valid_to=None, retired_at=None)
            return list(held.values_list("level", flat=True))

    now, page = timezone.now(), visitor.page
    page.context.clear_cookies()
    _, token = person_links.create_person_link(world.space, "ida", now, now + timedelta(days=1))
    page.goto(f"{visitor.base}/me/open#{token}")
    page.get_by_role("link", name="About you").click()
    expect(page.locator("#trait-openness")).to_contain_text("curious about the new")
    page.get_by_text("That's not right").click()
    page.get_by_label("What is correct?").select_option(label="Fond of the familiar")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.get_by_role("button", name="Correct").click()
    expect(page.get_by_role("status")).to_contain_text("Your version stands")
    assert thought() == ["low"]
    page.get_by_text("That's not right").click()
    page.get_by_role("button", name="Correct").click()
    expect(page.get_by_text("removed by you")).to_be_visible()
    assert thought() == []
    for level in ("low", "high"):
        page.get_by_role("button", name="Undo").click()
        expect(page.get_by_role("status")).to_contain_text("The earlier assessment applies again")
        assert thought() == [level]
