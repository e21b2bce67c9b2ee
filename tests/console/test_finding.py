"""What the palette finds: who is named by the words typed, and what is remembered of them."""

from __future__ import annotations

from typing import NamedTuple

import pytest

from memoryhub.console.pages.finding.find import Finding, find_people_and_memories
from memoryhub.tenants.models import Space
from memoryhub.tenants.scope import tenant_scope
from notes.index import indexer
from tests.console.conftest import ConsoleWorld
from tests.support.factories import make_entity, make_fact, make_space


class People(NamedTuple):
    world: ConsoleWorld
    ana: Space
    ben: Space

    def find(self, asked: str, here: Space | None = None) -> Finding:
        return find_people_and_memories(self.world.tenant, asked, here.id if here else None)


def remember(space: Space, *texts: str) -> None:
    entries = indexer.build_fact_entries([make_fact(space, text) for text in texts])
    indexer.write_entries(space, space.embedding_model, entries, None)


@pytest.fixture
def people(world: ConsoleWorld) -> People:
    """Ana, who speaks of Rita, and Ben. They have spaces, Rita has none."""
    with tenant_scope(world.tenant.id):
        ana, ben = make_space(world.tenant, "ana-1"), make_space(world.tenant, "ben-1")
        Space.objects.filter(id=ana.id).update(name="Ana Lee")
        make_entity(ana, "Rita", type="person")
        remember(ana, "Rita is a nurse at the hospital.", "Ana went to Lisbon in May.")
        remember(ben, "Ben works as a teacher.")
    return People(world, ana, ben)


@pytest.mark.parametrize(
    "asked", ["ana", "Ana's job?", "an", "ana l", "Lee", "what does Ana Lee do", "ana-1"]
)
def test_a_space_is_named_by_a_whole_word_or_by_the_beginning_typed(
    people: People, asked: str
) -> None:
    assert people.find(asked).spaces == [people.ana]


@pytest.mark.parametrize("asked", ["who plays a guitar", "who has an answer", "a", "x"])
def test_a_letter_or_a_beginning_within_a_question_names_nobody(people: People, asked: str) -> None:
    found = people.find(asked, people.ben)
    assert (list(found.spaces), list(found.entities)) == ([], [])


def test_who_has_no_space_is_looked_for_where_they_are_spoken_of(people: People) -> None:
    for here in (None, people.ben):
        found = people.find("Rita job", here)
        assert [entity.name for entity in found.entities] == ["Rita"]
        texts = [each.item.text for each in found.memories]
        assert texts == ["Rita is a nurse at the hospital."]


def test_a_named_space_is_searched_for_the_rest_of_the_words(people: People) -> None:
    found = people.find("Ben teacher", people.ana)
    assert found.spaces == [people.ben]
    assert [each.item.text for each in found.memories] == ["Ben works as a teacher."]
