"""The map of notes with and without evolution: made of the history, drawn with the map."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from memoryhub.errors import EngineError
from memoryhub.pipeline.embeddings import embedding_map
from memoryhub.pipeline.embeddings.evolution_map import EvolvedNotes, draw_evolution_map
from memoryhub.pipeline.erasure.erase_targets import ErasureTarget, execute_erasure
from memoryhub.pipeline.models import SpaceMap
from memoryhub.tenants.scope import hub_scope, tenant_scope
from notes.links.evolve import load_unevolved_notes
from notes.models import Derivation, Note
from tests.support.factories import make_member
from tests.support.hand_writer import HandWriter
from tests.support.hub import ScriptedHub

pytestmark = pytest.mark.django_db


@pytest.fixture
def writer(hub: ScriptedHub) -> Iterator[HandWriter]:
    with tenant_scope(hub.tenant.id):
        yield HandWriter(hub)


@pytest.fixture
def notes(hub: ScriptedHub, writer: HandWriter) -> list[Note]:
    """Six, of which the first learnt from the second, twice."""
    made = [writer.add_note(f"hive {name}") for name in "abcdef"]
    hub.embedder.table |= {"bees": [0.0, 0.0, 1.0], "wax": [0.0, 1.0]}
    writer.evolve_note(made[0], "bees", link=made[1])
    writer.evolve_note(made[0], "wax")
    return made


def draw_map(hub: ScriptedHub) -> SpaceMap:
    with tenant_scope(hub.tenant.id):
        embedding_map.begin_map(hub.space, "ida", hub.now)
    hub.run_due_jobs()
    with tenant_scope(hub.tenant.id):
        found: SpaceMap = SpaceMap.objects.get()
    return found


def open_page(client: Client, hub: ScriptedHub, **query: str) -> str:
    where = reverse("space-map-evolution", args=[hub.space.id])
    with hub_scope():  # as a request begins
        client.force_login(make_member(hub.tenant))
        return client.get(where, query).content.decode()


def find_path(name: str, panel: str) -> str:
    found = re.search(rf'class="{name}" d="([^"]*)"', panel)
    assert found is not None
    return found[1]


def test_notes_are_told_as_they_were_before_they_learnt_anything(
    hub: ScriptedHub, notes: list[Note]
) -> None:
    (before,) = load_unevolved_notes(hub.space)
    assert before.id == notes[0].id
    assert before.keywords == []
    assert Note.objects.get(id=before.id).keywords == ["bees", "wax"]


def test_what_a_person_put_right_did_not_evolve(hub: ScriptedHub, notes: list[Note]) -> None:
    Note.objects.filter(id=notes[0].id).update(corrected_by="ida")
    assert load_unevolved_notes(hub.space) == []


def test_what_is_as_before_again_did_not_evolve(hub: ScriptedHub, notes: list[Note]) -> None:
    Note.objects.filter(id=notes[0].id).update(keywords=[])
    assert load_unevolved_notes(hub.space) == []


def test_only_what_learnt_something_is_marked_and_all_have_two_places(
    hub: ScriptedHub, notes: list[Note]
) -> None:
    row = draw_map(hub)
    marked = {note: evolved for note, evolved, *_ in row.evolution["notes"]}
    assert marked == {str(note.id): note == notes[0] for note in notes}
    places = [place for _, _, *place in row.evolution["notes"]]
    assert all(len(place) == 4 and max(map(abs, place)) <= 1 for place in places)
    assert row.done == row.total


def test_it_tells_how_alike_notes_are_without_and_with(hub: ScriptedHub, notes: list[Note]) -> None:
    """It was alike its neighbours until it learnt words that none of them has."""
    row = draw_map(hub)
    for without, with_it in (row.evolution["linked"], row.evolution["any"]):
        assert 1 >= without > with_it > 0


def test_where_no_note_evolved_there_is_no_second_map(
    client: Client, hub: ScriptedHub, writer: HandWriter
) -> None:
    writer.add_note("hive a")
    assert draw_map(hub).evolution == {}
    assert "No note has evolved yet" in open_page(client, hub)


def test_while_the_embedder_is_down_the_map_is_drawn_without(
    hub: ScriptedHub, notes: list[Note], monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(texts: Any) -> Any:
        raise EngineError("the embedder is down")

    monkeypatch.setattr(hub.embedder, "embed", refuse)
    row = draw_map(hub)
    assert len(row.points) == len(notes)
    assert row.evolution == {}


def test_without_the_embedder_of_the_space_nothing_is_compared() -> None:
    told: list[int] = []
    assert draw_evolution_map(EvolvedNotes(), told.append) == {}
    assert told == []


def test_what_is_erased_leaves_this_map_too(hub: ScriptedHub, notes: list[Note]) -> None:
    draw_map(hub)
    source = Derivation.objects.filter(child_type="note", child_id=notes[0].id).first()
    assert source is not None
    execute_erasure(hub.space, ErasureTarget("turns", (source.turn_id,)), "ida", hub.now)
    held = {note for note, *_ in SpaceMap.objects.get().evolution["notes"]}
    assert str(notes[0].id) not in held
    assert str(notes[5].id) in held


def test_the_page_shows_both_states_and_what_changed(
    client: Client, hub: ScriptedHub, notes: list[Note]
) -> None:
    draw_map(hub)
    page = open_page(client, hub)
    without, with_it = re.findall(r"<figure.*?</figure>", page, re.DOTALL)
    assert without.count('class="was"') == with_it.count('class="evolved"') == 1
    assert with_it.count('class="moved"') == 1
    assert find_path("still", without).count("M") == find_path("still", with_it).count("M") == 5
    assert find_path("links", without).count("L") == find_path("links", with_it).count("L") == 1
    assert "6 notes, 1 of which evolved, and 1 link." in page
    assert "bees" in page
    assert reverse("space-note", args=[hub.space.id, notes[0].id]) in page
    assert "Nothing matches" in open_page(client, hub, q="elephants")


def test_without_a_map_it_says_how_to_have_one(
    client: Client, hub: ScriptedHub, notes: list[Note]
) -> None:
    page = open_page(client, hub)
    assert "No map yet" in page
    assert "Create map" in page
