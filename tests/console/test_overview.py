"""The overview of a day, a week or a month: what came in, was decided, found, asked and spent."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from html import unescape
from typing import Any
from uuid import UUID

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from memoryhub import health
from memoryhub.console.frame.day_ranges import compute_range_start
from memoryhub.console.pages.overview import queries
from memoryhub.console.pages.overview.queries import (
    count_answer_signals,
    count_decisions,
    count_requests,
)
from memoryhub.dialogues.messages import Message
from memoryhub.inference.models import ModelCall
from memoryhub.pipeline.ingest.services import IngestRequest, ingest_messages, run_space
from memoryhub.tenants.scope import tenant_scope
from memoryhub.tenants.services import set_tenant_engine
from notes.quality.feedback import set_feedback
from tests.console.conftest import ConsoleWorld, make_world
from tests.support.factories import (
    make_call,
    make_job,
    make_recall,
    make_request,
    make_space,
    make_turns,
)

NOW = datetime(2026, 5, 12, 15, 40, tzinfo=UTC)


def get_overview(browser: Client, days: str = "") -> str:
    return browser.get(reverse("overview"), {"days": days} if days else {}).content.decode()


@pytest.mark.parametrize(
    ("days", "first", "slots"),
    [
        (30, datetime(2026, 4, 13, tzinfo=UTC), 30),
        (7, datetime(2026, 5, 6, tzinfo=UTC), 7),
        (1, datetime(2026, 5, 11, 16, tzinfo=UTC), 24),
    ],
)
def test_days_begin_at_midnight_and_a_single_one_24_hours_ago(
    world: ConsoleWorld, days: int, first: datetime, slots: int
) -> None:
    assert compute_range_start(days, NOW) == first
    with tenant_scope(world.tenant.id):
        make_turns(world.space, "Early.", at=first - timedelta(seconds=1))
        make_turns(world.space, "First.", at=first)
        make_turns(world.space, "Now.", "Now again.", at=NOW - timedelta(minutes=1))
        found = queries.count_activity(days, NOW)
    turns = [day.turns for day in found]
    assert (len(turns), turns[0]) == (slots, 1)
    assert sum(turns) == 3 + 2, "with the world's own of that morning"


def test_the_range_is_a_link_and_stays_while_the_page_renews_itself(
    browser: Client, world: ConsoleWorld
) -> None:
    page = get_overview(browser, "7")
    assert 'href="?days=1"' in page
    assert 'href="?days=7" aria-current="page"' in page
    assert 'hx-get="/?days=7"' in page
    assert "in the last 7 days, at most 0 a day" in page
    with tenant_scope(world.tenant.id):
        make_turns(world.space, "Now.", "Now again.", at=timezone.now())
    assert "at most 2 an hour" in get_overview(browser, "1")


def test_decisions_are_counted_by_kind_within_the_days(
    browser: Client, world: ConsoleWorld
) -> None:
    now = timezone.now()

    def read(at: datetime, *ops: str, **more: Any) -> None:
        made = [{"op": op, "text": "x", "reason": "y"} for op in ops]
        values: dict[str, Any] = {"result": {"decisions": made}, "created_at": at} | more
        make_job(world.space, "done", **values)

    other = make_world("Other")
    with tenant_scope(world.tenant.id):
        read(now, "add", "add", "supersede")
        read(now - timedelta(days=3), "quarantine")
        read(now, "end", step="episode")
        read(now, result={})
        read(now, result={"decisions": "odd"})
        assert count_decisions(now - timedelta(days=1)) == [
            ("add", 2),
            ("supersede", 1),
        ]
    with tenant_scope(other.tenant.id):
        assert count_decisions(now - timedelta(days=1)) == []
    assert "Quarantined" in get_overview(browser, "7")
    assert "Quarantined" not in get_overview(browser, "1")
    page = get_overview(browser, "1")
    assert (
        f'<dt>Remembered</dt><dd><a class="plain" href="{reverse("jobs")}?days=1&amp;decided=add">2'
        in page
    )
    assert "1 to 1 of 1" in browser.get(reverse("jobs"), {"decided": "quarantine"}).content.decode()
    none = browser.get(reverse("jobs"), {"decided": "retract"}).content.decode()
    assert "Nothing matches" in none


def test_every_number_of_the_overview_leads_to_the_rows_behind_it(
    browser: Client, world: ConsoleWorld
) -> None:
    with tenant_scope(world.tenant.id):
        make_call(world.space)
    cells = re.findall(r"<dt>([^<]*)</dt><dd>(.*?)</dd>", get_overview(browser), re.DOTALL)
    plain = {name for name, cell in cells if "<a " not in cell}
    assert plain == {"Oldest"}, "the age of a job is no number of rows"


@pytest.mark.parametrize(
    ("made", "due", "state", "said"),
    [
        (timedelta(), timedelta(days=-20_000), "queued", "just now"),
        (timedelta(hours=-3), timedelta(days=-20_000), "queued", "3 hours ago"),
        (timedelta(hours=-20), timedelta(hours=-2), "queued", "2 hours ago"),
        (timedelta(hours=-5), timedelta(hours=1), "retry", "5 hours ago"),
    ],
)
def test_the_oldest_job_waits_since_it_was_queued_and_due(
    browser: Client,
    world: ConsoleWorld,
    made: timedelta,
    due: timedelta,
    state: str,
    said: str,
) -> None:
    """Whatever day the conversation is of that it was planned after."""
    now = timezone.now()
    milliseconds = int((now + made).timestamp() * 1000)
    with tenant_scope(world.tenant.id):
        make_job(
            world.space,
            state,
            id=UUID(int=milliseconds << 80 | 0x7 << 76),
            created_at=now + min(due, made),
            run_after=now + due,
        )
    shown = re.search(r"<dt>Oldest</dt><dd>(.*?)</dd>", get_overview(browser), re.DOTALL)
    assert shown is not None
    assert said in shown[1]


def get_figures(browser: Client, where: str) -> dict[str, str]:
    """What a page that a number leads to says of its rows, by the number's name."""
    told = browser.get(unescape(where)).context
    rows = told["page"].total
    figures = told.get("days", ())
    return {
        "Tokens": f"{sum(day.tokens for day in figures):,}",
        "Money": f"{sum(day.money for day in figures):,.2f}",
        "": f"{told.get('decided', rows):,}",
    }


