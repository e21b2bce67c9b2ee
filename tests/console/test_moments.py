"""A space as of an earlier moment: what was known then, and what was so then."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from memoryhub.console.frame.space.moments import format_moment, read_moment
from memoryhub.tenants.models import Membership
from memoryhub.tenants.scope import tenant_scope
from notes.history.change_set import ChangeSet, serialize_row
from notes.models import EvolutionEvent, SegmentPage
from personas.blocks import BlockWriter, rethink_block
from tests.console.conftest import ConsoleWorld
from tests.support.factories import (
    MAY,
    make_entity,
    make_episode,
    make_fact,
    make_member,
    make_note,
    make_segment,
    make_tenant,
    make_trait,
    make_turns,
)

JUNE = MAY + timedelta(days=30)
JULY = MAY + timedelta(days=60)


def record_change(row: Any, at: datetime, **values: Any) -> EvolutionEvent:
    """The row as it is, or with other values, written into the history at this time."""
    changes = ChangeSet(row.space, EvolutionEvent.Kind.RESOLVE, "pipeline", at)
    if values:
        before = serialize_row(row)
        for name, value in values.items():
            setattr(row, name, value)
        row.version += 1
        row.save()
        changes.record_change(row, before)
    else:
        changes.record_creation(row, [])
    changes.save()
    return changes.event


@pytest.fixture
def told(world: ConsoleWorld) -> ConsoleWorld:
    """The world's memories in the history of May, another wording of its fact in July."""
    with tenant_scope(world.tenant.id):
        for row in (world.fact, world.note, world.segment, world.episode):
            record_change(row, MAY)
        record_change(world.fact, JULY, text="I keep bees in Bruges")
    return world


def get_page(
    browser: Client, world: ConsoleWorld, name: str, at: datetime | None = None, **query: str
) -> str:
    asked = ({"as_of": format_moment(at)} if at else {}) | query
    return browser.get(reverse(f"space-{name}", args=[world.space.id]), asked).content.decode()


def test_facts_are_shown_as_they_were_known_then(browser: Client, told: ConsoleWorld) -> None:
    then, now = get_page(browser, told, "facts", JUNE), get_page(browser, told, "facts")
    assert "I keep bees in Ghent</a>" in then
    assert "Bruges" not in then
    assert "I keep bees in Bruges</a>" in now
    assert "As of <time" in then
    assert "As of <time" not in now


def test_what_came_later_is_not_there_yet(browser: Client, told: ConsoleWorld) -> None:
    with tenant_scope(told.tenant.id):
        later = (
            make_fact(told.space, "I sell honey"),
            make_note(told.space, "Honey is sold"),
            make_segment(told.space, "Selling honey"),
            make_episode(told.space, "Honey sold.", title="Honey"),
            make_entity(told.space, "Honeymarket"),
        )
        for row in later:
            record_change(row, JULY)
    for name in ("facts", "notes", "segments", "episodes", "entities"):
        assert "oney" not in get_page(browser, told, name, JUNE)
        assert "oney" in get_page(browser, told, name, JULY)


def test_what_was_taken_out_is_there_before_and_gone_after(
    browser: Client, told: ConsoleWorld
) -> None:
    with tenant_scope(told.tenant.id):
        record_change(told.note, JULY, retired_at=JULY)
    assert "Bees in Ghent" in get_page(browser, told, "notes", JUNE)
    assert "Bees in Ghent" not in get_page(browser, told, "notes", JULY)


def test_a_fact_that_ended_was_current_before_its_end_was_known(
    browser: Client, told: ConsoleWorld
) -> None:
    """On both clocks: known in June, it holds; by what is known today, it had ended."""
    with tenant_scope(told.tenant.id):
        record_change(told.fact, JULY, status="superseded", valid_to=MAY + timedelta(days=10))
    assert "I keep bees" in get_page(browser, told, "facts", JUNE)
    assert "I keep bees" not in get_page(browser, told, "facts", JUNE, known="now")
    assert "I keep bees" in get_page(browser, told, "facts", MAY + timedelta(days=5), known="now")


