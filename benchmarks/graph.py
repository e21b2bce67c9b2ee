"""How long a link graph of 5,000 memories takes to be drawn first, in Chromium.

`python -m benchmarks.graph [--memories 5000] [--links 10000] [--data DIR] [--rounds 3]`

Makes a space of that size in a database of its own once and keeps it, starts the hub on it as
`make run` does, and opens the graph as an operator does: first with nothing in the browser's
cache, then again. Prints milliseconds since the click, the best and the middle of the rounds.
"""

from __future__ import annotations

import argparse
import os
import random
import statistics
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
CHROMIUM_FLAGS = ("--no-sandbox", "--use-angle=swiftshader", "--enable-unsafe-swiftshader")
BENCHMARK_NAME = "graph-benchmark"
SETTLE_TIMEOUT = 60_000  # milliseconds
TIMES_SCRIPT = """() => {
  const [page] = performance.getEntriesByType("navigation");
  const data = performance.getEntriesByType("resource").find((e) => e.name.includes("data.json"));
  const at = (name) => performance.getEntriesByName(name)[0]?.startTime;
  const found = {
    "the page is there": page.responseEnd,
    "the data was asked for": data.requestStart,
    "the server answered": data.responseStart,
    "the data is there": data.responseEnd,
    "memories are drawn": at("graph-drawn"),
    "links are drawn": at("graph-joined"),
    "all has settled": at("graph-settled"),
  };
  return Object.fromEntries(Object.entries(found).filter(([, value]) => value !== undefined)) }"""


def main() -> None:
    given = _parse_arguments()
    os.environ |= {
        "DJANGO_SETTINGS_MODULE": "memoryhub.settings",
        "MEMORYHUB_DATA_DIR": str(given.data.absolute()),
        "DJANGO_ALLOW_ASYNC_UNSAFE": "true",  # playwright runs an event loop in this thread
    }
    import django
    from django.core.management import call_command

    django.setup()
    from django.conf import settings

    from benchmarks.scale.server import run_hub
    from memoryhub.embedded import EmbeddedPostgres

    EmbeddedPostgres(settings.DATA_DIR).start()
    call_command("migrate", database="owner", interactive=False, verbosity=0)
    space_id, cookie = _create_graph_space(given.memories, given.links)
    print(
        f"{_measure_processor_time(space_id, cookie):8.0f} ms of processor time for the data,"
        " in the hub"
    )
    with run_hub() as served:
        _measure_visits(f"http://127.0.0.1:{served.port}", space_id, cookie, given)


def _parse_arguments() -> argparse.Namespace:
    arguments = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    arguments.add_argument("--memories", type=int, default=5000)
    arguments.add_argument("--links", type=int, default=10_000)
    arguments.add_argument("--rounds", type=int, default=3)
    arguments.add_argument("--data", type=Path, default=ROOT / "var" / "graph", help="kept here")
    arguments.add_argument("--chromium", default="/usr/bin/chromium")
    arguments.add_argument("--shots", type=Path, help="a folder for pictures of it")
    return arguments.parse_args()


def _create_graph_space(memories: int, links: int) -> tuple[str, str]:
    """The id of a space of that size, and the session of an operator."""
    from memoryhub.tenants.models import Space, Tenant
    from memoryhub.tenants.scope import tenant_scope
    from memoryhub.tenants.services import create_tenant, ensure_space

    tenant = Tenant.objects.using("owner").filter(slug=BENCHMARK_NAME).first() or create_tenant(
        "Benchmark", BENCHMARK_NAME
    )
    with tenant_scope(tenant.id):
        held = Space.objects.filter(subject=f"{memories}").first()
        space = held or ensure_space(tenant.id, f"{memories}")
        if held is None:
            fill_graph_space(space, memories, links)
    return str(space.id), _create_operator_session(tenant)


