"""A real Chromium against the live server. Skipped where there is none."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from django.urls import reverse
from playwright.sync_api import Browser, ConsoleMessage, Page, Request, sync_playwright
from pytest_django.live_server_helper import LiveServer

from memoryhub.tenants.models import Membership, Tenant
from tests.support.factories import make_member, make_tenant

CHROMIUM = Path(os.environ.get("MEMORYHUB_CHROMIUM", "/usr/bin/chromium"))
CHROMIUM_FLAGS = (
    "--no-sandbox",
    # WebGL without a graphics card, for the link graph.
    "--use-angle=swiftshader",
    "--enable-unsafe-swiftshader",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


@pytest.fixture(scope="session")
def chromium() -> Iterator[Browser]:
    if not CHROMIUM.exists():
        pytest.skip(f"no Chromium at {CHROMIUM}; set MEMORYHUB_CHROMIUM")
    # playwright runs an event loop in this thread, where Django would refuse its ORM.
    os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "true"
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=str(CHROMIUM), args=CHROMIUM_FLAGS)
        yield browser
        browser.close()
    del os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"]


@dataclass
class Visitor:
    """A page of the browser, with what went wrong on the way."""

    page: Page
    base: str
    troubles: list[str] = field(default_factory=list)

    def open(self, name: str, *args: object) -> Page:
        self.page.goto(self.base + reverse(name, args=args))
        return self.page

    def sign_in(self, username: str) -> None:
        page = self.open("sign-in")
        page.get_by_label("User name").fill(username)
        page.get_by_label("Password").fill("correct horse")
        page.get_by_role("button", name="Sign in").click()

    def watch_page(self) -> None:
        self.page.on("request", self._note_request)
        self.page.on("console", self._note_console_message)
        self.page.on("pageerror", lambda error: self.troubles.append(str(error)))

    def _note_request(self, request: Request) -> None:
        if not request.url.startswith((self.base, "data:")):
            self.troubles.append(f"request to {request.url}")

    def _note_console_message(self, message: ConsoleMessage) -> None:
        if message.type in ("error", "warning"):
            self.troubles.append(message.text)


@pytest.fixture(autouse=True)
def unrung(monkeypatch: pytest.MonkeyPatch) -> None:
    """No worker listens: tests run the jobs themselves, at the moment they choose."""
    monkeypatch.setattr(
        "memoryhub.pipeline.ingest.services.ring_worker", lambda tenant_id, space_id: None
    )


@pytest.fixture
def tenant(transactional_db: None) -> Tenant:
    return make_tenant("Hive")


@pytest.fixture(params=[1280, 390])
def width(request: pytest.FixtureRequest) -> int:
    return int(request.param)


@pytest.fixture
def visitor(
    chromium: Browser, live_server: LiveServer, tenant: Tenant, width: int
) -> Iterator[Visitor]:
    """Signed in as an admin. Fails the test when anything was asked of another host."""
    person = make_member(tenant, Membership.Role.ADMIN)
    context = chromium.new_context(viewport={"width": width, "height": 844})
    context.set_default_timeout(15_000)
    found = Visitor(context.new_page(), live_server.url)
    found.watch_page()
    found.sign_in(person.username)
    yield found
    context.close()
    assert found.troubles == []
