"""Every page of a space takes as many statements with 10,000 memories as with 100."""

from __future__ import annotations

from collections.abc import Iterator

from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from memoryhub.console.urls import urlpatterns
from memoryhub.tenants.scope import tenant_scope
from tests.console.conftest import World, make_world
from tests.console.test_access import DECIDED, address
from tests.support.bulk import remember

FEW, MANY = 100, 10_000
# Files of everything there is, in batches: they are not pages.
FILES = {"space-export"}
# A question is taken more steps when more is found to choose from; `MOST` bounds them.
BY_CONTENT = {
    "space-search?q=where+is+hive+12",
    # From 5,000 memories on they are counted, since not all are drawn: one statement.
    "space-graph-data",
    "space-graph?view=table",
    "space-graph?view=links",
}
# The same pages in other states.
STATES = (
    ("space-facts", "?status=all&q=hive&page=3"),
    ("space-facts", "?as_of=2027-01-01"),
    ("space-facts", "?as_of=2026-06-01&known=now"),
    ("space-notes", "?tag=tag-1&show=linked"),
    ("space-notes", "?as_of=2026-06-01"),
    ("space-entities", "?as_of=2026-06-01"),
    ("space-timeline", "?as_of=2026-06-01"),
    ("space-persona", "?as_of=2026-06-01"),
    ("space-heat", "?view=fading"),
    ("space-graph", "?view=table"),
    ("space-graph", "?view=links"),
    ("space-history", "?row=fact&state=standing&page=2"),
    ("space-search", "?q=where+is+hive+12"),
    # All of the space would be undone.
    ("space-roll-back", "?to=2026-05-01"),
)

# Reads of a page that is not named below.
MOST = 25
# Reads of a page, those of signing in and of the frame included.
PINNED = {
    "space-timeline": 17,
    "space-facts": 14,
    "space-notes": 13,
    "space-segments": 10,
    "space-heat": 12,
    "space-episodes": 11,
    "space-episode": 11,
    "space-entities": 10,
    "space-graph": 5,
    "space-graph-data": 14,
    "space-graph-about": 5,
    "space-map": 9,
    "space-map-data": 16,
    "space-history": 15,
    "space-event": 14,
    "space-roll-back": 5,
    "space-review": 11,
    "space-erase": 24,
    "space-golden": 11,
    "space-golden-new": 5,
    "space-golden-question": 9,
    "space-turn": 6,
    "space-fact": 21,
    "space-note": 15,
    "space-segment": 11,
    "space-persona": 17,
    "space-blocks": 11,
    "space-block": 7,
    "space-policy": 8,
    "space-facts?status=all&q=hive&page=3": 14,
    "space-facts?as_of=2027-01-01": 14,
    "space-facts?as_of=2026-06-01&known=now": 14,
    "space-notes?tag=tag-1&show=linked": 13,
    "space-notes?as_of=2026-06-01": 13,
    "space-entities?as_of=2026-06-01": 10,
    "space-timeline?as_of=2026-06-01": 17,
    "space-persona?as_of=2026-06-01": 18,
    "space-heat?view=fading": 8,
    "space-graph?view=table": 14,
    "space-graph?view=links": 14,
    "space-history?row=fact&state=standing&page=2": 13,
    "space-roll-back?to=2026-05-01": 21,
}


def pages(world: World) -> Iterator[tuple[str, str, str]]:
    """(name, address, query) of every page of the space."""
    patterns = {str(pattern.name): pattern for pattern in urlpatterns}
    for name, (_, method) in DECIDED.items():
        if name.startswith("space-") and method == "get" and name not in FILES:
            yield name, address(patterns[name], world.ids()), ""
    for name, query in STATES:
        yield name, reverse(name, args=[world.space.id]), query


def statements(browser: Client, world: World) -> dict[str, int]:
    """How many each page takes, but for those that only open scopes and transactions."""
    counts = {}
    for name, path, query in pages(world):
        with CaptureQueriesContext(connection) as seen:
            answer = browser.get(path + query)
        assert answer.status_code in (200, 302), path + query
        asked = [each["sql"].lstrip("( ").upper() for each in seen.captured_queries]
        counts[name + query] = sum(sql.startswith(("SELECT", "WITH")) for sql in asked)
    return counts


def test_statements_of_a_page_do_not_grow_with_the_space(client: Client, db: None) -> None:
    counts = []
    for name, memories in (("Few", FEW), ("Many", MANY)):
        world = make_world(name)
        with tenant_scope(world.tenant.id):
            remember(world.space, memories)
        client.force_login(world.admin)
        counts.append(statements(client, world))
    few, many = counts
    grown = {page: (few[page], many[page]) for page in few if many[page] > few[page]}
    assert set(grown) <= BY_CONTENT, grown
    over = {page: count for page, count in many.items() if count > PINNED.get(page, MOST)}
    assert not over
