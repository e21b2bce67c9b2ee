"""What an operator is asked to do, done in a browser with every press of the pointer counted.

The bars are the page's `docs/explanation/console-tasks.md`: what is counted here is promised there.
Words typed and the key that sends them are no clicks; a list that is opened is one, and what is
chosen from it another.
"""

from __future__ import annotations

import re
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.utils import timezone
from playwright.sync_api import Page, expect

from memoryhub.console.pages.models import endpoint_check
from memoryhub.console.pages.models.endpoint_check import ModelProbe
from memoryhub.dialogues.messages import Message
from memoryhub.engines.llm.client.probe import ModelCapabilities
from memoryhub.pipeline.ingest.services import IngestRequest, ingest_messages, run_space
from memoryhub.recall.question.caller import SearchCaller
from memoryhub.recall.services import search_memories
from memoryhub.tenants import person_links
from memoryhub.tenants.models import Membership, Space, Tenant, User
from memoryhub.tenants.scope import tenant_scope
from notes.models import Fact
from tests.docs.pages import ROOT
from tests.support.browser import Visitor
from tests.support.factories import make_space

pytestmark = [pytest.mark.e2e, pytest.mark.writes]

PAGE = (ROOT / "docs/explanation/console-tasks.md").read_text("utf-8")
# Of each task in the page's table: the clicks it takes.
PROMISED = {
    name: int(clicks) for name, clicks in re.findall(r"^\| ([^|]+?) \|.*\| (\d+) \|$", PAGE, re.M)
}
COUNT = """addEventListener("pointerdown", (event) => {
  if (event.isTrusted) sessionStorage.clicks = Number(sessionStorage.clicks ?? 0) + 1;
}, true);
addEventListener("change", ({ target }) => {  // a choice from a list that was opened
  if (target.matches("select")) sessionStorage.clicks = Number(sessionStorage.clicks ?? 0) + 2;
}, true);"""


@pytest.fixture
def width() -> int:
    return 1280


@pytest.fixture
def ana(tenant: Tenant) -> Space:
    """Somebody who has said, and been read, where she works and lives."""
    with tenant_scope(tenant.id):
        space = make_space(tenant, "Ana")
    for words in ("I work at Harbour Bakery.", "I live in Lisbon.", "I keep two cats."):
        ingest_messages(tenant.id, IngestRequest("Ana", [Message("user", words, "Ana")]))
    run_space(tenant.id, space.id)
    return space


@pytest.fixture
def page(visitor: Visitor) -> Page:
    """On the overview, where every task begins: asked for after all that it is to show."""
    visitor.page.add_init_script(COUNT)
    return visitor.open("overview")


def hold_to(task: str, page: Page) -> None:
    """It took as many clicks as the page about it says, no more and no fewer."""
    assert int(page.evaluate("sessionStorage.clicks ?? 0")) == PROMISED[task]


def read_current_job(space: Space) -> str:
    with tenant_scope(space.tenant_id):
        held = Fact.objects.filter(space=space, predicate_key="works_at", retired_at=None)
        return held.get(valid_to=None, status="active").text


def go_to_space(page: Page) -> None:
    page.get_by_role("main").get_by_role("link", name="Ana", exact=True).first.click()
    expect(page.get_by_role("navigation", name="Ana")).to_be_visible()


def go_to_setting(page: Page, name: str) -> None:
    page.get_by_role("navigation", name="Main").get_by_role("link", name="Settings").click()
    expect(page.get_by_role("heading", name="Settings")).to_be_visible()
    page.get_by_role("main").get_by_role("link", name=name, exact=True).first.click()


def test_a_newcomer_sees_who_it_is_why_how_it_hangs_together_and_asks(
    ana: Space, page: Page
) -> None:
    go_to_space(page)
    expect(page.get_by_role("main")).to_contain_text("Harbour Bakery")
    page.get_by_role("main").get_by_role("link", name="Ana works at Harbour Bakery.").first.click()
    expect(page.locator("mark").first).to_contain_text("Harbour Bakery")
    tabs = page.get_by_role("navigation", name="Ana")
    tabs.get_by_role("link", name="Graph", exact=True).click()
    expect(page.locator("#graph, [data-graph], svg").first).to_be_visible()
    tabs.get_by_role("link", name="History", exact=True).click()
    expect(page.get_by_role("main")).to_contain_text("Ana works at Harbour Bakery.")
    page.get_by_role("main").get_by_role("link", name="Chat", exact=True).click()
    box = page.get_by_role("textbox", name="Message as Ana")
    box.fill("whats my job")
    box.press("Enter")
    expect(page.locator(".bubble.by-assistant").last).to_contain_text("Harbour Bakery")
    hold_to("A newcomer sees who it is, why, and how it hangs together, and asks", page)


