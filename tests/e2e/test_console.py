"""The way of an operator: sign in, find a memory, see its source, talk and watch it learn."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from datetime import timedelta
from typing import Any

import pytest
from django.urls import reverse
from django.utils import timezone
from playwright.sync_api import Browser, Page, expect

from memoryhub.pipeline.ingest.services import run_space
from memoryhub.tenants.models import Space, Tenant
from memoryhub.tenants.scope import tenant_scope
from notes.models import Fact
from tests.console.conftest import ConsoleWorld, make_world
from tests.console.test_pages import QUERIES, build_address
from tests.support.browser import Visitor, visiting
from tests.support.factories import make_fact, make_space, make_turns

pytestmark = pytest.mark.e2e

LABELLED = """() => {
  const all = "input:not([type=hidden]), select, textarea, button, a";
  const named = (e) => e.labels?.length || e.getAttribute("aria-label") || e.textContent.trim();
  return [...document.querySelectorAll(all)].filter(e => !named(e)).map(e => e.outerHTML) }"""
TWICE = """() => { const ids = [...document.querySelectorAll("[id]")].map(e => e.id);
  return ids.filter((id, at) => ids.indexOf(id) !== at) }"""

CUT = """() => [...document.querySelectorAll(".places li span")]
  .filter(e => e.offsetParent && e.scrollWidth > e.closest("li").clientWidth)
  .map(e => e.textContent)"""


@pytest.fixture(scope="module")
def shared(hive: Tenant) -> ConsoleWorld:
    """With the longest words there are."""
    made = make_world("Hive", hive)
    fill_with_long_words(made)
    return made


@pytest.fixture
def world(tenant: Tenant, shared: ConsoleWorld) -> ConsoleWorld:
    """In the visitor's own tenant, so that they see it."""
    return shared if tenant == shared.tenant else make_world("Hive", tenant)


def test_from_signing_in_to_the_words_behind_a_fact(visitor: Visitor, world: ConsoleWorld) -> None:
    page = visitor.page
    page.context.clear_cookies()
    visitor.sign_in(world.admin.username)
    expect(page.get_by_role("heading", name="Overview")).to_be_visible()
    page.get_by_role("navigation", name="Main").get_by_role("link", name="Spaces").click()
    page.get_by_role("link", name=world.space.subject).first.click()
    page.get_by_role("navigation", name=world.space.subject).get_by_role(
        "link", name="Memories"
    ).click()
    page.get_by_role("link", name="I keep bees in Ghent", exact=True).click()
    expect(page.locator("mark")).to_have_text("I keep bees in Ghent")
    page.get_by_role("link", name="in the conversation").first.click()
    expect(page.locator(f"#turn-{world.turn.id}")).to_be_in_viewport()


@pytest.mark.writes
def test_a_memory_appears_while_talking(visitor: Visitor, tenant: Tenant) -> None:
    with tenant_scope(tenant.id):
        space = make_space(tenant, "Nora")
    page = visitor.open("chat-with", space.id)
    page.get_by_label("Message as Nora").fill("I moved to Bruges last week.")
    page.keyboard.press("Enter")
    expect(page.locator(".bubble.by-user")).to_contain_text("I moved to Bruges last week.")
    expect(page.locator(".bubble.by-assistant")).to_be_visible()
    expect(page.get_by_label("Message as Nora")).to_have_value("")
    expect(page.get_by_text("Reading…")).to_be_visible()
    run_space(tenant.id, space.id)
    remembered = page.locator("#strip").get_by_role("link", name="Bruges").first
    expect(remembered).to_be_visible()
    remembered.click()
    expect(page.locator("mark")).to_contain_text("moved to Bruges")


HOLD = """() => { const send = window.fetch;
  window.fetch = async (...all) => {
    await new Promise((go) => { window.letGo = go; });
    return send(...all) } }"""


