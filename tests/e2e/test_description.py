"""The API's description as pages, in a browser: drawn, from here alone."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.support.browser import Visitor

pytestmark = pytest.mark.e2e
# Redoc draws every operation at once: seconds on a busy machine.
DRAWN = 60_000
# Redoc's maker shows a logo from its own host: the content security policy refuses it.
LOGO = "https://cdn.redoc.ly/redoc/logo-mini.svg"


def test_both_pages_draw_the_description_and_take_nothing_from_elsewhere(visitor: Visitor) -> None:
    visitor.known = (LOGO, "request to blob:")
    answered: list[str] = []
    visitor.page.on("response", lambda response: answered.append(response.url))
    page = visitor.open("api:docs")
    expect(page.locator(".opblock").first).to_be_visible(timeout=DRAWN)
    page = visitor.open("api:redoc")
    expect(page.get_by_role("heading", name="MemoryHub").first).to_be_visible(timeout=DRAWN)
    page.wait_for_load_state("networkidle")
    assert answered
    assert [url for url in answered if not url.startswith((visitor.base, "data:", "blob:"))] == []
