"""Takes the pictures of the pages that the documentation shows, of the demo's data.

    python docs/screenshots.py             of a hub made for this and thrown away
    python docs/screenshots.py --data DIR  of the hub whose data is there, with the demo loaded

A hub that is there gets an account of its own for it, a person's link, and a question in the chat.
Needs Chromium (MEMORYHUB_CHROMIUM, else /usr/bin/chromium). Files keep their names, so that pages
show the newest pictures.
"""

from __future__ import annotations

import argparse
import base64
import os
import re
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from socketserver import ThreadingMixIn
from typing import Any, Literal
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer, make_server

ROOT = Path(__file__).resolve().parent.parent
FOLDER = Path(__file__).parent / "screenshots"
NAME, PASSWORD = "screenshots", "taken for the documentation"  # of a throwaway hub
QUALITY = 72
WIDE, NARROW = (1280, 800), (390, 780)
FLAGS = ("--no-sandbox", "--use-angle=swiftshader", "--enable-unsafe-swiftshader")


@dataclass(frozen=True, slots=True)
class Shot:
    """A picture: its name, its page, and what is done there before it is taken."""

    name: str
    path: str
    size: tuple[int, int] = WIDE
    scheme: Literal["light", "dark"] = "light"
    before: Callable[[Any], None] | None = None


def shots(space: str, fact: str, me: str) -> list[Shot]:
    """`space` and `fact`: ids of the demo's; `me`: a person's link."""
    of = f"/spaces/{space}"
    return [
        Shot("overview", "/"),
        Shot("overview-dark", "/", scheme="dark"),
        Shot("spaces", "/spaces/"),
        Shot("space", f"{of}/"),
        Shot("space-narrow", f"{of}/", NARROW, "dark"),
        Shot("palette", f"{of}/", before=_searched),
        Shot("timeline", f"{of}/timeline/"),
        Shot("facts", f"{of}/facts/"),
        Shot("facts-narrow", f"{of}/facts/", NARROW),
        Shot("biography", f"{of}/facts/{fact}/"),
        Shot("biography-dark", f"{of}/facts/{fact}/", scheme="dark"),
        Shot("graph", f"{of}/graph/", before=_drawn),
        Shot("persona", f"{of}/persona/"),
        Shot("history", f"{of}/history/"),
        Shot("review", "/review/"),
        Shot("playground", f"{of}/search?q=Where+does+she+live"),
        Shot("chat", f"/chat/{space}/", before=_asked),
        Shot("policy", "/policy/"),
        Shot("own-page", me),
        Shot("own-page-narrow", me, NARROW, "dark"),
    ]


def _drawn(page: Any) -> None:
    page.locator("canvas").first.wait_for()
    page.wait_for_timeout(4_000)  # its layout settles


def _searched(page: Any) -> None:
    page.keyboard.press("Control+k")
    page.locator(".commands input").fill("Ana job")
    page.locator(".commands a", has_text="Escuela").first.wait_for()
    page.wait_for_timeout(500)


def _asked(page: Any) -> None:
    for at, words in enumerate(("Where do I live?", "What do you know about me?"), 1):
        page.locator(".say textarea").fill(words)
        page.keyboard.press("Enter")
        answer = page.locator(".bubble.by-assistant:not(.live) .words", has_text=re.compile(r"\w"))
        answer.nth(at - 1).wait_for(timeout=60_000)
    page.wait_for_timeout(500)  # the strip beside it


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--data", type=Path, help="a hub's data folder with the demo in it")
    parser.add_argument("--only", help="the name of a single picture")
    given = parser.parse_args()
    if given.data:
        take(given.data, given.only)
        return
    with tempfile.TemporaryDirectory(prefix="memoryhub-") as folder:
        try:
            take(Path(folder), given.only)
        finally:
            _manage(Path(folder), "db", "stop")


def take(data: Path, only: str | None) -> None:
    """All pictures or one, of the hub whose data lies there; what it lacks is made first."""
    _manage(data, "db", "start")
    _manage(data, "migrate", "--database", "owner", "--verbosity", "0")
    _set_up(data)
    space, fact, token = _demo()
    FOLDER.mkdir(exist_ok=True)
    with _served() as base:
        wanted = shots(space, fact, f"/me/open#{token}")
        _photograph(base, [each for each in wanted if only in (None, each.name)])