@pytest.mark.writes
def test_what_is_typed_while_a_message_is_on_its_way_stays(
    visitor: Visitor, tenant: Tenant
) -> None:
    with tenant_scope(tenant.id):
        space = make_space(tenant, "Nora")
    page = visitor.open("chat-with", space.id)
    page.evaluate(HOLD)
    field = page.get_by_label("Message as Nora")
    field.fill("Good morning")
    page.keyboard.press("Enter")
    field.fill("Good morning, and where do I live?")
    page.evaluate("letGo()")
    expect(page.locator(".bubble.by-assistant")).to_be_visible()
    expect(field).to_have_value("Good morning, and where do I live?")


@pytest.mark.writes
def test_one_writes_above_the_bar_of_places(visitor: Visitor, tenant: Tenant, width: int) -> None:
    with tenant_scope(tenant.id):
        space = make_space(tenant, "Nora")
    page = visitor.open("chat-with", space.id)
    page.set_viewport_size({"width": width, "height": 667})
    page.get_by_label("Message as Nora").fill("\n".join(["I keep bees."] * 40))
    page.keyboard.press("Enter")
    expect(page.locator(".bubble.by-assistant")).to_be_visible()
    page.evaluate("scrollTo(0, 0)")
    field = page.get_by_label("Message as Nora").bounding_box()
    bar = page.get_by_role("navigation", name="Main").bounding_box()
    assert field
    assert bar
    assert field["y"] + field["height"] <= (bar["y"] or 667)  # on a desktop it is at the side


@pytest.mark.writes
def test_a_refused_message_stays_in_the_field(visitor: Visitor, tenant: Tenant) -> None:
    with tenant_scope(tenant.id):
        space = make_space(tenant, "Nora")
    page = visitor.open("chat-with", space.id)
    page.get_by_label("Message as Nora").fill("   ")
    page.keyboard.press("Enter")
    expect(page.get_by_text("Not sent: the text is empty")).to_be_visible()


@pytest.fixture(scope="module")
def onlookers(chromium: Browser, served: str, shared: ConsoleWorld) -> Iterator[dict[int, Visitor]]:
    """By width: one that goes from page to page, and does nothing there."""
    with ExitStack() as stack:
        yield {
            width: stack.enter_context(visiting(chromium, served, shared.admin, width))
            for width in (1280, 390)
        }


@pytest.mark.parametrize("name", QUERIES)
def test_every_page_fits_and_can_be_used_without_seeing(
    onlookers: dict[int, Visitor], shared: ConsoleWorld, width: int, name: str
) -> None:
    visitor = onlookers[width]
    page = visitor.page
    page.goto(visitor.base + build_address(shared, name))
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    for landmark in ("banner", "navigation", "main"):
        expect(page.get_by_role(landmark).first).to_be_visible()
    expect(page.get_by_role("heading", level=1)).to_have_count(1)
    assert page.evaluate(LABELLED) == []
    assert page.evaluate(TWICE) == []
    troubles, visitor.troubles[:] = visitor.troubles[:], []  # the next page's are its own
    assert troubles == []


def fill_with_long_words(world: ConsoleWorld) -> None:
    with tenant_scope(world.tenant.id):
        turn, *_ = make_turns(world.space, "bees" * 60)
        make_fact(world.space, "bees" * 60, turn, owner="beekeeper" * 9)
        make_space(world.tenant, "subject" * 20)


def test_the_skip_link_is_the_first_stop(visitor: Visitor, world: ConsoleWorld) -> None:
    page = visitor.open("overview")
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Skip to content")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator("#main")).to_be_focused()


def test_the_theme_is_kept(visitor: Visitor) -> None:
    page = visitor.open("overview")
    page.get_by_role("button", name="Switch between light and dark").click()
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    visitor.open("spaces")
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")