def fill_graph_space(space: Any, memories: int, links: int) -> None:
    """Topics with notes and facts of their own, and people who are named in many of them."""
    from django.utils import timezone

    from notes.models import Entity, Fact, Link, Note, Relation

    now, dice = timezone.now(), random.Random(7)
    keys = {"tenant_id": space.tenant_id, "space": space, "engine": "local/1"}
    at = {"occurred_at": now, "created_at": now, **keys}
    topics = max(1, memories // 60)
    notes = [
        Note(content=f"Topic {n % topics}: note {n}", recall_count=_draw_small_count(dice), **at)
        for n in range(memories * 5 // 10)
    ]
    spoken = {"owner": "ana", "speaker": "ana", **keys}
    spoken |= dict.fromkeys(("valid_from", "asserted_at", "recorded_at"), now)
    facts = [
        Fact(
            text=f"Topic {n % topics}: fact {n}",
            text_key=f"{n}",
            mention_count=1 + _draw_small_count(dice),
            **spoken,
        )
        for n in range(memories * 4 // 10)
    ]
    rest = memories - len(notes) - len(facts)
    entities = [
        Entity(
            name=f"Person {n}",
            canonical_key=f"{n}",
            mention_count=1 + _draw_small_count(dice),
            **keys,
        )
        for n in range(rest)
    ]
    Note.objects.bulk_create(notes, batch_size=1000)
    Fact.objects.bulk_create(facts, batch_size=1000)
    Entity.objects.bulk_create(entities, batch_size=1000)
    pairs: set[tuple[Any, Any]] = set()
    while len(pairs) < links // 2:
        one = dice.randrange(len(notes))
        other = (one + topics * dice.randrange(1, 20)) % len(notes)
        first, second = sorted((notes[one].id, notes[other].id))
        if first != second:
            pairs.add((first, second))
    weights = {"created_at": now, **keys}
    Link.objects.bulk_create(
        [Link(a_id=a, b_id=b, weight=dice.random(), **weights) for a, b in sorted(pairs)],
        batch_size=1000,
    )
    told = [
        Relation(fact=fact, src=src, dst=dst, label="knows", **keys)
        for fact in dice.sample(facts, min(len(facts), links // 6))
        for src, dst in [dice.sample(entities, 2)]
    ]
    Relation.objects.bulk_create(told, batch_size=1000)


def _draw_small_count(dice: random.Random) -> int:
    """Mostly none, sometimes many."""
    return int(dice.paretovariate(1.2)) - 1


def _create_operator_session(tenant: Any) -> str:
    from django.test import Client

    from memoryhub.tenants.models import Membership, User
    from memoryhub.tenants.scope import tenant_scope
    from memoryhub.tenants.services import add_member

    user, made = User.objects.get_or_create(username=BENCHMARK_NAME)
    if made:
        with tenant_scope(tenant.id):
            add_member(tenant, user, Membership.Role.ADMIN)
    client = Client()
    client.force_login(user)
    return str(client.cookies["sessionid"].value)


def _measure_processor_time(space_id: str, cookie: str) -> float:
    """Milliseconds of this process for an answer, without what only the first one takes."""
    from django.conf import settings
    from django.test import Client
    from django.urls import reverse

    settings.ALLOWED_HOSTS = ["*"]
    client = Client()
    client.cookies["sessionid"] = cookie
    spent = []
    for _ in range(6):
        begun = time.process_time()
        client.get(
            reverse("space-graph-data", args=[space_id]), headers={"Accept-Encoding": "gzip"}
        )
        spent.append((time.process_time() - begun) * 1000)
    return min(spent[1:])


def _measure_visits(base: str, space_id: str, cookie: str, given: argparse.Namespace) -> None:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=given.chromium, args=list(CHROMIUM_FLAGS)
        )
        _open_graph(browser.new_context(), base, space_id, cookie).context.close()  # warms the hub
        visits = [_visit_twice(browser, base, space_id, cookie) for _ in range(given.rounds)]
        if given.shots:
            _take_screenshots(browser, base, space_id, cookie, given.shots)
        browser.close()
    for title, rounds in zip(("First visit", "Again"), zip(*visits, strict=True), strict=True):
        print(f"\n{title}, ms since the click: best, middle")
        for name in rounds[0]:
            values = [each[name] for each in rounds]
            print(f"{min(values):8.0f} {statistics.median(values):8.0f}  {name}")


def _visit_twice(
    browser: Any, base: str, space_id: str, cookie: str
) -> tuple[dict[str, float], ...]:
    """One with nothing in the cache and no place known, and one after it."""
    context = browser.new_context()
    first = _open_graph(context, base, space_id, cookie)
    first.wait_for_selector("#graph[data-settled=yes]", timeout=SETTLE_TIMEOUT)
    times = first.evaluate(TIMES_SCRIPT)
    first.close()
    again = _open_graph(context, base, space_id, cookie)
    found = times, again.evaluate(TIMES_SCRIPT)
    context.close()
    return found


def _open_graph(context: Any, base: str, space_id: str, cookie: str) -> Any:
    context.add_cookies([{"name": "sessionid", "value": cookie, "url": base}])
    page = context.new_page()
    page.on("console", lambda said: print(said.text))
    page.on("pageerror", lambda error: print(error))
    page.goto(f"{base}/spaces/{space_id}/graph/?most=all")
    page.wait_for_selector("#graph[data-drawn=yes]", timeout=SETTLE_TIMEOUT)
    return page


def _take_screenshots(browser: Any, base: str, space_id: str, cookie: str, folder: Path) -> None:
    for width in (1280, 390):
        for theme in ("light", "dark"):
            size = {"width": width, "height": 844}
            context = browser.new_context(viewport=size, color_scheme=theme)
            page = _open_graph(context, base, space_id, cookie)
            page.screenshot(path=folder / f"graph-{width}-{theme}-first.png", full_page=True)
            page.wait_for_selector("#graph[data-settled=yes]", timeout=SETTLE_TIMEOUT)
            page.screenshot(path=folder / f"graph-{width}-{theme}.png", full_page=True)
            context.close()


if __name__ == "__main__":
    main()
