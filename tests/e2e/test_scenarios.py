"""What an operator does from beginning to end, in a real browser.

Finding a fact, the chat that learns and recalls, and the graph are in test_console.py and
test_link_graph.py; that no request leaves the host is watched in all of them (see `Visitor`).
"""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone
from playwright.sync_api import expect

from memoryhub.dialogues.messages import Message
from memoryhub.pipeline.ingest.services import IngestRequest, ingest_messages, run_space
from memoryhub.tenants import person_links
from memoryhub.tenants.models import Membership, Space, Tenant
from memoryhub.tenants.scope import tenant_scope
from notes.models import Fact
from tests.support.browser import Visitor
from tests.support.factories import make_member, make_space

pytestmark = [pytest.mark.e2e, pytest.mark.writes]


@pytest.fixture
def width() -> int:
    return 1280


@pytest.fixture
def ana(tenant: Tenant) -> Space:
    """Somebody who has said, and been read, that she lives in Lisbon."""
    with tenant_scope(tenant.id):
        space = make_space(tenant, "Ana")
    add_turn(space, "I live in Lisbon.")
    return space


def add_turn(space: Space, words: str) -> None:
    message = Message("user", words, "Ana")
    ingest_messages(space.tenant_id, IngestRequest(space.subject, [message]))
    run_space(space.tenant_id, space.id)


def get_home_fact(space: Space) -> Fact:
    with tenant_scope(space.tenant_id):
        held = Fact.objects.filter(space=space, predicate_key="lives_in", retired_at=None)
        return held.get(valid_to=None, status="active")


def correct_fact(visitor: Visitor, space: Space, words: str) -> None:
    page = visitor.open("space-fact", space.id, get_home_fact(space).id)
    page.get_by_role("group", name="Actions").get_by_text("Correct", exact=True).click()
    field = page.get_by_label("What is true")
    expect(field).to_be_visible()
    expect(page.locator(".htmx-added")).to_have_count(0)  # its form is listened to
    field.fill(words)
    expect(page.locator("#outlook ins")).to_be_visible()
    page.get_by_role("button", name="Correct it").click()
    expect(page.get_by_text("Corrected by")).to_be_visible()


def test_a_correction_stays_though_the_pipeline_reads_otherwise(
    visitor: Visitor, ana: Space
) -> None:
    correct_fact(visitor, ana, "Ana lives in Porto.")
    add_turn(ana, "I live in Faro.")
    assert get_home_fact(ana).text == "Ana lives in Porto."
    page = visitor.open("space-facts", ana.id)
    expect(page.get_by_role("link", name="Ana lives in Porto.")).to_be_visible()


def test_a_conflict_is_resolved(visitor: Visitor, ana: Space) -> None:
    correct_fact(visitor, ana, "Ana lives in Porto.")
    add_turn(ana, "I live in Faro.")
    page = visitor.open("review")
    expect(page.get_by_text("Ana lives in Porto.").first).to_be_visible()
    expect(page.get_by_text("Faro").first).to_be_visible()
    page.locator("main button[value=apply]").first.click()
    expect(page.locator("main button[value=apply]")).to_have_count(0)
    assert "Faro" in get_home_fact(ana).text


def test_an_event_is_undone(visitor: Visitor, ana: Space) -> None:
    correct_fact(visitor, ana, "Ana lives in Porto.")
    page = visitor.open("space-history", ana.id)
    page.locator("main .lines > li", has_text="corrected").locator("b a").click()
    page.get_by_role("button", name="Undo this change").click()
    expect(page.locator(".messages")).to_be_visible()
    assert "Lisbon" in get_home_fact(ana).text


def test_a_space_is_rolled_back(visitor: Visitor, ana: Space) -> None:
    before = timezone.now()
    correct_fact(visitor, ana, "Ana lives in Porto.")
    page = visitor.open("space-history", ana.id)
    page.get_by_role("link", name="Go back to an earlier time").click()
    expect(page.get_by_label("Go back to")).to_be_visible()
    then = before.replace(tzinfo=None).isoformat(timespec="milliseconds")
    page.goto(f"{page.url}?to={then}")  # finer than the field's minutes
    expect(page.get_by_text("This undoes")).to_be_visible()
    page.get_by_role("button", name="Go back to this time").click()
    expect(page.locator(".messages")).to_be_visible()
    assert "Lisbon" in get_home_fact(ana).text