@pytest.mark.parametrize("days", [1, 7, 30])
def test_the_page_behind_a_number_of_the_overview_counts_the_same(
    browser: Client, world: ConsoleWorld, monkeypatch: pytest.MonkeyPatch, days: int
) -> None:
    monkeypatch.setattr(timezone, "now", lambda: NOW)
    edges = [compute_range_start(each, NOW) for each in (1, 7, 30)]
    ops = [{"op": "add"}, {"op": "supersede"}, {"op": "add"}]
    with tenant_scope(world.tenant.id):
        ModelCall.objects.update(created_at=NOW)  # the world's own, of the real present
        for at in [NOW, *edges, *(edge - timedelta(seconds=1) for edge in edges)]:
            make_job(world.space, "done", result={"decisions": ops}, created_at=at)
            make_recall(world.space, "?", insufficient=True, degraded=["router"], asked_at=at)
            make_call(world.space, status="failed", cost=3, created_at=at)
            make_request(world.tenant, status=404, at=at)
            make_request(world.tenant, status=500, at=at)
            for verdict in ("wrong", "positive"):
                set_feedback(world.fact, verdict, f"{verdict} {at}", at)
    page = get_overview(browser, str(days))
    links = re.findall(r'<dt>([^<]*)</dt><dd><a class="plain" href="([^"]+)">([^<]*)</a>', page)
    there = {(name, where): get_figures(browser, where) for name, where, _ in links}
    assert {(name, where): number for name, where, number in links} == {
        (name, where): found.get(name, found[""]) for (name, where), found in there.items()
    }
    assert {"Remembered", "Rated negative", "Questions", "Money"} <= {name for name, _ in there}


def test_quality_requests_and_money_are_those_of_the_days(
    browser: Client, world: ConsoleWorld
) -> None:
    now = timezone.now()
    with tenant_scope(world.tenant.id):
        make_recall(world.space, "Wasps?", insufficient=True)
        make_recall(world.space, "Hornets?", degraded=["embedder"], insufficient=True)
        make_recall(world.space, "Old?", asked_at=now - timedelta(days=5))
        set_feedback(world.fact, "wrong", "ida", now)
        for status in (200, 404, 500, 503):
            make_request(world.tenant, status=status)
        make_call(world.space, cost=3, created_at=now - timedelta(days=5))
        found = count_answer_signals(now - timedelta(days=1))
        asked = count_requests(now)
    assert (found["questions"], found["insufficient"], found["degraded"]) == (3, 2, 1)
    assert (found["unfit"], found["waiting"]) == (1, 1)
    assert (asked["count"], asked["refused"], asked["failed"]) == (4, 1, 2)
    page = get_overview(browser, "1")
    assert f"{reverse('recalls')}?days=1&amp;outcome=insufficient" in page
    assert f"{reverse('requests')}?outcome=5" in page
    assert "3.00" in get_overview(browser, "7")
    assert "3.00" not in page


def test_a_key_that_is_refused_is_told_until_a_call_goes_well(
    browser: Client, world: ConsoleWorld
) -> None:
    error = "endpoint_refused: The model endpoint answered 401: no"
    with tenant_scope(world.tenant.id):
        make_call(world.space, status="failed", error=error)
    page = get_overview(browser)
    assert "The endpoint refused the hub&#x27;s key" in page
    assert "update OPENAI_API_KEY" in page
    with tenant_scope(world.tenant.id):
        make_call(world.space)
    assert "refused the hub" not in get_overview(browser)


def test_an_engine_without_its_model_and_a_database_behind_are_told(
    browser: Client, world: ConsoleWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    set_tenant_engine(world.tenant.id, "llm")
    monkeypatch.setattr(health, "count_pending_migrations", lambda: 3)
    page = get_overview(browser)
    assert "This tenant uses a language model, but none is configured" in page
    assert "The database is 3 migrations behind the program" in page
    assert "python manage.py migrate --database owner" in page


def test_a_database_that_is_up_to_date_is_asked_once(
    db: None, monkeypatch: pytest.MonkeyPatch, django_assert_num_queries: Any
) -> None:
    monkeypatch.setattr(health, "_known_pending", None)
    assert health.count_pending_migrations() == 0
    with django_assert_num_queries(0):
        assert health.count_pending_migrations() == 0


def test_the_latest_changes_say_what_changed_and_where(
    browser: Client, world: ConsoleWorld
) -> None:
    with tenant_scope(world.tenant.id):
        space = make_space(world.tenant, "Ines")
    said = [Message("user", "I moved to Turin last week.", "Ines")]
    ingest_messages(world.tenant.id, IngestRequest("Ines", said))
    run_space(world.tenant.id, space.id)
    latest = get_overview(browser).partition("Latest changes")[2].partition("</section>")[0]
    told = unescape(re.sub(r"<[^>]+>", " ", latest))
    assert "Turin" in told
    assert "Ines" in told
    assert not re.search(r"\d+ rows?\b|pipeline", told)