def test_a_wrong_job_is_found_corrected_and_undone(ana: Space, page: Page) -> None:
    page.keyboard.press("Control+k")
    page.get_by_role("searchbox", name="Go to").fill("Ana job")
    page.get_by_role("dialog").get_by_role("link", name="Harbour Bakery").first.click()
    expect(page.locator("mark").first).to_contain_text("Harbour Bakery")
    page.get_by_role("group", name="Actions").get_by_text("Correct", exact=True).click()
    field = page.get_by_label("What is true")
    expect(field).to_be_visible()
    expect(page.locator(".htmx-added")).to_have_count(0)  # its form is listened to
    field.fill("Ana works at Mill Books.")
    expect(page.locator("#outlook ins")).to_be_visible()
    page.get_by_role("button", name="Correct it").click()
    expect(page.get_by_text("Corrected by")).to_be_visible()
    assert "Mill Books" in read_current_job(ana)
    page.locator(".messages").get_by_role("button", name="Undo").click()
    expect(page.get_by_text("Undone.")).to_be_visible()
    assert "Harbour Bakery" in read_current_job(ana)
    hold_to("A wrong job is found, corrected and undone", page)


def test_what_is_known_is_shown_erased_and_proved(ana: Space, page: Page) -> None:
    go_to_space(page)
    expect(page.get_by_role("main")).to_contain_text("Harbour Bakery")
    page.get_by_role("link", name="History", exact=True).click()
    page.get_by_role("link", name="Erase for good…").click()
    page.get_by_role("link", name="Everything about Ana").click()
    expect(page.get_by_role("heading", name="Everything that will be erased")).to_be_visible()
    page.get_by_label("Type Ana to confirm").fill("Ana")
    page.get_by_role("button", name="Erase for good").click()
    expect(page.get_by_role("heading", name="Erased: everything about a person")).to_be_visible()
    expect(page.get_by_text("Receipt number")).to_be_visible()
    expect(page.get_by_text("Checksum", exact=True)).to_be_visible()
    expect(page.get_by_role("button", name="Print")).to_be_visible()
    expect(page.get_by_text("Harbour Bakery")).to_have_count(0)
    hold_to("“What do you know of me? Delete it all, and prove it”", page)


def test_why_an_agent_said_something_is_told(ana: Space, page: Page) -> None:
    asked = SearchCaller("api", "agent")
    search_memories(ana, "Where does Ana work?", asked_by=asked, inspect=True)  # logged at once
    page.get_by_role("navigation", name="Main").get_by_role("link", name="Activity").click()
    page.get_by_role("link", name="Recalls", exact=True).click()
    page.get_by_role("link", name="Where does Ana work?").click()
    expect(page.get_by_role("heading", name="Steps")).to_be_visible()
    shown = page.locator(".explained").filter(has_text="Harbour Bakery").first
    expect(shown.get_by_role("img")).to_be_visible()  # its score, part by part
    shown.locator("a[href*='/turns/']").first.click()
    expect(page.locator(".turn:target")).to_contain_text("I work at Harbour Bakery.")
    hold_to("“Why did the agent say that?”", page)


def test_a_member_is_let_in(page: Page) -> None:
    go_to_setting(page, "People")
    page.get_by_label("Username").fill("nora-of-the-mill")
    page.get_by_role("button", name="Add person").click()
    expect(page.locator(".secret code")).to_be_visible()
    hold_to("A member is added", page)


def test_a_key_is_made(page: Page) -> None:
    go_to_setting(page, "API keys")
    page.get_by_label("Name", exact=True).fill("backend")
    page.get_by_role("button", name="Create key").click()
    expect(page.locator(".secret code")).to_contain_text("mh_")
    hold_to("A key is made", page)