def test_the_slash_key_finds(visitor: Visitor, world: ConsoleWorld) -> None:
    page = visitor.open("jobs")
    page.keyboard.press("/")
    page.keyboard.type("bees")
    page.keyboard.press("Enter")
    expect(page.get_by_role("link", name="I keep bees in Ghent")).to_be_visible()


def test_choosing_a_filter_applies_it(visitor: Visitor, world: ConsoleWorld) -> None:
    page = visitor.open("space-facts", world.space.id)
    page.get_by_role("combobox", name="Show").select_option("withdrawn")
    page.wait_for_url("**status=withdrawn**")
    expect(page.get_by_text("Nothing matches")).to_be_visible()


@pytest.mark.writes
def test_the_jobs_page_follows_the_work(visitor: Visitor, world: ConsoleWorld) -> None:
    page = visitor.open("jobs")
    row = page.locator("tbody tr", has_text="Given up")
    row.first.get_by_role("button", name="Retry").click()
    expect(page.get_by_text("Queued for another attempt")).to_be_visible()
    run_space(world.tenant.id, world.space.id)
    expect(page.locator("tbody .badge", has_text="Done").first).to_be_visible()


def test_a_space_that_is_gone_looks_like_the_rest(visitor: Visitor) -> None:
    absent = reverse("space-facts", args=["01890000-0000-7000-8000-000000000000"])
    page: Page = visitor.page
    page.goto(visitor.base + absent)
    expect(page.get_by_role("heading", name="Page not found")).to_be_visible()
    visitor.troubles = [t for t in visitor.troubles if "404" not in t]


def test_space_names_stay_within_their_tenant(visitor: Visitor, world: ConsoleWorld) -> None:
    other = make_world("Orchard")
    page = visitor.open("spaces")
    expect(page.get_by_text(other.space.subject)).to_have_count(0)
    with tenant_scope(world.tenant.id):
        assert Space.objects.filter(subject=other.space.subject).count() == 0


@pytest.mark.parametrize("width", [320, 390], indirect=True)
def test_a_narrow_screen_reaches_every_place(visitor: Visitor, width: int) -> None:
    page = visitor.open("jobs")
    main = page.get_by_role("navigation", name="Main")
    for entry in main.locator("li:visible").all():
        box = entry.bounding_box()
        assert box
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= width
    assert page.evaluate(CUT) == []
    more = main.get_by_text("More", exact=True).locator("..")
    expect(main.get_by_role("link", name="Activity")).to_have_count(0)
    more.press("Enter")
    for name in ("Quality", "Activity", "Lab", "Settings"):
        expect(main.get_by_role("link", name=name)).to_be_in_viewport(ratio=1)
    page.keyboard.press("Tab")
    expect(main.get_by_role("link", name="Quality")).to_be_focused()
    page.keyboard.press("Escape")
    expect(more).to_be_focused()
    expect(main.get_by_role("link", name="Settings")).to_have_count(0)
    page.keyboard.press("Enter")
    main.get_by_role("link", name="Activity").click()
    expect(page.get_by_role("heading", name="Activity")).to_be_visible()
    expect(more).to_have_class("here")


def test_plots_are_drawn_under_the_content_security_policy(
    visitor: Visitor, world: ConsoleWorld
) -> None:
    """Whatever the browser refuses is a trouble, which fails the test."""
    page = visitor.page
    page.set_viewport_size({"width": page.viewport_size["width"], "height": 300})  # type: ignore[index]  # it has one
    visitor.open("lab-run", world.lab.id)
    last = page.get_by_label("Latency: the figures")
    expect(last.locator(".plot-container")).to_have_count(0)  # far below, so not drawn yet
    for plot in page.locator(".plot").all():
        plot.scroll_into_view_if_needed()
    expect(page.locator(".js-plotly-plot .plot-container")).to_have_count(3)
    for box in page.locator(".plot").all():
        drawn = box.locator(".svg-container").bounding_box()
        held = box.bounding_box()
        assert drawn is not None
        assert held is not None
        assert drawn["y"] + drawn["height"] <= held["y"] + held["height"]  # covers nothing below
    lines = page.get_by_label("Recall against tokens").locator(".legendtext")
    expect(lines).to_have_text(["mem0", "rag"])
    assert page.evaluate("document.documentElement.scrollWidth") <= page.viewport_size["width"]  # type: ignore[index]  # it has one
    page.get_by_label("Switch between light and dark").click()
    expect(lines).to_have_text(["mem0", "rag"])