def test_the_past_is_searched_and_filtered_by_what_it_said(
    browser: Client, told: ConsoleWorld
) -> None:
    assert "I keep bees" in get_page(browser, told, "facts", JUNE, q="ghent")
    assert "I keep bees" not in get_page(browser, told, "facts", JUNE, q="bruges")
    assert "Bees in Ghent" in get_page(browser, told, "notes", JUNE, tag="hobby")
    assert "Nothing matches" in get_page(browser, told, "notes", JUNE, source="fact")
    assert "Bees in Ghent" in get_page(browser, told, "notes", JUNE, q="BEES hobby")
    assert "Nothing matches" in get_page(browser, told, "facts", JUNE, **{"from": "2026-05-13"})
    assert "I keep bees" in get_page(browser, told, "facts", JUNE, **{"from": "2026-05-12"})


def test_pages_of_the_past_have_totals_and_keep_the_moment(
    browser: Client, told: ConsoleWorld
) -> None:
    with tenant_scope(told.tenant.id):
        for number in range(30):
            record_change(make_fact(told.space, f"hive {number}"), MAY)
    page = get_page(browser, told, "facts", JUNE, q="hive")
    assert "1 to 25 of 30" in page
    asked = format_moment(JUNE).replace(":", "%3A")
    assert f"as_of={asked}&amp;q=hive&amp;page=2" in page
    assert "26 to 30 of 30" in get_page(browser, told, "facts", JUNE, q="hive", page="2")


def test_the_moment_goes_along_to_other_tabs_and_filters(
    browser: Client, told: ConsoleWorld
) -> None:
    page = get_page(browser, told, "facts", JUNE)
    asked = format_moment(JUNE).replace(":", "%3A")
    assert f'{reverse("space-notes", args=[told.space.id])}?as_of={asked}"' in page
    assert f'<input type="hidden" name="as_of" value="{format_moment(JUNE)}">' in page
    assert f"{reverse('space-search', args=[told.space.id])}?as_of=2026-06-11" in page


def test_nothing_can_be_changed_in_the_past(browser: Client, told: ConsoleWorld) -> None:
    """By its admin, who may do all of it now."""
    actions = {
        "timeline": ("Erase", ">Test question<"),
        "persona": ("Set a trait", "Enter manually"),
        "blocks": ("New block",),
        "history": (">Undo<", "Go back to an earlier time", "Erase for good…"),
    }
    just = timezone.now() - timedelta(seconds=1)
    for name, offered in actions.items():
        now, then = get_page(browser, told, name), get_page(browser, told, name, just)
        for action in offered:
            assert action in now, (name, action)
            assert action not in then, (name, action)


def test_what_cannot_be_rewound_says_so(browser: Client, told: ConsoleWorld) -> None:
    for name in ("graph", "review", "golden", "policy", "map"):
        assert "This page shows the space as it is now" in get_page(browser, told, name, JUNE), name
    assert "Entities have no dates of their own" in get_page(
        browser, told, "entities", JUNE, known="now"
    )
    assert "Heat is only known for the present" in get_page(browser, told, "segments", JUNE)


def test_the_timeline_shows_what_had_been_received_and_made_by_then(
    browser: Client, told: ConsoleWorld
) -> None:
    with tenant_scope(told.tenant.id):
        EvolutionEvent.objects.update(created_at=MAY)
        (late,) = make_turns(told.space, "I bought a third hive.", at=JULY)
        make_fact(told.space, "a third hive", late)
        SegmentPage.objects.update(added_at=MAY)
    then = get_page(browser, told, "timeline", JUNE)
    assert "Listen, " in then
    assert "I keep bees in Bruges" in then  # the wording of July, moved to May above
    assert "third hive" not in then
    assert "Keeping bees" in then
    assert "third hive" in get_page(browser, told, "timeline", JULY)


