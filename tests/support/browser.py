"""The one Chromium of a session, and who visits a hub with it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.test import Client
from django.urls import reverse
from playwright.sync_api import Browser, ConsoleMessage, Page, Request, sync_playwright

from memoryhub.tenants.models import User

CHROMIUM = Path(os.environ.get("MEMORYHUB_CHROMIUM", "/usr/bin/chromium"))
FLAGS = (
    "--no-sandbox",
    # WebGL without a graphics card, for the link graph. All else is painted without one: to play a
    # card takes half of a machine.
    "--use-angle=swiftshader-webgl",
    "--enable-unsafe-swiftshader",
    "--disable-gpu-compositing",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
# What the browser says of the machine that it runs on, not of the page.
OF_THE_MACHINE = ("GPU stall due to ReadPixels",)


@contextmanager
def launched() -> Iterator[Browser]:
    """Skips where there is none."""
    if not CHROMIUM.exists():
        pytest.skip(f"no Chromium at {CHROMIUM}; set MEMORYHUB_CHROMIUM")
    # playwright runs an event loop in this thread, where Django would refuse its ORM.
    os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "true"
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=str(CHROMIUM), args=FLAGS)
        yield browser
        browser.close()
    del os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"]


@dataclass
class Visitor:
    """A page of the browser, with what went wrong on the way; what says one of `known` did not."""

    page: Page
    base: str
    troubles: list[str] = field(default_factory=list)
    known: tuple[str, ...] = ()

    def open(self, name: str, *args: object) -> Page:
        self.page.goto(self.base + reverse(name, args=args))
        return self.page

    def sign_in(self, username: str) -> None:
        page = self.open("sign-in")
        page.get_by_label("Username").fill(username)
        page.get_by_label("Password").fill("correct horse")
        page.get_by_role("button", name="Sign in").click()

    def watch(self) -> None:
        self.page.on("request", self._asked)
        self.page.on("console", self._said)
        self.page.on("pageerror", lambda error: self.troubles.append(str(error)))

    def _asked(self, request: Request) -> None:
        if not request.url.startswith((self.base, "data:")):
            self._note(f"request to {request.url}")

    def _said(self, message: ConsoleMessage) -> None:
        if message.type in ("error", "warning"):
            self._note(message.text)

    def _note(self, trouble: str) -> None:
        if not any(each in trouble for each in (*OF_THE_MACHINE, *self.known)):
            self.troubles.append(trouble)


@contextmanager
def visiting(browser: Browser, base: str, person: User, width: int) -> Iterator[Visitor]:
    """Signed in as this person. Fails when anything went wrong, or was asked of another host."""
    context = browser.new_context(viewport={"width": width, "height": 844})
    context.set_default_timeout(15_000)
    context.add_cookies([session_of(person, base)])
    found = Visitor(context.new_page(), base)
    found.watch()
    yield found
    context.close()
    assert found.troubles == [], found.troubles


def session_of(person: User, base: str) -> Any:
    """The cookie that signing in gives; that the form gives it is a test of its own."""
    client = Client()
    client.force_login(person)
    name = settings.SESSION_COOKIE_NAME
    return {"name": name, "value": client.cookies[name].value, "url": base}
