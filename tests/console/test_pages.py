"""What the pages say, and how many statements they take."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from memoryhub.console.frame.space.tabs import SPACE_TABS
from memoryhub.console.pages.segments.views import load_segment_pages
from memoryhub.dialogues.messages import Message
from memoryhub.dialogues.models import Turn
from memoryhub.dialogues.services import append_turns
from memoryhub.pipeline.models import Job
from memoryhub.policies.schema import HeatPolicy
from memoryhub.tenants.models import ApiKey, Space
from memoryhub.tenants.scope import tenant_scope
from notes.models import Chain, Derivation, Episode, Fact, Page, Revision, Segment
from notes.quality.feedback import set_feedback
from notes.topics.heat import annotate_heat
from personas.models import ProfileAttribute
from tests.console.conftest import ConsoleWorld, make_plans
from tests.support.factories import (
    MAY,
    make_episode,
    make_event,
    make_fact,
    make_job,
    make_note,
    make_proposal,
    make_rule,
    make_segment,
    make_source,
    make_space,
    make_turns,
)

# Everything but savepoints and settings: those of signing in and of the scope included, and the
# count of what waits in the inbox.
FRAME = 13
QUERIES = {
    "overview": 21,
    "policy": 3,
    "space-policy": 4,
    "quality": 4,
    "space-quality": 4,
    "review": 10,
    "space-review": 9,
    "review-rules": 3,
    "usage": 11,
    "spaces": 2,
    "space-overview": 20,
    "space-timeline": 12,
    "space-facts": 9,
    "space-notes": 8,
    "space-segments": 5,
    "space-heat": 8,
    "space-fact-curve": 4,
    "space-note-curve": 4,
    "space-episode-curve": 4,
    "space-episodes": 6,
    "space-episode": 9,
    "space-entities": 5,
    "space-graph": 4,
    "space-map": 6,
    "space-map-evolution": 9,
    "space-history": 8,
    "space-fact": 18,
    "space-note": 13,
    "space-segment": 7,
    "space-search": 5,
    "jobs": 5,
    "recalls": 3,
    "feedback": 4,
    "requests": 3,
    "changes": 2,
    "settings": 7,
    "predicates": 2,
    "predicate-facts": 2,
    "models": 9,
    "data": 7,
    "people": 6,  # the scope is left to see who has a second factor
    "chat": 2,
    "keys": 1,
}


def get_page(browser: Client, world: ConsoleWorld, name: str, query: str = "") -> str:
    return browser.get(build_address(world, name) + query).content.decode()


def build_address(world: ConsoleWorld, name: str) -> str:
    own = name.removeprefix("space-").removesuffix("-curve")
    ids = [world.space.id] if name.startswith("space-") else []
    ids += [getattr(world, own).id] if own in ("fact", "note", "segment", "episode") else []
    return reverse(name, args=ids)


def add_rows(world: ConsoleWorld, count: int) -> None:
    """More of everything that lists show."""
    with tenant_scope(world.tenant.id):
        for number in range(count):
            make_space(world.tenant)
            turn, *_ = make_turns(world.space, f"I bought hive number {number}.")
            make_fact(world.space, f"hive number {number}", turn)
            make_note(world.space, f"hive {number}")
            make_segment(world.space, f"hive {number}", turn)
            make_episode(world.space, f"Hive {number}", turn)
            make_job(world.space, "done")
            make_proposal(
                world.space,
                row_type="fact",
                row_id=make_fact(world.space, f"hive {number} is old", turn).id,
                turn_ids=[turn.id],
                payload={"sources": [{"turn": str(turn.id), "start": 0, "end": 3}]},
            )
            make_rule(world.tenant, world.space, role="tool", predicate_key=f"hive {number}")


@pytest.mark.parametrize("name", QUERIES)
def test_statements_do_not_grow_with_the_rows(
    browser: Client,
    world: ConsoleWorld,
    name: str,
    django_assert_max_num_queries: DjangoAssertNumQueries,
) -> None:
    add_rows(world, 4)
    get_page(browser, world, "overview")  # what a process asks once: is the database up to date?
    with django_assert_max_num_queries(QUERIES[name] + FRAME):
        assert browser.get(build_address(world, name)).status_code == 200


def test_the_overview_counts_and_leads_to_the_rows(browser: Client, world: ConsoleWorld) -> None:
    page = get_page(browser, world, "overview")
    assert "<b>2</b>" in page  # turns
    assert "1 job was given up" in page
    assert f"{reverse('jobs')}?state=dead" in page
    assert "the endpoint is closed" in page
    assert "No language model is configured" in page


def test_the_overview_shows_the_latest_changes_first(browser: Client, world: ConsoleWorld) -> None:
    with tenant_scope(world.tenant.id):
        made = {
            number: make_event(world.space, created_at=MAY + timedelta(days=number))
            for number in (3, 1, 2)
        }
    page = get_page(browser, world, "overview")
    places = [page.index(f"/{made[number].id}/") for number in (3, 2, 1)]
    assert places == sorted(places)


def test_the_overview_of_an_empty_tenant_says_what_to_do(
    browser: Client, world: ConsoleWorld
) -> None:
    with tenant_scope(world.tenant.id):
        world.space.delete()
    page = get_page(browser, world, "overview")
    assert "No messages yet" in page
    assert "Open the chat" in page


def test_spaces_are_found_by_words_of_subject_and_name(
    browser: Client, world: ConsoleWorld
) -> None:
    with tenant_scope(world.tenant.id):
        make_space(world.tenant, "oskar")
    assert "oskar" in get_page(browser, world, "spaces")
    page = get_page(browser, world, "spaces", "?q=osk")
    assert "oskar" in page
    assert world.space.subject not in page
    assert "Nothing matches" in get_page(browser, world, "spaces", "?q=nobody")


def test_spaces_with_failed_work_can_be_listed(browser: Client, world: ConsoleWorld) -> None:
    with tenant_scope(world.tenant.id):
        make_space(world.tenant, "oskar")
    page = get_page(browser, world, "spaces", "?work=failed")
    assert world.space.subject in page
    assert "oskar" not in page


def test_lists_say_how_many_there_are_and_keep_filters_while_paging(
    browser: Client, world: ConsoleWorld
) -> None:
    with tenant_scope(world.tenant.id):
        for number in range(30):
            make_fact(world.space, f"hive {number}")
    page = get_page(browser, world, "space-facts", "?q=hive")
    assert "1 to 25 of 30" in page
    assert "?q=hive&amp;page=2" in page
    assert "26 to 30 of 30" in get_page(browser, world, "space-facts", "?q=hive&page=2")
    assert "26 to 30 of 30" in get_page(browser, world, "space-facts", "?q=hive&page=99")


def test_the_supporting_words_are_marked(browser: Client, world: ConsoleWorld) -> None:
    marked = "Listen, <mark>I keep bees in Ghent</mark>. Do you?"
    assert marked in get_page(browser, world, "space-fact")
    assert marked in get_page(browser, world, "space-facts")
    assert "Two hives." in get_page(browser, world, "space-note")


def test_a_replaced_fact_says_until_when_and_by_what(browser: Client, world: ConsoleWorld) -> None:
    make_successor(world)
    page = get_page(browser, world, "space-facts", "?status=past")
    assert "Believed until" in page
    assert "then replaced by “I keep bees in Bruges”" in page
    assert "I keep bees in Bruges" in get_page(browser, world, "space-fact")
    assert "I keep bees in Ghent</a>" not in get_page(browser, world, "space-facts")


def test_a_wording_that_was_taken_out_stands_before_the_right_one_and_says_so(
    browser: Client, world: ConsoleWorld
) -> None:
    later = MAY + timedelta(days=1)
    with tenant_scope(world.tenant.id):
        Fact.objects.filter(id=world.fact.id).update(retired_at=later, version=2)
        right = make_fact(
            world.space, "I keep ten hives", lineage=world.fact.lineage, recorded_at=later
        )
    where = reverse("space-fact", args=[world.space.id, right.id])
    page = browser.get(where).content.decode()
    assert page.index(f">{world.fact.text}</a>") < page.index(">I keep ten hives</a>")
    assert page.count(", removed</p>") == 1


def test_a_receipt_says_in_words_what_was_erased(browser: Client, world: ConsoleWorld) -> None:
    where = reverse("receipt", args=[world.receipt.id])
    assert "<h1>Erased: messages</h1>" in browser.get(where).content.decode()
    assert ">Messages</a>" in browser.get(reverse("receipts")).content.decode()


def test_a_turn_that_loses_a_clause_is_counted_apart(browser: Client, world: ConsoleWorld) -> None:
    where = f"{reverse('space-erase', args=[world.space.id])}?facts={world.fact.id}&sources=yes"
    counted = "<dt>Turns that lose one clause and keep the rest</dt><dd>1</dd>"
    planned = browser.get(where).content.decode()
    assert counted in planned
    assert '<span class="words">I keep bees in Ghent.</span>' in planned
    assert counted in browser.post(where, follow=True).content.decode()
    with tenant_scope(world.tenant.id):
        left = Turn.objects.get(id=world.turn.id)
    assert left.text == f"Listen, {'█' * 21} Do you?"
    at_turn = reverse("space-turn", args=[world.space.id, left.id])
    assert left.text in browser.get(at_turn, follow=True).content.decode()


def make_successor(world: ConsoleWorld) -> Fact:
    with tenant_scope(world.tenant.id):
        Fact.objects.filter(id=world.fact.id).update(
            status="superseded", valid_to=MAY + timedelta(days=20)
        )
        return make_fact(
            world.space, "I keep bees in Bruges", supersedes=world.fact, lineage=world.fact.lineage
        )


def test_what_changes_next_year_has_not_changed_yet(browser: Client, world: ConsoleWorld) -> None:
    moves = timezone.now() + timedelta(days=365)
    with tenant_scope(world.tenant.id):
        Fact.objects.filter(id=world.fact.id).update(status="superseded", valid_to=moves)
        make_fact(world.space, "I keep bees in Bruges", valid_from=moves)
        make_fact(world.space, "I will keep goats", polarity="planned", event_from=moves)
    now = get_page(browser, world, "space-facts")
    assert "I keep bees in Ghent</a>" in now
    assert "I will keep goats</a>" in now
    assert "I keep bees in Bruges</a>" not in now
    assert 'class="title past"' not in now
    later = get_page(browser, world, "space-facts", "?status=ahead")
    assert "I keep bees in Bruges</a>" in later
    assert "Will be true from" in later
    assert "Nothing matches" in get_page(browser, world, "space-facts", "?status=past")


def test_facts_can_be_narrowed_to_an_owner(browser: Client, world: ConsoleWorld) -> None:
    with tenant_scope(world.tenant.id):
        make_fact(world.space, "Rosa paints boats", owner="Rosa")
    page = get_page(browser, world, "space-facts", "?owner=Rosa")
    assert "Rosa paints boats" in page
    assert "I keep bees" not in page
    assert "I keep bees" in get_page(browser, world, "space-facts", "?owner=Nobody")


def test_a_fact_tells_what_changed_it(browser: Client, world: ConsoleWorld) -> None:
    with tenant_scope(world.tenant.id):
        Revision.objects.create(
            tenant_id=world.tenant.id,
            space=world.space,
            event=make_event(world.space, reason="said in the dialogue"),
            row_type="fact",
            row_id=world.fact.id,
            version_before=1,
            version_after=2,
            before={"status": "active", "version": 1},
            after={"status": "superseded", "version": 2, "text": world.fact.text},
        )
    page = get_page(browser, world, "space-fact")
    assert "<del>current</del>" in page
    assert "<ins>no longer true</ins>" in page
    assert "said in the dialogue" in get_page(browser, world, "space-history")


def test_the_timeline_shows_what_was_made_of_a_turn(browser: Client, world: ConsoleWorld) -> None:
    page = get_page(browser, world, "space-timeline")
    assert "Tuesday 12 May 2026" in page
    assert build_address(world, "space-fact") in page
    assert build_address(world, "space-note") in page
    assert "<em>I keep bees in Ghent</em>" in page


def test_a_turn_leads_to_its_page_of_the_timeline(browser: Client, world: ConsoleWorld) -> None:
    with tenant_scope(world.tenant.id):
        make_turns(world.space, *(f"Later {number}" for number in range(45)))
    answer = browser.get(reverse("space-turn", args=[world.space.id, world.turn.id]))
    assert answer["Location"].endswith(f"?page=2#turn-{world.turn.id}")
    assert f'id="turn-{world.turn.id}"' in get_page(browser, world, "space-timeline", "?page=2")


def test_notes_and_segments_are_found_by_keyword(browser: Client, world: ConsoleWorld) -> None:
    assert "Bees in Ghent" in get_page(browser, world, "space-notes", "?q=hobby")
    assert "Nothing matches" in get_page(browser, world, "space-notes", "?q=chess")
    assert "Keeping bees" in get_page(browser, world, "space-segments", "?q=bees&sort=recent")
    assert "Nothing matches" in get_page(browser, world, "space-segments", "?tier=cold")


def test_segments_are_sorted_by_heat(browser: Client, world: ConsoleWorld) -> None:
    with tenant_scope(world.tenant.id):
        make_segment(world.space, "Visited often", visits_total=9)
    page = get_page(browser, world, "space-segments")
    assert page.index("Visited often") < page.index("Keeping bees")


@pytest.mark.parametrize("visited", [MAY.replace(year=9000), MAY.replace(year=2)])
def test_a_visit_at_an_odd_time_counts_at_most_once(
    browser: Client, world: ConsoleWorld, visited: datetime
) -> None:
    """E29: heat is never higher for a clock that runs ahead, and never an error."""
    with tenant_scope(world.tenant.id):
        segment = make_segment(world.space, "Odd clocks", last_visited_at=visited)
        now = timezone.now()
        (row,) = annotate_heat(Segment.objects.filter(id=segment.id), HeatPolicy(), now)
    assert 0 < row.recency <= 1
    assert row.heat == row.recency
    assert "Odd clocks" in get_page(browser, world, "space-segments")


def test_conversations_at_the_same_time_stay_apart(browser: Client, world: ConsoleWorld) -> None:
    with tenant_scope(world.tenant.id):
        first, other = make_turns(world.space, "The queen"), make_turns(world.space, "A leaky roof")
        last = append_turns(
            world.space,
            [Message("assistant", "is marked in blue", timestamp=MAY)],
            received=MAY,
            session_id=first[0].session.external_id,
        ).turns
        segment = make_segment(world.space, "Queens", first[0])
        Page.objects.filter(memberships__segment=segment).update(last_seq=last[0].seq)
        assert first[0].seq < other[0].seq < last[0].seq
        exchange, *_ = load_segment_pages(segment, 1)
    assert [turn.text for turn in exchange.turns] == ["The queen", "is marked in blue"]
    address = reverse("space-segment", args=[world.space.id, segment.id])
    page = browser.get(address).content.decode()
    assert "is marked in blue" in page
    assert "A leaky roof" not in page


def test_a_segment_shows_its_exchanges(browser: Client, world: ConsoleWorld) -> None:
    page = get_page(browser, world, "space-segment")
    assert page.index("Two hives.") < page.index("I keep bees")  # newest first


def test_a_segment_tells_its_tier_both_heats_and_the_chains(
    browser: Client, world: ConsoleWorld
) -> None:
    with tenant_scope(world.tenant.id):
        chain = Chain.objects.create(
            tenant_id=world.tenant.id, space=world.space, summary="Two hives it was.", page_count=2
        )
        Page.objects.filter(memberships__segment=world.segment).update(chain=chain)
        Segment.objects.update(
            tier="cold", promo_pages=6, promo_visits=1, last_visited_at=timezone.now()
        )
    page = get_page(browser, world, "space-segment")
    assert page.count("Two hives it was.") == 1, "once for the exchanges of a chain"
    assert "Promotion heat 8.00, above 5: 1 visit and 6 pages" in page
    assert ">inactive</span>" in page
    rows = get_page(browser, world, "space-segments", "?sort=ready&tier=cold")
    assert "8.00" in rows
    assert ">inactive</span>" in rows


def test_a_retired_segment_is_listed_no_more(browser: Client, world: ConsoleWorld) -> None:
    with tenant_scope(world.tenant.id):
        Segment.objects.update(retired_at=MAY)
    assert "No topics yet" in get_page(browser, world, "space-segments")


def test_entities_lead_to_the_facts_about_them(browser: Client, world: ConsoleWorld) -> None:
    assert "?status=all&amp;q=Ghent" in get_page(browser, world, "space-entities")


def test_find_looks_in_spaces_and_facts(browser: Client, world: ConsoleWorld) -> None:
    page = get_page(browser, world, "search", "?q=bees+ghent")
    assert build_address(world, "space-fact") in page
    assert "No space has this name" in page


def test_odd_filters_fall_back(browser: Client, world: ConsoleWorld) -> None:
    for query in ("?page=x", "?page=-1", "?page=99999999999", "?status=odd", "?q=%00", "?sort="):
        assert browser.get(build_address(world, "space-facts") + query).status_code == 200


def test_times_show_the_exact_one_on_hover(browser: Client, world: ConsoleWorld) -> None:
    page = get_page(browser, world, "space-fact")
    assert 'title="Tue 12 May 2026, 09:30:00 UTC"' in page


def test_pages_not_found_look_like_the_rest(browser: Client) -> None:
    answer = browser.get("/nothing/here")
    assert answer.status_code == 404
    assert b"css/tokens.css" in answer.content


def test_jobs_are_listed_by_state_with_their_error(browser: Client, world: ConsoleWorld) -> None:
    with tenant_scope(world.tenant.id):
        make_job(world.space, "done")
    assert "the endpoint is closed" in get_page(browser, world, "jobs", "?state=dead")
    assert "the endpoint is closed" not in get_page(browser, world, "jobs", "?state=done")
    assert "0 of 2 turns read" in get_page(browser, world, "jobs")


def test_the_polling_browser_gets_the_live_part_only(browser: Client, world: ConsoleWorld) -> None:
    answer = browser.get(reverse("jobs") + "?state=dead", headers={"HX-Request": "true"})
    page = answer.content.decode()
    assert page.startswith('<div class="stack" id="live"')
    assert 'hx-get="/jobs/?state=dead"' in page


def test_a_job_given_up_can_be_tried_again(browser: Client, world: ConsoleWorld) -> None:
    answer = browser.post(reverse("job-retry", args=[world.job.id]), follow=True)
    assert "Queued for another attempt" in answer.content.decode()
    with tenant_scope(world.tenant.id):
        assert Job.objects.get(id=world.job.id).state == "queued"
    answer = browser.post(reverse("job-retry", args=[world.job.id]), follow=True)
    assert "only a job that failed or was cancelled can be tried again" in answer.content.decode()


def test_a_new_key_is_shown_once_and_a_revoked_one_says_so(
    browser: Client, world: ConsoleWorld
) -> None:
    form = {"name": "shop", "scopes": ["read", "write"], "subject": world.space.subject}
    sent = browser.post(reverse("keys"), form)
    assert sent["Location"] == reverse("keys"), "loading the page anew makes no second key"
    made = browser.get(reverse("keys"))
    assert b"Copy the key now" in made.content
    assert "no-store" in made["Cache-Control"]
    later = get_page(browser, world, "keys")
    assert "shop" in later
    assert made.context["secret"] not in later
    browser.post(reverse("key-revoke", args=[world.key.id]))
    assert "revoked" in get_page(browser, world, "keys")


def test_what_was_chosen_in_a_list_is_counted_by_its_name(
    browser: Client, world: ConsoleWorld
) -> None:
    with tenant_scope(world.tenant.id):
        other = make_fact(world.space, "Wax is sold in Lier")
    both, one = [world.fact.id, other.id], [other.id]
    where = reverse("space-facts-chosen", args=[world.space.id])
    for ids, action, said in ((both, "pin", "Done: 2 facts."), (one, "unpin", "Done: 1 fact.")):
        answer = browser.post(where, {"ids": ids, "action": action}, follow=True)
        assert said in answer.content.decode()


def test_what_was_chosen_in_a_list_is_done(browser: Client, world: ConsoleWorld) -> None:
    with tenant_scope(world.tenant.id):
        fact = make_fact(world.space, "Wax is sold in Lier")
        note = make_note(world.space, "Wax in Lier")
        failed = make_job(world.space, "dead", error="EngineError: gone")

    def choose(name: str, *ids: Any, space: bool = True, **form: str) -> None:
        where = reverse(name, args=[world.space.id] if space else [])
        assert browser.post(where, {"ids": ids, **form}).status_code == 302
        with tenant_scope(world.tenant.id):
            for row in (fact, note, failed):
                row.refresh_from_db()

    choose("space-facts-chosen", fact.id, action="pin")
    choose("space-notes-chosen", note.id, world.note.id, action="pin")
    assert fact.pinned
    assert note.pinned
    choose("space-facts-chosen", fact.id, action="unpin")
    choose("space-notes-chosen", note.id, action="unpin")
    assert not fact.pinned
    assert not note.pinned
    choose("space-facts-chosen", fact.id, action="forget")
    choose("space-notes-chosen", note.id, action="forget")
    assert fact.retired_at
    assert note.retired_at
    choose("jobs-chosen", failed.id, world.job.id, space=False)
    with tenant_scope(world.tenant.id):
        states = {job.state for job in Job.objects.filter(id__in=[failed.id, world.job.id])}
    assert states == {"queued"}


def test_a_space_has_seven_tabs(browser: Client, world: ConsoleWorld) -> None:
    names = ["Overview", "Timeline", "Memories", "Graph", "Persona", "History", "Settings"]
    assert [str(tab.label) for tab in SPACE_TABS] == names


def test_the_overview_of_a_space_answers_at_a_glance(browser: Client, world: ConsoleWorld) -> None:
    with tenant_scope(world.tenant.id):
        told = {"owner": world.space.display_name, "key": "home", "value": "Ghent"}
        ProfileAttribute.objects.create(tenant=world.tenant, space=world.space, **told)
    page = get_page(browser, world, "space-overview")
    sections = dict(re.findall(r'aria-labelledby="([\w-]+)">(.*?)</section>', page, re.S))
    assert list(sections) == ["who", "true-now", "changed-last", "in-doubt", "hottest"]
    assert "Ghent" in sections["who"]
    assert "I keep bees in Ghent" in sections["true-now"]
    assert str(world.event.get_kind_display()) in sections["changed-last"]
    assert str(world.proposal.get_kind_display()) in sections["in-doubt"]
    assert "Decide 1 case" in sections["in-doubt"]
    assert "Keeping bees" in sections["hottest"]


def test_a_plan_whose_day_is_over_is_not_among_what_is_true_now(
    browser: Client, world: ConsoleWorld
) -> None:
    make_plans(world)
    page = get_page(browser, world, "space-overview")
    assert "Nora walks to Bruges." in page
    assert "Nora flies to Rome." not in page
    assert "Was planned for" in get_page(browser, world, "space-facts")


def test_a_key_works_until_the_day_that_was_set(browser: Client, world: ConsoleWorld) -> None:
    with tenant_scope(world.tenant.id):
        Space.objects.filter(id=world.space.id).update(timezone="America/Bogota")
    form = {"name": "shop", "scopes": ["read"], "subject": world.space.subject}
    browser.post(reverse("keys"), form | {"last_day": "2090-01-31"})
    with tenant_scope(world.tenant.id):
        key = ApiKey.objects.get(name="shop")
    assert key.expires_at == datetime(2090, 2, 1, 5, tzinfo=UTC)
    assert "until 31 Jan 2090" in get_page(browser, world, "keys")
    with tenant_scope(world.tenant.id):
        ApiKey.objects.filter(id=key.id).update(expires_at=timezone.now())
    assert "expired" in get_page(browser, world, "keys")
    refused = browser.post(reverse("keys"), form | {"last_day": "2020-01-31"}).content.decode()
    assert "a time that is to come" in refused


def test_a_key_needs_a_name_and_a_known_space(browser: Client, world: ConsoleWorld) -> None:
    page = browser.post(reverse("keys"), {"scopes": ["read"], "subject": "nobody"}).content.decode()
    assert "This field is required" in page
    assert "There is no space with this subject" in page


def test_a_quiet_worker_is_noticed(browser: Client, world: ConsoleWorld) -> None:
    late = timezone.now() - timedelta(minutes=5)
    with tenant_scope(world.tenant.id):
        make_job(world.space, "queued", run_after=late)
    page = get_page(browser, world, "overview")
    assert "No worker is responding: 1 job overdue by more than a minute" in page


def test_what_is_planned_for_later_is_not_yet_to_do(browser: Client, world: ConsoleWorld) -> None:
    with tenant_scope(world.tenant.id):
        Job.objects.update(state="done")
        job = make_job(world.space, step="sweep", run_after=timezone.now() + timedelta(hours=1))
    overview = get_page(browser, world, "overview")
    assert "All is well" in overview
    assert "<dt>Planned</dt>" in overview
    assert "to do" not in get_page(browser, world, "space-timeline")
    with tenant_scope(world.tenant.id):
        Job.objects.filter(id=job.id).update(run_after=timezone.now())
    assert "1 job to do" in get_page(browser, world, "overview")
    assert "1 job to do" in get_page(browser, world, "space-timeline")


def test_episodes_are_found_by_kind_state_and_words(browser: Client, world: ConsoleWorld) -> None:
    with tenant_scope(world.tenant.id):
        make_episode(world.space, "A day of honey.", kind="day", day=MAY.date(), stale=True)
        make_episode(world.space, "Gone.", retired_at=MAY)
    everything = get_page(browser, world, "space-episodes")
    assert "Bees" in everything
    assert "A day of honey." in everything
    assert "being rewritten" in everything
    assert "Gone." not in everything
    assert "2 episodes" in everything
    assert "Bees" not in get_page(browser, world, "space-episodes", "?kind=day")
    assert "Bees" not in get_page(browser, world, "space-episodes", "?state=stale")
    assert "Gone." in get_page(browser, world, "space-episodes", "?state=retired")
    assert "Nothing matches" in get_page(browser, world, "space-episodes", "?q=wasps")


def test_an_episode_shows_its_text_its_turns_and_how_well_it_is_remembered(
    browser: Client, world: ConsoleWorld
) -> None:
    with tenant_scope(world.tenant.id):
        day = make_episode(world.space, "A day of honey.", kind="day", day=MAY.date())
        whole = make_episode(world.space, "Honey ever since.", kind="global")
        make_source(whole, world.turn)
        Derivation.objects.filter(child_id=whole.id).update(via_type="episode", via_id=day.id)
        Episode.objects.filter(id=world.episode.id).update(
            strength=3, recall_count=2, last_recall_at=timezone.now(), visibility="dormant"
        )
    page = get_page(browser, world, "space-episode")
    assert "Nora keeps bees." in page
    assert "Listen, I keep bees in Ghent." in page
    assert "100 %, strength 3" in page
    assert "faded" in page
    address = reverse("space-episode", args=[world.space.id, whole.id])
    assert "A day of honey." in browser.get(address).content.decode()


def test_what_was_said_of_a_fact_stands_on_its_page(browser: Client, world: ConsoleWorld) -> None:
    assert "<h2>Feedback</h2>" not in get_page(browser, world, "space-fact")
    with tenant_scope(world.tenant.id):
        set_feedback(world.fact, "wrong", "key mh_abc", MAY, reason="She moved.")
    page = get_page(browser, world, "space-fact")
    assert "Not true" in page
    assert "She moved." in page
    assert "key mh_abc" in page