def test_erasing_leaves_a_receipt(visitor: Visitor, ana: Space) -> None:
    page = visitor.open("space-erase", ana.id)
    page.get_by_role("link", name="Everything about Ana").click()
    expect(page.get_by_role("heading", name="Everything that will be erased")).to_be_visible()
    page.get_by_label("Type Ana to confirm").fill("Ana")
    for field in ("Type Ana to confirm", "Reason, for the receipt"):
        page.get_by_label(field).press("Enter")  # erases nothing: only the red button does
    page.wait_for_timeout(500)
    expect(page.get_by_label("Type Ana to confirm")).to_have_value("Ana")
    page.get_by_role("button", name="Erase for good").click()
    expect(page.get_by_role("heading", name="Erased: everything about a person")).to_be_visible()
    expect(page.get_by_text("Lisbon")).to_have_count(0)
    visitor.open("spaces")
    expect(page.get_by_role("link", name="Ana")).to_have_count(0)


def test_a_viewer_sees_an_editor_corrects_and_a_stranger_gets_nothing(
    visitor: Visitor, ana: Space, tenant: Tenant
) -> None:
    fact, page = get_home_fact(ana), visitor.page
    put_right = page.get_by_role("group", name="Actions")
    for role, may in ((Membership.Role.VIEWER, 0), (Membership.Role.EDITOR, 1)):
        page.context.clear_cookies()
        visitor.sign_in(make_member(tenant, role).username)
        visitor.open("space-fact", ana.id, fact.id)
        expect(page.get_by_role("heading", name=fact.text)).to_be_visible()
        expect(put_right).to_have_count(may)
        expect(page.get_by_role("link", name="Erase for good")).to_have_count(0)
        visitor.open("settings")
        expect(page.get_by_role("heading", name="Settings")).to_be_visible()
        expect(page.get_by_role("link", name="API keys")).to_have_count(0)
    page.context.clear_cookies()
    visitor.open("space-fact", ana.id, fact.id)
    expect(page.get_by_role("heading", name="MemoryHub")).to_be_visible()
    expect(page.get_by_label("Username")).to_be_visible()
    expect(page.get_by_text("Lisbon")).to_have_count(0)


@pytest.mark.parametrize("width", [1280, 390])
def test_a_person_puts_right_pauses_and_erases_by_their_link(
    visitor: Visitor, ana: Space, width: int
) -> None:
    now, page = timezone.now(), visitor.page
    page.context.clear_cookies()
    _, token = person_links.create_person_link(ana, "ida", now, now + timedelta(days=1))
    page.goto(f"{visitor.base}/me/open#{token}")
    expect(page.get_by_role("heading", name="What is remembered about you")).to_be_visible()
    page.wait_for_url(f"{visitor.base}/me/")
    assert token not in page.content()
    page.get_by_role("link", name=get_home_fact(ana).text).click()
    expect(page.locator("mark")).to_contain_text("I live in Lisbon")
    page.get_by_label("What is correct?").fill("Ana lives in Porto.")
    page.get_by_role("button", name="Correct").click()
    expect(page.get_by_role("status")).to_contain_text("Your version stands")
    add_turn(ana, "I live in Faro.")
    assert get_home_fact(ana).text == "Ana lives in Porto."
    page.get_by_role("link", name="Pause, download, erase").click()
    page.get_by_role("button", name="Pause").click()
    expect(page.get_by_role("button", name="Resume")).to_be_visible()
    with page.expect_download() as kept:
        page.get_by_role("button", name="Download").click()
    assert "Ana lives in Porto." in kept.value.path().read_text(encoding="utf-8")
    page.get_by_role("link", name="See what would be erased").click()
    expect(page.get_by_label("to confirm")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.get_by_label("to confirm").fill("erase everything")
    page.get_by_role("button", name="Erase for good").click()
    expect(page.get_by_role("heading", name="Permanently erased")).to_be_visible()
    with tenant_scope(ana.tenant_id):
        assert not Space.objects.filter(id=ana.id).exists()
