"""Every page of the console by the rules of axe-core, in light and in dark.

Pages are those of the URL resolver without the exceptions of `tests/support/addresses.py`: a page
that is added is looked at by itself. One line in `STATES` looks at the same page in another state.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any, Literal

import pytest
from django.contrib import admin
from django.contrib.auth.tokens import default_token_generator
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from django.utils.encoding import force_bytes
from django.utils.http import urlsafe_base64_encode
from playwright.sync_api import Page, expect

from memoryhub.console.admin.actions import ACTIONS
from memoryhub.console.frame.admin_addresses import find_row_address
from memoryhub.policies.services import set_policy
from memoryhub.tenants import person_links
from memoryhub.tenants.models import Membership, SecondFactor, Tenant, User
from memoryhub.tenants.scope import tenant_scope
from tests.console.conftest import ConsoleWorld, make_world
from tests.console.test_admin import make_amendable
from tests.e2e.test_console import LABELLED
from tests.support.addresses import build_address_of, list_addresses, list_exceptions, list_pages
from tests.support.browser import Visitor
from tests.support.factories import make_trait

pytestmark = pytest.mark.e2e

AXE = Path(sys.prefix) / "clients/node/node_modules/axe-core/axe.min.js"
RUN = """(rules) => axe.run(document, {
  preload: false, resultTypes: ["violations"], ...(rules && {runOnly: rules}) }).then(
  ({ violations }) => violations.flatMap(
    ({ id, impact, help, nodes }) => nodes.map(({ target, any }) =>
      `${impact} ${id}: ${help}: ${target.join(" ")} ${any[0]?.message ?? ""}`)))"""
# What another scheme can change.
COLOURS = ["color-contrast", "link-in-text-block"]
SCHEMES: tuple[tuple[Literal["light", "dark"], list[str] | None], ...] = (
    ("light", None),
    ("dark", COLOURS),
)
# Looked at by a test of their own, since it takes more than to open them.
TO_STRANGERS = {"sign-in", "sign-in-second", "password-reset", "password-new"}
AFTER_THE_PASSWORD = {"account-second-app", "account-second-passkey"}
OWN = {name for name in list_pages() if name == "me" or name.startswith("me-")}
BEHIND = {name for name in list_pages() if name.startswith("admin:")}
STATES = (
    ("space-search", "?q=bees"),
    ("space-search", "?q=bees&beside=rag&beside=balanced"),
    ("search", "?q=bees"),
    ("space-graph", "?view=table"),
    ("space-facts", "?q=nothing+like+it"),
    ("space-facts", "?as_of=2026-06-01&engine=local/1"),
    ("space-timeline", "?as_of=2026-06-01&known=now"),
    ("space-graph", "?as_of=2026-06-01"),
    ("space-heat", "?by=staying"),
    ("space-heat", "?view=fading"),
    ("space-fact", "?action=correct"),
    ("space-note", "?action=describe"),
)


def list_console_addresses(world: ConsoleWorld) -> Iterator[str]:
    ids = world.collect_ids()
    apart = TO_STRANGERS | AFTER_THE_PASSWORD | OWN | BEHIND
    pages = {
        name: build_address_of(name, pattern, ids)
        for name, pattern in list_pages().items()
        if name not in apart
    }
    yield from pages.values()
    yield from (pages[name] + query for name, query in STATES)


def list_findings(page: Page) -> list[str]:
    """All that the rules find on the page as it stands, in all schemes; ends in the first."""
    page.evaluate(AXE.read_text())
    found = []
    for scheme, rules in SCHEMES:
        page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
        found += [f"{scheme}: {each}" for each in page.evaluate(RUN, rules)]
    page.emulate_media(color_scheme=SCHEMES[0][0])
    return found


def expect_no_findings(page: Page) -> None:
    found = list_findings(page)
    assert not found, "\n".join(found)


def expect_page_without_findings(visitor: Visitor, where: str) -> None:
    """The page itself, and not another that it leads to."""
    answer = visitor.page.goto(visitor.base + where)
    assert answer is not None
    assert answer.ok
    assert answer.request.redirected_from is None
    expect_no_findings(visitor.page)


@pytest.fixture
def world(tenant: Tenant, visitor: Visitor) -> ConsoleWorld:
    """In the visitor's own tenant; as an operator, to whom nothing is closed."""
    with tenant_scope(tenant.id):
        members = list(Membership.objects.values_list("user_id", flat=True))
    User.objects.filter(id__in=members).update(is_superuser=True)
    return make_world("Hive", tenant)


