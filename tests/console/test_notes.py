"""A note's page: what it is linked with, and what it learnt; the notes' filters."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from memoryhub.tenants.scope import tenant_scope
from notes.models import Derivation, Link, Note, Revision
from tests.console.conftest import ConsoleWorld
from tests.support.factories import MAY, make_event, make_link, make_note


@pytest.fixture
def hives(world: ConsoleWorld) -> Note:
    """Another note of the world, linked with its first."""
    with tenant_scope(world.tenant.id):
        note = make_note(world.space, "Two hives by the mill", tags=["honey", "hobby"])
        link = make_link(note, world.note, kind="elaborates", reason="both on bees")
        event = make_event(world.space, kind="evolve", actor="pipeline", reason="linked them")
        make_revision(event, link, None, {"kind": "elaborates"})
    return note


def make_revision(event: Any, row: Any, before: Any, after: Any) -> None:
    Revision.objects.create(
        tenant_id=event.tenant_id,
        space_id=event.space_id,
        event=event,
        row_type=type(row).__name__.lower(),
        row_id=row.id,
        version_before=None if before is None else 1,
        version_after=1 if before is None else 2,
        before=before,
        after=after,
    )


def get_note_page(browser: Client, world: ConsoleWorld, note: Note) -> str:
    return browser.get(reverse("space-note", args=[world.space.id, note.id])).content.decode()


def list_notes(browser: Client, world: ConsoleWorld, query: str) -> list[str]:
    answer = browser.get(reverse("space-notes", args=[world.space.id]) + query)
    return [note.content for note, _ in answer.context["page"]]


def test_both_notes_of_a_link_show_it_with_its_reason_and_its_cause(
    browser: Client, world: ConsoleWorld, hives: Note
) -> None:
    for note, other in ((world.note, hives), (hives, world.note)):
        shown = get_note_page(browser, world, note)
        assert reverse("space-note", args=[world.space.id, other.id]) in shown
        for words in ("Elaborates", "both on bees", "by the hub"):
            assert words in shown
        # The event may tell of many links: what it says is on its own page.
        assert "by the hub: linked them" not in shown


def test_a_note_without_links_says_what_would_make_one(
    browser: Client, world: ConsoleWorld
) -> None:
    assert "No links yet" in get_note_page(browser, world, world.note)


def test_a_note_with_links_never_says_that_nothing_is_related(
    browser: Client, world: ConsoleWorld
) -> None:
    with tenant_scope(world.tenant.id):
        note, other = (make_note(world.space, text) for text in ("Wax", "Candles"))
    assert "Nothing related yet." in get_note_page(browser, world, note)
    with tenant_scope(world.tenant.id):
        make_link(note, other)
    shown = get_note_page(browser, world, note)
    assert "Candles" in shown
    assert "Nothing related yet." not in shown


@pytest.mark.parametrize("ended", ["link", "note"])
def test_what_was_withdrawn_is_no_link(
    browser: Client, world: ConsoleWorld, hives: Note, ended: str
) -> None:
    with tenant_scope(world.tenant.id):
        if ended == "link":
            Link.objects.update(active=False)
        else:
            Note.objects.filter(id=hives.id).update(retired_at=MAY)
    assert "both on bees" not in get_note_page(browser, world, world.note)


def test_AM8_evolution_shows_before_after_and_the_note_it_came_from(
    browser: Client, world: ConsoleWorld, hives: Note
) -> None:
    with tenant_scope(world.tenant.id):
        event = make_event(world.space, kind="evolve", reason="a new note taught it")
        make_revision(event, world.note, {"tags": ["hobby"]}, {"tags": ["hobby", "honey"]})
        Derivation.objects.create(
            tenant_id=world.tenant.id,
            space=world.space,
            child_type="note",
            child_id=world.note.id,
            child_version=2,
            turn=world.turn,
            role="context",
            via_type="note",
            via_id=hives.id,
            event=event,
        )
    shown = get_note_page(browser, world, world.note)
    assert "a new note taught it" in shown
    assert "hobby, <ins>honey</ins>" in shown
    # Linked with it, in the picture of its links, and learnt from, in the strip and the history.
    assert shown.count("Two hives by the mill") == 4


def test_notes_are_filtered_by_tag_and_by_what_they_wait_for(
    browser: Client, world: ConsoleWorld, hives: Note
) -> None:
    with tenant_scope(world.tenant.id):
        make_note(world.space, "Nobody has read this", enrichment="pending", author="aide")
        make_note(world.space, "Gone", tags=["gone"], retired_at=MAY)
    both = ["Two hives by the mill", "Bees in Ghent"]
    assert list_notes(browser, world, "?tag=honey") == both[:1]
    assert sorted(list_notes(browser, world, "?tag=hobby")) == sorted(both)
    assert list_notes(browser, world, "?show=pending") == ["Nobody has read this"]
    assert sorted(list_notes(browser, world, "?show=linked")) == sorted(both)
    assert len(list_notes(browser, world, "?tag=gone")) == 3  # no such tag: any
    assert (
        "not yet described"
        in browser.get(reverse("space-notes", args=[world.space.id])).content.decode()
    )


def test_an_agents_own_note_says_who_kept_it(browser: Client, world: ConsoleWorld) -> None:
    with tenant_scope(world.tenant.id):
        note = make_note(world.space, "The door code is new", context="A code.", author="aide")
    shown = get_note_page(browser, world, note)
    assert "kept by aide" in shown
    assert "The door code is new" in shown