def test_traits_profile_and_blocks_of_then(browser: Client, told: ConsoleWorld) -> None:
    with tenant_scope(told.tenant.id):
        trait = make_trait(told.space, "openness", "high", rationale="asks a lot")
        record_change(trait, MAY)
        record_change(trait, JULY, rationale="asks everything")
        rethink_block(BlockWriter("ida", "person", JULY, told.space), told.block.id, "Keeps wasps.")
    assert "asks a lot" in get_page(browser, told, "persona", JUNE)
    assert "asks everything" in get_page(browser, told, "persona")
    assert "Keeps bees." in get_page(browser, told, "blocks", JUNE)
    assert "Keeps wasps." in get_page(browser, told, "blocks", JULY)
    assert "Nothing matches" in get_page(browser, told, "blocks", MAY - timedelta(days=1))


def test_a_moment_that_cannot_be_read_is_named_and_one_to_come_is_now(
    browser: Client, told: ConsoleWorld
) -> None:
    for wrong in ("yesterday", "2026-13-45", "1-1-1", "<b>", "9" * 500):
        page = get_page(browser, told, "facts", as_of=wrong)
        assert "is not a valid time" in page
        assert "I keep bees in Bruges" in page
    assert "As of <time" not in get_page(browser, told, "facts", as_of="2199-01-01")
    assert (
        browser.get(
            reverse("space-facts", args=[told.space.id]), {"as_of": "2026-05-12\0"}
        ).status_code
        == 200
    )


def test_a_day_alone_means_its_end_in_the_spaces_zone(world: ConsoleWorld) -> None:
    world.space.timezone = "Asia/Tokyo"
    moment = read_moment({"as_of": "2026-05-12"}, world.space, timezone.now())
    assert moment.at.isoformat().startswith("2026-05-12T23:59:59")
    assert moment.at.utcoffset() == timedelta(hours=9)


def test_the_address_of_a_change_shows_the_change(world: ConsoleWorld) -> None:
    at = MAY.replace(microsecond=123_456)
    moment = read_moment({"as_of": format_moment(at)}, world.space, timezone.now())
    assert at <= moment.at < at + timedelta(milliseconds=1)


def test_the_slider_has_marks_and_steps_from_change_to_change(
    browser: Client, told: ConsoleWorld
) -> None:
    page = get_page(browser, told, "facts", JUNE)
    assert '<input class="only-script" type="range"' in page
    assert page.count('<rect x="') >= 2
    later = format_moment(JULY).replace(":", "%3A")
    assert f"as_of={later}" in page
    said = get_page(browser, told, "facts", JUNE, known="now")
    assert "messages</span>" in said


def test_what_was_erased_since_is_missing_from_the_past(
    browser: Client, told: ConsoleWorld
) -> None:
    with tenant_scope(told.tenant.id):
        changes = ChangeSet(told.space, EvolutionEvent.Kind.ERASE, "ida", JULY)
        changes.record_erasure(told.note)
        told.note.delete()
        changes.save()
    assert "Bees in Ghent" not in get_page(browser, told, "notes", JULY)


def test_a_viewer_sees_the_past_and_a_stranger_nothing(client: Client, told: ConsoleWorld) -> None:
    client.force_login(make_member(told.tenant, Membership.Role.VIEWER))
    assert "I keep bees in Ghent" in get_page(client, told, "facts", JUNE)
    address = reverse("space-facts", args=[told.space.id])
    client.logout()
    client.force_login(make_member(make_tenant()))
    assert client.get(address, {"as_of": format_moment(JUNE)}).status_code == 404


def test_what_was_then_is_escaped(browser: Client, told: ConsoleWorld) -> None:
    with tenant_scope(told.tenant.id):
        record_change(make_fact(told.space, "<script>alert(1)</script>"), MAY)
    page = get_page(browser, told, "facts", JUNE, q="<script>")
    assert "<script>alert" not in page
    assert "&lt;script&gt;alert(1)" in page