NO_CLIPBOARD = """
  Object.defineProperty(navigator, "clipboard", { value: undefined });
  document.addEventListener("copy", () => { window.copied = document.activeElement.value; });
"""


@pytest.mark.parametrize("width", [1280], indirect=True)
def test_an_id_is_copied_also_where_the_page_has_no_clipboard(
    visitor: Visitor, world: ConsoleWorld
) -> None:
    """As on a hub in a local network that is served without https."""
    visitor.page.add_init_script(NO_CLIPBOARD)
    page = visitor.open("space-fact", world.space.id, world.fact.id)
    copy = page.locator("main button[data-copy]").first
    asked = copy.get_attribute("data-copy")
    copy.focus()
    page.keyboard.press("Enter")
    expect(copy).to_have_class("quiet done")
    assert page.evaluate("window.copied") == asked
    expect(copy).to_be_focused()


@pytest.mark.parametrize("width", [1280], indirect=True)
def test_every_field_of_a_webhook_shows_where_the_focus_is(visitor: Visitor) -> None:
    page = visitor.open("webhook-new")
    for label in ("Name", "Address", "Limit to space", "Payload"):
        page.get_by_label(label, exact=True).focus()
        page.keyboard.press("Shift+Tab")
        page.keyboard.press("Tab")
        shown = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
        assert shown == "solid", label


@pytest.mark.writes
@pytest.mark.parametrize("width", [1280], indirect=True)
def test_words_are_read_in_their_own_direction(visitor: Visitor, world: ConsoleWorld) -> None:
    with tenant_scope(world.tenant.id):
        make_turns(world.space, "أسكن في عمّان وأعمل مهندسا.")
    page = visitor.open("space-timeline", world.space.id)
    said = page.locator(".words", has_text="عمّان").first
    # The full stop ends the sentence: on its left.
    at = said.evaluate("""(e) => [0, e.firstChild.length - 1].map((n) => {
      const one = document.createRange();
      one.setStart(e.firstChild, n); one.setEnd(e.firstChild, n + 1);
      return one.getBoundingClientRect().left; })""")
    assert at[1] < at[0]


@pytest.mark.writes
def test_what_holds_for_months_is_drawn_where_it_began(
    visitor: Visitor, world: ConsoleWorld
) -> None:
    """Also where each value holds about as long as the others."""
    began = timezone.now() - timedelta(days=100)
    with tenant_scope(world.tenant.id):
        for at, key in enumerate(("works_as", "works_at")):
            claim: dict[str, Any] = {"predicate_key": key, "cardinality": "single"}
            claim["object"] = "Corvina"
            text = f"Nora {key} Corvina"
            make_fact(world.space, text, valid_from=began + timedelta(days=at), **claim)
    page = visitor.open("space-figures", world.space.id)
    plot = page.get_by_role("region", name="What was true when")
    bars = plot.locator(".bars path")
    plot.scroll_into_view_if_needed()
    expect(bars).to_have_count(2, timeout=15_000)
    bar, whole = bars.first.bounding_box(), plot.locator(".plot").first.bounding_box()
    assert bar
    assert whole
    assert bar["width"] > 0.5 * whole["width"]


