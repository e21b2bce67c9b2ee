"""Every tab of a space can be narrowed, in the address and with totals."""

from __future__ import annotations

from datetime import timedelta
from uuid import uuid4

from django.test import Client
from django.urls import reverse
from django.utils import timezone

from memoryhub.console.pages.history.row_changes import MAX_EVENT_ROWS
from memoryhub.dialogues.models import Session
from memoryhub.tenants.models import Space
from memoryhub.tenants.scope import tenant_scope
from notes.models import Entity, Fact, Note, Revision
from tests.console.conftest import ConsoleWorld
from tests.support.factories import (
    MAY,
    make_episode,
    make_event,
    make_fact,
    make_note,
    make_space,
    make_trait,
    make_turns,
)


def get_tab(browser: Client, world: ConsoleWorld, name: str, **query: str) -> str:
    address = reverse(f"space-{name}", args=[world.space.id])
    return browser.get(address, query).content.decode()


def test_facts_by_kind_speaker_engine_and_day(browser: Client, world: ConsoleWorld) -> None:
    with tenant_scope(world.tenant.id):
        make_fact(
            world.space,
            "Rosa paints boats",
            kind="event",
            speaker="Rosa",
            engine="llm/2",
            asserted_at=MAY + timedelta(days=3),
        )
    narrowings = (
        {"kind": "event"},
        {"speaker": "Rosa"},
        {"engine": "llm/2"},
        {"from": "2026-05-15"},
        {"kind": "event", "to": "2026-05-15"},
    )
    for query in narrowings:
        page = get_tab(browser, world, "facts", **query)
        assert "Rosa paints boats" in page, query
        assert "I keep bees" not in page, query
        assert "1 fact</span>" in page, query
    assert "Rosa paints boats" not in get_tab(browser, world, "facts", to="2026-05-14")
    assert "2 facts</span>" in get_tab(browser, world, "facts", kind="nothing", engine="nothing")


def test_a_day_is_one_of_the_spaces_zone_and_a_wrong_one_is_left_out(
    browser: Client, world: ConsoleWorld
) -> None:
    with tenant_scope(world.tenant.id):
        Space.objects.filter(id=world.space.id).update(timezone="Pacific/Auckland")
        Fact.objects.update(asserted_at=MAY.replace(hour=13))
    assert "I keep bees" in get_tab(browser, world, "facts", **{"from": "2026-05-13"})
    assert "I keep bees" not in get_tab(browser, world, "facts", to="2026-05-12")
    for wrong in ("soon", "0001-01-01", "2026-02-31", "\0"):
        assert "I keep bees" in get_tab(browser, world, "facts", **{"from": wrong})


def test_notes_by_what_they_are_made_of_category_and_sight(
    browser: Client, world: ConsoleWorld
) -> None:
    with tenant_scope(world.tenant.id):
        make_note(world.space, "Of a fact", fact=world.fact, category="work")
        Note.objects.filter(fact=None).update(visibility="dormant")
    for query in ({"source": "fact"}, {"category": "work"}):
        page = get_tab(browser, world, "notes", **query)
        assert "Of a fact" in page
        assert "Bees in Ghent" not in page
    faded = get_tab(browser, world, "notes", show="dormant")
    assert "Of a fact" not in faded
    assert "Bees in Ghent" in faded
    assert "Bees in Ghent" in get_tab(browser, world, "notes", source="free")


def test_entities_by_type_and_episodes_by_engine(browser: Client, world: ConsoleWorld) -> None:
    with tenant_scope(world.tenant.id):
        Entity.objects.create(
            tenant=world.tenant, space=world.space, name="Rosa", canonical_key="r", type="person"
        )
        make_episode(world.space, "A day of boats.", engine="llm/2")
    people = get_tab(browser, world, "entities", type="person")
    assert "Rosa" in people
    assert "Ghent" not in people
    written = get_tab(browser, world, "episodes", engine="llm/2")
    assert "A day of boats." in written
    assert "Nora keeps bees." not in written


def test_turns_by_speaker_channel_and_state(browser: Client, world: ConsoleWorld) -> None:
    with tenant_scope(world.tenant.id):
        (turn,) = make_turns(world.space, "I paint boats.", at=MAY + timedelta(days=2))
        Session.objects.filter(id=turn.session_id).update(channel="phone")
        type(turn).objects.filter(id=turn.id).update(speaker="Rosa", state="failed")
    for query in ({"speaker": "Rosa"}, {"channel": "phone"}, {"state": "failed"}):
        page = get_tab(browser, world, "timeline", **query)
        assert "I paint boats." in page
        assert "1 turn</span>" in page


def test_silence_is_marked_where_nothing_was_sifted_out(
    browser: Client, world: ConsoleWorld
) -> None:
    with tenant_scope(world.tenant.id):
        make_turns(world.space, "I paint boats.", at=MAY + timedelta(days=3))
    assert "2 days of silence" in get_tab(browser, world, "timeline")
    assert "of silence" not in get_tab(browser, world, "timeline", q="a")


