"""The tutorial, followed in a browser as it is written: what it says will be seen is seen."""

from __future__ import annotations

import json
import re
from datetime import date, datetime, timedelta, timezone
from typing import Any

import httpx
import pytest
from playwright.sync_api import Locator, Page, expect

from memoryhub.bootstrap import DEMO_DIALOGUES, ingest_conversations
from memoryhub.dialogues.formats import read_dialogues
from memoryhub.pipeline.ingest.services import run_space
from memoryhub.tenants.models import Space, Tenant
from memoryhub.tenants.scope import tenant_scope
from memoryhub.tenants.services import create_key
from tests.docs.pages import ROOT
from tests.support.browser import Visitor

pytestmark = [pytest.mark.e2e, pytest.mark.writes]

TUTORIAL = (ROOT / "docs/tutorial/five-minutes.md").read_text("utf-8")
SECTIONS = dict(re.findall(r"^## (\d)\. .*\n((?:(?!^## ).*\n)*)", TUTORIAL, re.M))
TOUR_ZONE = timezone(timedelta(hours=2))  # of the message that the tutorial sends
CURL = re.compile(r"curl -s http://127\.0\.0\.1:8000(\S+) .*?-d '(.*?)'$", re.M | re.S)


@pytest.fixture
def width() -> int:
    return 1280


@pytest.fixture
def ana(tenant: Tenant) -> Space:
    """The demo's, as a first start loads her."""
    talks = list(read_dialogues(DEMO_DIALOGUES / "ana.jsonl", "jsonl"))
    assert ingest_conversations(tenant, talks, lambda done, total: None).failed == 0
    with tenant_scope(tenant.id):
        space = Space.objects.get(subject="ana")
    run_space(tenant.id, space.id)
    return space


def read_words(step: int, words: str) -> str:
    """Words of the tutorial that lead somebody on; who changes them there comes by here."""
    assert words in SECTIONS[str(step)], f"step {step} no longer says {words!r}"
    return words


def read_message(step: int) -> str:
    """What the tutorial has one say."""
    (said,) = re.findall(r"^> (.+)$", SECTIONS[str(step)], re.M)
    return str(said)


def find_facts(page: Page, words: str) -> Locator:
    page.get_by_role("searchbox", name="Search facts").fill(words)
    page.keyboard.press("Enter")
    page.wait_for_url(re.compile(rf"[?&]q={words}"))
    return page.locator("main tbody tr")


def open_view(page: Page, tab: str, view: str = "") -> None:
    page.get_by_role("navigation", name="Ana Ferreira").get_by_role("link", name=tab).click()
    if view:
        page.get_by_role("navigation", name="Views").get_by_role("link", name=view).first.click()


def call_api(visitor: Visitor, step: int, key: str) -> Any:
    ((path, body),) = CURL.findall(SECTIONS[str(step)])
    asked = {"Authorization": f"Bearer {key}"}
    answer = httpx.post(visitor.base + path, json=json.loads(body), headers=asked, timeout=60)
    assert answer.is_success, answer.text
    return answer.json()


def test_every_promise_of_the_tutorial_is_kept(
    visitor: Visitor, tenant: Tenant, ana: Space
) -> None:
    page = visitor.open("overview")
    look_around(page)
    follow_a_fact_to_its_source(page)
    look_for_what_she_gave_up(page)
    change_her_mind(page, ana)
    put_it_right_and_take_it_back(page)
    _, key = create_key(tenant, "tutorial", ["read", "write"])
    ask_over_http(visitor, key)
    remember_over_http(visitor, key)


def look_around(page: Page) -> None:
    read_words(1, "The **overview** shows how much the hub holds")
    expect(page.get_by_role("heading", name="Overview", exact=True)).to_be_visible()
    expect(page.locator(".tile").first).to_contain_text("1")
    read_words(1, "Open **Spaces** and choose Ana Ferreira")
    page.get_by_role("navigation", name="Main").get_by_role("link", name="Spaces").click()
    page.get_by_role("link", name="Ana Ferreira").first.click()
    expect(page.get_by_role("heading", name="Ana Ferreira", exact=True)).to_be_visible()


def follow_a_fact_to_its_source(page: Page) -> None:
    read_words(2, "In Ana's space open **Memories**, show **All**")
    open_view(page, "Memories")
    page.get_by_role("combobox", name="Show").select_option(label="All")
    page.wait_for_url(re.compile("all"))
    read_words(2, "look for `Porto` and then for `moved`")
    old = find_facts(page, "Porto").filter(has_text="lives in Porto").first
    expect(old).to_contain_text("moved to Madrid")
    read_words(2, "the first fact has an end and names its successor, the second holds")
    new = find_facts(page, "moved").filter(has_text="moved to Madrid").first
    expect(new).to_contain_text("6 Jun")
    expect(new).not_to_contain_text("replaced")
    read_words(2, "Click a fact to see the words it was made of, highlighted in the turn")
    new.get_by_role("link", name="moved to Madrid").first.click()
    expect(page.locator("mark").first).to_contain_text("Madrid")


def look_for_what_she_gave_up(page: Page) -> None:
    read_words(2, "search `coffee`")
    open_view(page, "Memories")
    rows = find_facts(page, "coffee")
    expect(rows.filter(has_text="stopped drinking coffee").first).to_be_visible()
    expect(find_facts(page, "tea").filter(has_text="drinks green tea").first).to_be_visible()
    glazes = find_facts(page, "glaze")
    expect(glazes.filter(has_text="favourite glaze is celadon").first).to_be_visible()
    expect(find_facts(page, "exam").filter(has_text="Tuesday, not Monday").first).to_be_visible()


