"""Every page takes as many statements with 10,000 memories in a space as with 100, and with as
many times the rows of all else that a tenant's pages list."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import datetime
from typing import Any

from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from memoryhub.console.urls import urlpatterns
from memoryhub.tenants.scope import tenant_scope
from notes.models import Fact
from notes.quality.feedback import set_feedback
from tests.console.conftest import ConsoleWorld, make_world
from tests.console.test_access import DECIDED, build_address, set_operator
from tests.support.bulk_rows import make_copies, make_memories
from tests.support.factories import make_event, make_reading, make_request

FEW, MANY = 100, 10_000
# Memories to each further row that a tenant's pages list.
PER_ROW = 20
# Files of everything there is, in batches: they are not pages.
FILES = {"space-export", "spaces-export", "lab-report"}
# A question is taken more steps when more is found to choose from; `MOST` bounds them.
BY_CONTENT = {
    "space-search?q=where+is+hive+12",
    "search?q=hive",
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
TENANT_STATES = (
    ("overview", "?days=1"),
    ("spaces", "?q=subject&page=2"),
    ("search", "?q=hive"),
    ("review", "?page=2"),
    ("quality", "?signal=fragments"),
    ("requests", "?outcome=5"),
    ("jobs", "?decided=add&days=30"),
    ("usage", "?status=failed"),
    ("recalls", "?outcome=insufficient&days=7"),
    ("feedback", "?verdict=unfit&days=7&page=2"),
    ("changes", "?days=all&page=2"),
    ("lab", "?state=done"),
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
    "space-fact-curve": 8,
    "space-note-curve": 8,
    "space-episode-curve": 8,
    "space-episodes": 11,
    "space-episode": 11,
    "space-entities": 10,
    "space-graph": 9,  # it opens around somebody, and says around whom
    "space-graph-data": 15,
    "space-graph-about": 5,
    "space-map": 9,
    "space-map-data": 16,
    "space-map-evolution": 14,
    "space-history": 15,
    "space-event": 14,
    "space-roll-back": 5,
    "space-review": 12,
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
    "overview": 21,
    "search": 4,
    "space-overview": 25,
    "spaces": 6,
    "spaces-import": 4,
    "golden": 8,
    "embeddings": 9,  # with what the operator chose, and out of the scope and back for it
    "embedding": 8,
    "lab": 6,
    "lab-new": 4,
    "lab-run": 5,
    "lab-questions": 7,
    "lab-question": 9,
    "replays": 7,
    "replay": 13,
    "review": 12,
    "review-case": 8,
    "review-rules": 7,
    "quality": 8,
    "receipts": 6,
    "receipt": 5,
    "imports": 6,
    "import": 6,
    "jobs": 9,
    "job": 7,
    "requests": 7,
    "chat": 6,
    "chat-with": 8,
    "chat-decisions": 4,
    "chat-reading": 5,
    "policy": 7,
    "feedback": 7,
    "recalls": 6,
    "recall": 7,
    "usage": 12,
    "usage-call": 5,
    "changes": 6,
    "settings": 10,
    "predicates": 6,
    "predicate-facts": 6,
    "models": 10,
    "data": 10,
    "people": 7,
    "webhooks": 6,
    "webhook-new": 4,
    "webhook": 7,
    "webhook-delivery": 5,
    "keys": 5,
    "overview?days=1": 21,
    "spaces?q=subject&page=2": 6,
    "search?q=hive": 29,  # three spaces are searched by meaning
    "review?page=2": 12,
    "quality?signal=fragments": 8,
    "requests?outcome=5": 7,
    "jobs?decided=add&days=30": 10,
    "usage?status=failed": 12,
    "recalls?outcome=insufficient&days=7": 6,
    "feedback?verdict=unfit&days=7&page=2": 7,
    "changes?days=all&page=2": 6,
    "lab?state=done": 6,
}


def list_pages(world: ConsoleWorld) -> Iterator[tuple[str, str, str]]:
    """(name, address, query) of every page."""
    patterns = {str(pattern.name): pattern for pattern in urlpatterns}
    for name, (_, method) in DECIDED.items():
        if method == "get" and name not in FILES:
            yield name, build_address(patterns[name], world.collect_ids()), ""
    for name, query in STATES:
        yield name, reverse(name, args=[world.space.id]), query
    for name, query in TENANT_STATES:
        yield name, reverse(name), query


def add_operations(world: ConsoleWorld, count: int) -> None:
    """So much more of what a tenant's pages list. Call inside the tenant's scope."""
    now = timezone.now()
    spaces = make_copies(world.space, count, subject=lambda n: f"subject-{n}")
    facts = list(Fact.objects.filter(space=world.space)[:count])

    def more(row: Any, **changing: Callable[[int], Any]) -> None:
        make_copies(row, count, **changing)

    def at(n: int) -> datetime:
        return now

    result = {"decisions": [{"op": "add", "text": "Hives", "reason": "new"}]}
    more(
        world.job,
        dedupe_key=lambda n: f"job {n}",
        state=lambda n: ("done", "dead", "retry")[n % 3],
        result=lambda n: result,
        created_at=at,
    )
    more(world.call, status=lambda n: ("ok", "failed")[n % 2], space_id=lambda n: spaces[n].id)
    more(world.recall, insufficient=lambda n: n % 2 == 0, asked_at=at)
    more(make_request(world.tenant), status=lambda n: (200, 404, 500)[n % 3])
    more(set_feedback(world.fact, "wrong", "ida", now), row_id=lambda n: facts[n].id, actor=str)
    more(world.proposal, dedupe_key=lambda n: f"case {n}", row_id=lambda n: facts[n].id)
    more(make_reading(world.space), space_id=lambda n: spaces[n].id)
    more(make_event(world.space, kind="manual"), created_at=at)
    more(world.outcome, number=lambda n: n + 1)
    sent = make_copies(world.delivery.event, count)
    more(world.delivery, event_id=lambda n: sent[n].id)
    more(world.rule, predicate_key=lambda n: f"hive {n}")
    for row in (world.receipt, world.question, world.run, world.lab, world.imported):
        more(row)


def count_statements(browser: Client, world: ConsoleWorld) -> dict[str, int]:
    """How many each page takes, but for those that only open scopes and transactions."""
    counts = {}
    for name, path, query in list_pages(world):
        with CaptureQueriesContext(connection) as seen:
            answer = browser.get(path + query)
        assert answer.status_code in (200, 302), path + query
        asked = [each["sql"].lstrip("( ").upper() for each in seen.captured_queries]
        counts[name + query] = sum(sql.startswith(("SELECT", "WITH")) for sql in asked)
    return counts


def test_statements_of_a_page_do_not_grow_with_what_there_is(client: Client, db: None) -> None:
    counts = []
    for name, memories in (("Few", FEW), ("Many", MANY)):
        world = make_world(name)
        with tenant_scope(world.tenant.id):
            make_memories(world.space, memories)
            add_operations(world, memories // PER_ROW)
        set_operator(world, True)
        client.force_login(world.admin)
        counts.append(count_statements(client, world))
    few, many = counts
    grown = {page: (few[page], many[page]) for page in few if many[page] > few[page]}
    assert set(grown) <= BY_CONTENT, grown
    over = {page: count for page, count in many.items() if count > PINNED.get(page, MOST)}
    assert not over, over