@pytest.mark.writes
def test_a_chinese_plot_says_its_dates_in_chinese(visitor: Visitor, world: ConsoleWorld) -> None:
    with tenant_scope(world.tenant.id):
        Fact.objects.filter(id=world.fact.id).update(asserted_at=timezone.now())
    chosen = {"name": "django_language", "value": "zh-hans", "url": visitor.base}
    visitor.page.context.add_cookies([chosen])  # type: ignore[list-item]  # a cookie needs no more
    page = visitor.open("space-figures", world.space.id)
    for plot in page.locator(".plot").all():
        plot.scroll_into_view_if_needed()
        expect(plot.locator(".xtick text").first).to_contain_text("月")
    expect(page.locator(".legendtext").filter(has_text="新增")).to_have_count(1)


@pytest.mark.writes
def test_an_answer_and_what_it_is_compared_with_lie_beside_one_another(
    visitor: Visitor, tenant: Tenant, width: int
) -> None:
    """Both within the conversation, neither over the other, and each over half of it."""
    with tenant_scope(tenant.id):
        space = make_space(tenant, "Nora")
    page = visitor.open("chat-with", space.id)
    page.get_by_label("Message as Nora").fill("I keep bees in Ghent.")
    page.keyboard.press("Enter")
    # The first words of a process come when its embedder is loaded.
    expect(page.locator(".bubble.by-assistant .words")).to_be_visible(timeout=20_000)
    run_space(tenant.id, space.id)
    page.get_by_label("Compare with").select_option(label="the same without memory")
    page.get_by_label("Message as Nora").fill("Where do I keep bees?")
    page.keyboard.press("Enter")
    expect(page.locator(".bubble.beside .words")).to_be_visible()
    expect(page.locator(".bubble.live")).to_have_count(0)
    replies = page.locator(".replies.two")
    expect(replies.locator(".rests-on").first).to_be_visible()
    around, answer, beside = (
        each.bounding_box()
        for each in (replies, replies.locator(".bubble").first, replies.locator(".bubble.beside"))
    )
    assert around
    assert answer
    assert beside
    assert beside["x"] >= answer["x"] + answer["width"]
    assert beside["x"] + beside["width"] <= around["x"] + around["width"] + 1
    assert beside["y"] == pytest.approx(answer["y"], abs=1)
    assert beside["width"] == pytest.approx(answer["width"], abs=1)
    assert 2 * beside["width"] <= around["width"] <= width
    for bubble in replies.locator(".bubble").all():
        assert bubble.evaluate("e => e.scrollWidth <= e.clientWidth")


@pytest.mark.writes
def test_a_chat_learns_replaces_and_recalls(visitor: Visitor, tenant: Tenant) -> None:
    page = visitor.open("chat")
    page.get_by_role("button", name="messages: A move and a new job").click()
    expect(page.get_by_text("12 messages not read yet")).to_be_visible()
    with tenant_scope(tenant.id):
        space = Space.objects.get(subject="sample-maya")
    run_space(tenant.id, space.id)
    expect(page.get_by_text("messages not read yet")).to_have_count(0)
    page.get_by_role("button", name="Where do I live?").click()
    expect(page.locator(".bubble.by-assistant")).to_contain_text("Lisbon")
    page.get_by_role("button", name="I live in Coimbra now.").click()
    expect(page.locator(".bubble.by-assistant")).to_have_count(2)
    run_space(tenant.id, space.id)
    judged = page.get_by_label("For: I live in Coimbra now.")
    expect(judged).to_contain_text("Replacement of an older memory")
    expect(judged.locator(".past").first).to_contain_text("Lisbon")
    page.get_by_label("Compare with").select_option(label="the same without memory")
    page.get_by_role("button", name="Where do I live?").click()
    expect(page.locator(".bubble.beside")).to_contain_text("I don’t know that yet")
    expect(page.locator(".replies.two .by-assistant").first).to_contain_text("Coimbra")
    asked = page.get_by_label("For: Where do I live?").first
    expect(asked.locator(".score").first).to_be_visible()
    asked.get_by_role("button", name="Forget that").first.click()
    expect(asked.get_by_role("link", name="See it and undo")).to_be_visible()