@pytest.mark.writes
@pytest.mark.parametrize("width", [1280], indirect=True)
def test_what_is_left_out_is_no_page(visitor: Visitor, world: ConsoleWorld) -> None:
    """Of every exception: a browser that opens it gets no page, or another one than asked for."""
    known, ids = list_addresses(), world.collect_ids() | {"receipt_id": str(world.receipt.id)}
    assert list_exceptions() <= set(known)
    client = Client(raise_request_exception=False)
    client.force_login(world.admin)
    for name in list_exceptions() - {"admin:None"}:
        answer = client.get(build_address_of(name, known[name], ids))
        whole = not answer.streaming and b"<html" in answer.content
        assert not (answer.status_code == 200 and whole), name
    for where in (f"{reverse('admin:index')}nowhere", f"{find_row_address(world.fact)}"[:-7]):
        assert client.get(where).status_code in (302, 404)


@pytest.mark.parametrize("width", [1280], indirect=True)
def test_every_page_can_be_used_by_everybody(
    visitor: Visitor, world: ConsoleWorld, subtests: pytest.Subtests
) -> None:
    for where in list_console_addresses(world):
        with subtests.test(where):
            expect_page_without_findings(visitor, where)


@pytest.mark.writes
@pytest.mark.parametrize("width", [1280], indirect=True)
def test_what_is_behind_the_pages_can_be_used_by_everybody(
    visitor: Visitor, world: ConsoleWorld, subtests: pytest.Subtests
) -> None:
    """The dashboard, all lists, and a row's page of each table that has any."""
    make_amendable(world)
    client = Client()
    client.force_login(world.admin)
    looked_at = set()
    lists = {name for name in BEHIND if name.endswith("_changelist")}
    rest = BEHIND - lists - {name.replace("_changelist", "_change") for name in lists}
    assert rest == {"admin:index"}
    for name in sorted(lists | rest):
        where = reverse(name)
        with subtests.test(where):
            expect_page_without_findings(visitor, where)
        rows = client.get(where).context["cl"].result_list if "changelist" in name else []
        for row in rows[:1]:
            looked_at.add(type(row))
            with subtests.test(name.replace("changelist", "change")):
                expect_page_without_findings(visitor, find_row_address(row))
    assert set(ACTIONS) <= looked_at
    assert len(looked_at) > len(admin.site._registry) / 2


@pytest.mark.writes
@pytest.mark.parametrize("width", [1280], indirect=True)
def test_every_question_of_the_administration_can_be_used_by_everybody(
    visitor: Visitor, world: ConsoleWorld, subtests: pytest.Subtests
) -> None:
    """What is shown before an action on chosen rows is done, and what is said afterwards."""
    page = visitor.page
    make_amendable(world)
    for model, actions in ACTIONS.items():
        lists = reverse(f"admin:{model._meta.app_label}_{model._meta.model_name}_changelist")
        for action in actions:
            with subtests.test(f"{model.__name__} {action.name}"):
                page.goto(visitor.base + lists)
                page.locator("input[name=_selected_action]").first.check()
                page.locator(f"#rows button[name=action][value={action.name}]").click()
                expect(page.get_by_role("link", name="Cancel")).to_be_visible()
                expect_no_findings(page)
    # The last one is done: what it says is looked at too.
    page.locator("form button.button:not([name=action])").last.click()
    expect(page.get_by_role("status").or_(page.locator(".messages")).first).to_be_visible()
    expect_no_findings(page)