def change_her_mind(page: Page, ana: Space) -> None:
    read_words(3, "Open **Chat**, choose Ana Ferreira")
    page.get_by_role("navigation", name="Main").get_by_role("link", name="Chat").click()
    page.get_by_role("link", name="Ana Ferreira").first.click()
    say(page, ana, read_message(3))
    expect(page.locator(".bubble.by-assistant").last).to_contain_text("moved to Lisbon last week")
    strip = page.locator("#strip")
    expect(strip.get_by_role("link", name="moved to Lisbon").first).to_be_visible()
    for asked, told in (("Where do I live?", "Lisbon"), ("Where did I live before?", "Madrid")):
        read_words(3, asked)
        say(page, ana, asked)
        expect(page.locator(".bubble.by-assistant .words").last).to_contain_text(told)
    read_words(3, "What do you know about me?")
    say(page, ana, "What do you know about me?")
    answer = page.locator(".bubble.by-assistant").last
    for known in ("Lisbon", "ceramic"):
        expect(answer).to_contain_text(known)
    read_words(3, "with its day")
    expect(page.locator("#strip time").first).to_be_visible()
    read_words(3, "Madrid has ended, Lisbon holds")
    page.get_by_role("link", name="All memories").click()
    open_view(page, "Memories")
    page.get_by_role("combobox", name="Show").select_option(label="All")
    page.wait_for_url(re.compile("all"))
    madrid = find_facts(page, "moved").filter(has_text="moved to Madrid").first
    expect(madrid).to_contain_text("moved to Lisbon")


def say(page: Page, space: Space, words: str) -> None:
    page.get_by_label("Message as Ana Ferreira").fill(words)
    page.keyboard.press("Enter")
    expect(page.locator(".bubble.by-user").last).to_contain_text(words)
    expect(page.locator(".bubble.live")).to_have_count(0)
    run_space(space.tenant_id, space.id)
    expect(page.get_by_text("Reading…")).to_have_count(0)


def put_it_right_and_take_it_back(page: Page) -> None:
    read_words(4, "Click the fact about Lisbon")
    page.locator("main tbody tr").get_by_role("link", name="moved to Lisbon").first.click()
    read_words(4, "Under **Actions** choose **Correct**")
    page.get_by_role("group", name="Actions").get_by_text("Correct", exact=True).click()
    field = page.get_by_label("What is true")
    expect(field).to_be_visible()
    expect(page.locator(".htmx-added")).to_have_count(0)  # its form is listened to
    field.fill("Ana Ferreira lives in the Alfama in Lisbon.")
    expect(page.locator("#outlook ins")).to_be_visible()
    page.get_by_role("button", name="Correct it").click()
    read_words(4, "that you put it right")
    expect(page.get_by_text("Corrected by")).to_be_visible()
    read_words(4, "the hub asks before it changes this fact")
    expect(page.get_by_text("The hub asks before changing it")).to_be_visible()
    read_words(4, "Open **History**. Near the top stands your change")
    open_view(page, "History")
    read_words(4, "*Manual*")
    changes = page.locator("main .lines > li")
    undo_or_redo(page, changes.filter(has_text="Manual").first, "Undo")
    open_view(page, "Memories")
    expect(find_facts(page, "Lisbon").filter(has_text="moved to Lisbon").first).to_be_visible()
    open_view(page, "History")
    undo_or_redo(page, changes.filter(has=page.get_by_role("link", name="Redo")).first, "Redo")
    open_view(page, "Memories")
    expect(find_facts(page, "Lisbon").filter(has_text="lives in the Alfama").first).to_be_visible()


def undo_or_redo(page: Page, change: Locator, what: str) -> None:
    read_words(4, f"**{what}**")
    change.get_by_role("link", name=what, exact=True).click()
    expect(page.get_by_role("button", name=f"{what} this change")).to_be_visible()
    page.get_by_role("button", name=f"{what} this change").click()
    expect(page.locator(".messages")).to_be_visible()


def ask_over_http(visitor: Visitor, key: str) -> None:
    read_words(5, "The fact about Lisbon comes first")
    found = call_api(visitor, 5, key)["items"]
    assert "Lisbon" in found[0]["text"]
    assert found[0]["parts"]
    assert found[0]["sources"]


def remember_over_http(visitor: Visitor, key: str) -> None:
    read_words(6, "it becomes 10 October 2026")
    first, second = (call_api(visitor, 6, key) for _ in range(2))
    assert first["job"]["decisions"]
    asked = {"Authorization": f"Bearer {key}"}
    listed = httpx.get(f"{visitor.base}/api/v1/spaces/ana/facts?limit=200", headers=asked).json()
    facts = [fact for fact in listed["items"] if "Coimbra" in fact["text"]]
    days = {fact["event_from"] or fact["valid_from"] for fact in facts}
    assert {datetime.fromisoformat(day).astimezone(TOUR_ZONE).date() for day in days} == {
        date(2026, 10, 10)
    }
    read_words(6, "nothing is stored twice")
    assert [turn["duplicate"] for turn in second["turns"]] == [True]