def _manage(data: Path, *words: str) -> None:
    environment = os.environ | {"MEMORYHUB_DATA_DIR": str(data)}
    subprocess.run(  # noqa: S603  # its own command
        [sys.executable, str(ROOT / "manage.py"), *words], env=environment, check=True
    )


def _set_up(data: Path) -> None:
    sys.path.insert(0, str(ROOT))
    os.environ["MEMORYHUB_DATA_DIR"] = str(data)
    os.environ["DJANGO_SETTINGS_MODULE"] = "memoryhub.settings"
    # playwright runs an event loop in this thread, where Django would refuse its ORM.
    os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "true"
    import django

    django.setup()


def _demo() -> tuple[str, str, str]:
    """The demo, loaded and read to the end: a space, a fact of it, and a link's token."""
    from django.utils import timezone

    from memoryhub import bootstrap
    from memoryhub.pipeline.ingest.services import run_space
    from memoryhub.tenants import person_links
    from memoryhub.tenants.models import Space, User
    from memoryhub.tenants.scope import tenant_scope
    from memoryhub.tenants.services import add_member, find_tenant
    from notes.models import Fact

    bootstrap.bootstrap_hub(sys.stderr)
    bootstrap.seed_demo(lambda done, total: print(f"{done} of {total}", end="\r", file=sys.stderr))
    tenant = find_tenant(bootstrap.DEMO_SLUG)
    assert tenant is not None, "bootstrap has made it"
    with tenant_scope(tenant.id):
        spaces = list(Space.objects.all())
    for each in spaces:
        run_space(tenant.id, each.id)
    person, _ = User.objects.get_or_create(username=NAME)
    person.set_password(PASSWORD)
    person.save()
    add_member(tenant, person, "admin")
    with tenant_scope(tenant.id):
        space = Space.objects.get(subject="ana")
        home = Fact.objects.filter(space=space, predicate_key="lives_in", retired_at=None)
        fact = home.exclude(supersedes=None).latest("valid_from")
    now = timezone.now()
    _, token = person_links.create_person_link(space, NAME, now, now + timedelta(hours=1))
    return str(space.id), str(fact.id), token


class _Threading(ThreadingMixIn, WSGIServer):
    daemon_threads = True


class _Quiet(WSGIRequestHandler):
    def log_message(self, *words: Any) -> None:
        """Nobody reads it."""


@contextmanager
def _served() -> Iterator[str]:
    """The hub's address, while it answers."""
    from django.core.wsgi import get_wsgi_application

    application = get_wsgi_application()
    server = make_server("127.0.0.1", 0, application, server_class=_Threading, handler_class=_Quiet)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()


def _photograph(base: str, wanted: list[Shot]) -> None:
    from playwright.sync_api import sync_playwright

    chromium = os.environ.get("MEMORYHUB_CHROMIUM", "/usr/bin/chromium")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=FLAGS)
        for shot in wanted:
            context = browser.new_context(
                viewport={"width": shot.size[0], "height": shot.size[1]},
                color_scheme=shot.scheme,
                reduced_motion="reduce",
            )
            page = context.new_page()
            if not shot.path.startswith("/me/"):
                _sign_in(page, base)
            page.goto(base + shot.path)
            page.wait_for_load_state("networkidle")
            if shot.before:
                shot.before(page)
            _keep(page, FOLDER / f"{shot.name}.webp")
            context.close()
        browser.close()


def _sign_in(page: Any, base: str) -> None:
    page.goto(f"{base}/sign-in")
    page.get_by_label("Username").fill(NAME)
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in").click()
    page.wait_for_load_state("networkidle")


def _keep(page: Any, file: Path) -> None:
    """As WebP, which playwright itself does not write."""
    browser = page.context.new_cdp_session(page)
    taken = browser.send("Page.captureScreenshot", {"format": "webp", "quality": QUALITY})
    file.write_bytes(base64.b64decode(taken["data"]))
    print(f"{file.relative_to(ROOT)}  {file.stat().st_size // 1024} kB")


if __name__ == "__main__":
    main()