@pytest.mark.writes
@pytest.mark.parametrize("width", [1280], indirect=True)
def test_forgetting_curves_can_be_used_by_everybody(
    visitor: Visitor, world: ConsoleWorld, subtests: pytest.Subtests
) -> None:
    """Drawn only where memories fade."""
    page, space = visitor.page, world.space
    set_policy(world.tenant.id, actor="ida", preset="memorybank", space=space)
    for where, curve in (
        (f"{reverse('space-heat', args=[space.id])}?view=fading", "svg.falling"),
        (f"{reverse('space-heat', args=[space.id])}?view=fading&kind=fact", "a.curve svg"),
        (reverse("space-fact-curve", args=[space.id, world.fact.id]), "main svg polyline"),
        (reverse("space-note-curve", args=[space.id, world.note.id]), "main svg polyline"),
        (reverse("space-episode-curve", args=[space.id, world.episode.id]), "main svg polyline"),
        (reverse("space-fact", args=[space.id, world.fact.id]), "main"),
        (find_row_address(world.fact), "main svg polyline"),
    ):
        with subtests.test(where):
            page.goto(visitor.base + where)
            expect(page.locator(curve).first).to_be_attached()
            expect_no_findings(page)


def become(world: ConsoleWorld, role: str | None) -> None:
    """What the visitor may; None: of no tenant."""
    with tenant_scope(world.tenant.id):
        held = Membership.objects.all()
        if role is None:
            held.delete()
        else:
            held.update(role=role)