@pytest.fixture
def endpoint(monkeypatch: pytest.MonkeyPatch, settings: Any, tmp_path: Path) -> None:
    """One that answers whatever it is asked."""
    settings.DATA_DIR = tmp_path

    def probe(url: str, key: str, model: str, **options: Any) -> ModelCapabilities:
        return ModelCapabilities(url, model, shapes=["text"], troubles={})

    monkeypatch.setattr("memoryhub.engines.llm.client.probe.probe_model", probe)
    monkeypatch.setattr(
        endpoint_check, "probe_embedding_model", lambda *_: ModelProbe("Embedder", None, [])
    )


def test_a_model_is_connected_and_given_a_budget(
    page: Page, tenant: Tenant, endpoint: None
) -> None:
    with tenant_scope(tenant.id):
        members = list(Membership.objects.values_list("user_id", flat=True))
    User.objects.filter(id__in=members).update(is_superuser=True)
    go_to_setting(page, "Models and budgets")
    page.get_by_text("Endpoint for this tenant only").click()
    form = page.locator("form", has=page.locator("#url-tenant"))
    form.get_by_label("Address").fill("https://models.example/v1")
    form.get_by_label("Language model").fill("large")
    form.get_by_label("Key", exact=True).fill("sk-of-a-test")
    form.get_by_role("button", name="Test and save").click()
    expect(page.get_by_text("Saved. It applies from the next request on.")).to_be_visible()
    page.get_by_label("Cost per day").fill("5")
    page.get_by_role("button", name="Save", exact=True).first.click()
    expect(page.get_by_label("Cost per day")).to_have_value(re.compile("^5"))
    hold_to("A model with a budget", page)


def test_a_person_is_given_their_page(ana: Space, page: Page) -> None:
    go_to_space(page)
    page.get_by_role("link", name="Their page").click()
    page.get_by_role("button", name="Create link").click()
    link = page.locator(".secret code")
    expect(link).to_contain_text("/me/open#")
    hold_to("A person gets their own page", page)


def test_a_person_reads_corrects_and_erases_what_is_known_of_them(
    visitor: Visitor, ana: Space, page: Page
) -> None:
    now = timezone.now()
    _, token = person_links.create_person_link(ana, "ida", now, now + timedelta(days=1))
    page.context.clear_cookies()
    page.goto(f"{visitor.base}/me/open#{token}")
    expect(page.get_by_text("Harbour Bakery").first).to_be_visible()
    page.evaluate("sessionStorage.clicks = 0")
    page.get_by_role("link", name=read_current_job(ana)).click()
    page.get_by_label("What is correct?").fill("Ana works at Mill Books.")
    page.get_by_role("button", name="Correct").click()
    expect(page.get_by_role("status")).to_contain_text("Your version stands")
    page.get_by_role("link", name="Pause, download, erase").click()
    page.get_by_role("link", name="See what would be erased").click()
    page.get_by_label("to confirm").fill("erase everything")
    page.get_by_role("button", name="Erase for good").click()
    expect(page.get_by_role("heading", name="Permanently erased")).to_be_visible()
    hold_to("A person corrects a memory and erases everything, on their own page", page)


def test_presets_are_compared_as_ranked_lists(ana: Space, page: Page) -> None:
    go_to_space(page)
    page.get_by_role("link", name="Search", exact=True).click()
    page.get_by_label("Question").fill("Where does Ana work?")
    page.get_by_text("Presets side by side").click()
    page.get_by_role("checkbox", name="Plain retrieval").check()
    page.get_by_role("checkbox", name="MemoryBank").check()
    page.get_by_label("Question").press("Enter")
    lists = page.locator(".ranking")
    expect(lists).to_have_count(3)
    expect(lists.first).to_contain_text("Current settings")
    expect(lists.first.locator("li").first).to_contain_text("Harbour Bakery")
    held_by_letter = page.evaluate(
        """() => [...document.querySelectorAll(".ranking li")].map(
          li => [li.querySelector(".mark-of").textContent, li.querySelector("a").href])"""
    )
    assert len({letter for letter, _ in held_by_letter}) == len(dict(held_by_letter))
    assert len(set(map(tuple, held_by_letter))) == len(dict(held_by_letter))
    hold_to("Presets are compared", page)


def test_every_promise_is_kept_by_a_test() -> None:
    told = (ROOT / "tests/e2e/test_tasks.py").read_text("utf-8")
    assert [name for name in PROMISED if f'hold_to("{name}"' not in told] == []
    assert PROMISED["A wrong job is found, corrected and undone"] <= 5
