"""Every page of the console by the rules of axe-core, in light and in dark.

A page that is added is looked at by itself: its address is in the console's, and its method in
`DECIDED`. One line in `STATES` looks at the same page in another state.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Literal

import pytest
from django.contrib import admin
from django.urls import reverse
from django.utils import timezone
from playwright.sync_api import Page

from memoryhub.console.urls import urlpatterns
from memoryhub.tenants import person_links
from memoryhub.tenants.models import Membership, Tenant, User
from memoryhub.tenants.scope import tenant_scope
from tests.console.conftest import ConsoleWorld, make_world
from tests.console.test_access import DECIDED, build_address
from tests.e2e.test_console import LABELLED
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
# Answers to a script, and files: no pages.
PARTS = {
    "find",
    "space-graph-data",
    "space-map-data",
    "space-graph-about",
    "chat-decisions",
    "chat-reading",
    "lab-report",
    "space-export",
    "spaces-export",
}
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
)


def list_addresses(world: ConsoleWorld) -> Iterator[str]:
    shown = {str(pattern.name): pattern for pattern in urlpatterns}
    pages = {
        name: build_address(shown[name], world.collect_ids())
        for name, (_, m) in DECIDED.items()
        if m == "get"
    }
    yield from (where for name, where in pages.items() if name not in PARTS)
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


@pytest.fixture
def world(tenant: Tenant, visitor: Visitor) -> ConsoleWorld:
    """In the visitor's own tenant; as an operator, to whom nothing is closed."""
    with tenant_scope(tenant.id):
        members = list(Membership.objects.values_list("user_id", flat=True))
    User.objects.filter(id__in=members).update(is_superuser=True)
    return make_world("Hive", tenant)


@pytest.mark.parametrize("width", [1280], indirect=True)
def test_every_page_can_be_used_by_everybody(
    visitor: Visitor, world: ConsoleWorld, subtests: pytest.Subtests
) -> None:
    page = visitor.page
    for where in list_addresses(world):
        with subtests.test(where):
            answer = page.goto(visitor.base + where)
            assert answer is not None
            assert answer.ok
            found = list_findings(page)
            assert not found, "\n".join(found)


def list_admin_addresses(world: ConsoleWorld) -> Iterator[str]:
    """The dashboard, all its lists, and a row's page of each kind that has a life."""
    yield reverse("admin:index")
    for model in sorted(admin.site._registry, key=lambda model: model._meta.label):
        yield reverse(f"admin:{model._meta.app_label}_{model._meta.model_name}_changelist")
    for row in (world.fact, world.turn, world.space):
        where = f"admin:{row._meta.app_label}_{row._meta.model_name}_change"
        yield reverse(where, args=[row.pk])


@pytest.mark.writes
@pytest.mark.parametrize("width", [1280], indirect=True)
def test_what_is_behind_the_pages_can_be_used_by_everybody(
    visitor: Visitor, world: ConsoleWorld, subtests: pytest.Subtests
) -> None:
    for where in list_admin_addresses(world):
        with subtests.test(where):
            answer = visitor.page.goto(visitor.base + where)
            assert answer is not None
            assert answer.ok
            found = list_findings(visitor.page)
            assert not found, "\n".join(found)


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
    visitor.page.context.clear_cookies()
    visitor.open("sign-in")
    found = list_findings(visitor.page)
    assert not found, "\n".join(found)


@pytest.mark.writes
@pytest.mark.parametrize("width", [1280], indirect=True)
def test_a_persons_own_page_can_be_used_by_everybody(
    visitor: Visitor, world: ConsoleWorld, subtests: pytest.Subtests
) -> None:
    page, now = visitor.page, timezone.now()
    with tenant_scope(world.tenant.id):
        make_trait(world.space, "openness", "high", world.turn)
    page.context.clear_cookies()
    visitor.open("me-open")
    found = list_findings(page)
    assert not found, "\n".join(found)
    _, token = person_links.create_person_link(world.space, "ida", now, now + timedelta(days=1))
    page.goto(f"{visitor.base}{reverse('me-open')}#{token}")
    page.wait_for_url(f"{visitor.base}{reverse('me')}")
    memory = [reverse(name, args=[world.fact.id]) for name in ("me-memory", "me-memory-erase")]
    rest = [reverse(name) for name in ("me", "me-about", "me-notes", "me-data", "me-erase")]
    for where in (*rest, *memory):
        with subtests.test(where):
            page.goto(visitor.base + where)
            found = list_findings(page)
            assert not found, "\n".join(found)
            assert page.evaluate(LABELLED) == []