@pytest.mark.writes
@pytest.mark.parametrize("width", [1280], indirect=True)
def test_refusals_and_failures_can_be_used_by_everybody(
    visitor: Visitor, world: ConsoleWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = visitor.page
    visitor.known = ("Failed to load resource",)

    def expect_refusal(where: str, status: int, heading: str) -> None:
        answer = page.goto(visitor.base + where)
        assert answer is not None
        assert answer.status == status
        expect(page.get_by_role("heading", level=1)).to_have_text(heading)
        expect_no_findings(page)

    expect_refusal("/nowhere", 404, "Page not found")
    page.goto(visitor.base + reverse("keys"))
    page.context.clear_cookies(name="csrftoken")
    page.locator("main form").first.evaluate("form => form.submit()")
    expect(page.get_by_role("heading", level=1)).to_have_text("Not sent")
    expect_no_findings(page)
    with monkeypatch.context() as broken:
        broken.setattr("memoryhub.console.pages.spaces.views.render", None)
        expect_refusal(reverse("spaces"), 500, "Something went wrong")
    become(world, Membership.Role.VIEWER)
    expect_refusal(reverse("keys"), 403, "Not available for your role")
    become(world, None)
    answer = page.goto(visitor.base + reverse("overview"))
    assert answer is not None
    assert answer.status == 403
    expect_no_findings(page)


# Where content begins on a screen of this height, whatever the width.
SCREEN = 800
FIRST_ROW = """() => Math.min(...[...document.querySelectorAll(
  "#content tbody tr, #content .lines > li, #content .turn, #content .card dl, #content canvas, "
  + "#content .card .empty, .main .bubble, .main [data-case]")]
  .filter(e => e.offsetParent).map(e => e.getBoundingClientRect().top))"""
OF_A_SPACE = [
    "space-overview", "space-timeline", "space-facts", "space-notes", "space-segments",
    "space-episodes", "space-entities", "space-heat", "space-graph", "space-persona",
    "space-blocks", "space-history", "space-review", "review",
]  # fmt: skip


@pytest.mark.writes
@pytest.mark.parametrize("width", [390], indirect=True)
def test_content_begins_above_the_middle_of_a_phone(
    visitor: Visitor, world: ConsoleWorld, subtests: pytest.Subtests
) -> None:
    page = visitor.page
    page.set_viewport_size({"width": 390, "height": SCREEN})
    for name in OF_A_SPACE:
        with subtests.test(name):
            where = reverse(name, args=[world.space.id] if name != "review" else [])
            page.goto(visitor.base + where)
            assert page.evaluate(FIRST_ROW) < SCREEN / 2


FIRST_OF_MAIN = """() => Math.min(...[...document.querySelectorAll(
  "main tbody tr, main dl, main canvas, main .lines > li, main .empty, main .card form")]
  .filter(e => e.offsetParent).map(e => e.getBoundingClientRect().top))"""


@pytest.mark.writes
@pytest.mark.parametrize("width", [1280], indirect=True)
def test_content_begins_above_the_middle_of_a_desk(
    visitor: Visitor, world: ConsoleWorld, subtests: pytest.Subtests
) -> None:
    page = visitor.page
    page.set_viewport_size({"width": 1280, "height": SCREEN})
    of_a_space = (*OF_A_SPACE[:-1], "space-policy", "space-search")
    for name in (*of_a_space, "review", "policy", "models", "embeddings", "people", "keys"):
        with subtests.test(name):
            where = reverse(name, args=[world.space.id] if name in of_a_space else [])
            page.goto(visitor.base + where)
            assert page.evaluate(FIRST_OF_MAIN) < SCREEN / 2


@pytest.mark.writes
@pytest.mark.parametrize("width", [1280], indirect=True)
def test_eight_tabs_lead_to_the_first_fact(visitor: Visitor, world: ConsoleWorld) -> None:
    page = visitor.open("space-facts", world.space.id)
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")  # past what all pages have
    pressed = 1
    first = reverse("space-fact", args=[world.space.id, world.fact.id])
    while page.evaluate("document.activeElement.getAttribute('href')") != first:
        page.keyboard.press("Tab")
        pressed += 1
        assert pressed <= 8


@pytest.mark.parametrize("width", [1280], indirect=True)
def test_signing_in_can_be_done_by_everybody(visitor: Visitor) -> None:
    page = visitor.page
    page.context.clear_cookies()
    expect_page_without_findings(visitor, reverse("sign-in"))
    visitor.sign_in("nobody")
    expect(page.get_by_role("alert").or_(page.locator(".error-text")).first).to_be_visible()
    expect_no_findings(page)


@pytest.mark.writes
@pytest.mark.parametrize("width", [1280], indirect=True)
def test_a_second_factor_can_be_given_by_everybody(
    visitor: Visitor, tenant: Tenant, world: ConsoleWorld
) -> None:
    """With an app; test_passkeys.py has the pages of a passkey, and those that add either."""
    page = visitor.page
    SecondFactor.objects.create(account=world.admin, kind="app", name="App")
    page.context.clear_cookies()
    visitor.sign_in(world.admin.username)
    page.wait_for_url(visitor.base + reverse("sign-in-second"))
    expect_no_findings(page)


@pytest.mark.writes
@pytest.mark.parametrize("width", [1280], indirect=True)
def test_a_password_can_be_set_anew_by_everybody(
    visitor: Visitor, world: ConsoleWorld, settings: Any
) -> None:
    """Asked for, sent, given with a mistake, given; and a link that is no longer valid."""
    page = visitor.page
    settings.EMAIL_HOST = "localhost"
    page.context.clear_cookies()
    expect_page_without_findings(visitor, reverse("password-reset"))
    page.get_by_role("textbox").fill("nobody@example.org")
    page.get_by_role("button").last.click()
    expect(page.get_by_role("textbox")).to_have_count(0)
    expect_no_findings(page)
    person = [urlsafe_base64_encode(force_bytes(world.admin.pk))]
    token = default_token_generator.make_token(world.admin)
    page.goto(visitor.base + reverse("password-new", args=[*person, token]))
    first, second = page.locator("input[type=password]").all()
    expect_no_findings(page)
    first.fill("three green boats")
    second.fill("three grey boats")
    page.locator("main button").click()
    expect(page.locator("input[type=password]")).to_have_count(2)
    expect_no_findings(page)
    page.goto(visitor.base + reverse("password-new", args=[*person, "no-token"]))
    expect(page.locator("input[type=password]")).to_have_count(0)
    expect_no_findings(page)


@pytest.mark.writes
@pytest.mark.parametrize("width", [1280], indirect=True)
def test_a_persons_own_page_can_be_used_by_everybody(
    visitor: Visitor, world: ConsoleWorld, subtests: pytest.Subtests
) -> None:
    page, now = visitor.page, timezone.now()
    with tenant_scope(world.tenant.id):
        make_trait(world.space, "openness", "high", world.turn)
    page.context.clear_cookies()
    expect_page_without_findings(visitor, reverse("me-open"))
    _, token = person_links.create_person_link(world.space, "ida", now, now + timedelta(days=1))
    page.goto(f"{visitor.base}{reverse('me-open')}#{token}")
    page.wait_for_url(f"{visitor.base}{reverse('me')}")
    pages, ids = list_pages(), world.collect_ids()
    for name in OWN - {"me-open"}:
        with subtests.test(name):
            expect_page_without_findings(visitor, build_address_of(name, pages[name], ids))
            assert page.evaluate(LABELLED) == []