def test_the_timeline_marks_topics_and_the_days_digest(
    browser: Client, world: ConsoleWorld
) -> None:
    with tenant_scope(world.tenant.id):
        digest = make_episode(world.space, "Bees all day.", kind="day", day=MAY.date())
    page = get_tab(browser, world, "timeline")
    assert reverse("space-segment", args=[world.space.id, world.segment.id]) in page
    assert reverse("space-episode", args=[world.space.id, digest.id]) in page
    assert page.index("Bees all day.") < page.index("Listen, ")


def test_changes_by_kind_of_row_maker_state_and_day(browser: Client, world: ConsoleWorld) -> None:
    with tenant_scope(world.tenant.id):
        event = make_event(world.space, actor="rosa", reason="by rosa", kind="manual")
        later = make_event(
            world.space, reason="much later", created_at=MAY + timedelta(days=9), undo_of=event
        )
        keys = {"tenant_id": world.tenant.id, "space": world.space, "version_after": 1}
        Revision.objects.create(event=event, row_type="link", row_id=world.note.id, **keys)
    for query in ({"actor": "rosa"}, {"row": "link"}, {"state": "undone"}, {"kind": "manual"}):
        page = get_tab(browser, world, "history", **query)
        assert "by rosa" in page, query
        assert "much later" not in page, query
    assert "much later" in get_tab(browser, world, "history", **{"from": "2026-05-20"})
    assert "by rosa" not in get_tab(browser, world, "history", state="standing")
    assert later.undo_of_id == event.id


def test_a_row_whose_values_are_erased_leads_nowhere(browser: Client, world: ConsoleWorld) -> None:
    with tenant_scope(world.tenant.id):
        event = make_event(world.space, reason="what was there", kind="erase")
        keys = {"tenant_id": world.tenant.id, "space": world.space, "version_after": 1}
        gone = uuid4()
        Revision.objects.create(event=event, row_type="fact", row_id=gone, **keys)
    page = get_tab(browser, world, "history")
    assert str(gone) not in page
    assert f'href="{reverse("receipts")}">Receipts</a>' in page


def test_a_large_change_set_tells_its_first_rows_and_how_many_there_are(
    browser: Client, world: ConsoleWorld
) -> None:
    with tenant_scope(world.tenant.id):
        event = make_event(world.space, reason="a great deal")
        keys = {"tenant_id": world.tenant.id, "space": world.space, "version_after": 1}
        row = {"row_type": "note", "row_id": world.note.id, "after": {"content": "a word"}}
        Revision.objects.bulk_create(
            Revision(event=event, **row, **keys) for _ in range(MAX_EVENT_ROWS + 5)
        )
    own = browser.get(reverse("space-event", args=[world.space.id, event.id])).content.decode()
    assert f"{MAX_EVENT_ROWS + 5} rows" in own
    assert f"showing the first {MAX_EVENT_ROWS}" in own
    page = get_tab(browser, world, "history", q="a great deal")
    assert f"{MAX_EVENT_ROWS + 5} changes by the hub" in page
    assert f"and {MAX_EVENT_ROWS + 5 - 40} more</a>" in page


def test_traits_by_level_category_and_words(browser: Client, world: ConsoleWorld) -> None:
    with tenant_scope(world.tenant.id):
        make_trait(world.space, "openness", "high", rationale="asks a lot")
        make_trait(world.space, "music", "low", rationale="hums at times")
    low = get_tab(browser, world, "persona", level="low")
    assert "hums at times" in low
    assert "asks a lot" not in low
    assert "1 trait</span>" in low
    assert "hums at times" not in get_tab(browser, world, "persona", q="asks")
    assert "hums at times" in get_tab(browser, world, "persona", category="interests")
    assert "Nothing matches" in get_tab(browser, world, "persona", level="medium")


def test_blocks_by_kind_and_words(browser: Client, world: ConsoleWorld) -> None:
    assert "Keeps bees." in get_tab(browser, world, "blocks", q="bees")
    assert "Keeps bees." in get_tab(browser, world, "blocks", kind="own")
    assert "Nothing matches" in get_tab(browser, world, "blocks", kind="shared")


def test_spaces_by_activity_and_in_another_order(browser: Client, world: ConsoleWorld) -> None:
    with tenant_scope(world.tenant.id):
        quiet = make_space(world.tenant, "aaa-quiet")
        Space.objects.filter(id=world.space.id).update(last_activity_at=timezone.now())
    active = browser.get(reverse("spaces"), {"active": "7"}).content.decode()
    assert world.space.subject in active
    assert quiet.subject not in active
    for sort in ("turns", "facts", "notes", "new"):
        page = browser.get(reverse("spaces"), {"sort": sort}).content.decode()
        first = quiet.subject if sort == "new" else world.space.subject
        other = world.space.subject if sort == "new" else quiet.subject
        assert page.index(f">{first}</a>") < page.index(f">{other}</a>"), sort


def test_the_address_of_an_import_of_reports_leads_to_its_form(browser: Client) -> None:
    assert browser.get(reverse("lab-import")).headers["Location"] == reverse("lab")
