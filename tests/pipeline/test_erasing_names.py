"""What an entity was called only in an erased turn goes with it, though the entity stays (I12)."""

from __future__ import annotations

import pytest

from memoryhub.dialogues.models import Turn
from memoryhub.pipeline.erasure import erase_targets
from memoryhub.pipeline.erasure.erase_targets import ErasureTarget
from memoryhub.tenants.scope import tenant_scope
from notes.models import Entity, Fact, IndexEntry, Relation
from tests.support.claims import make_home_reply, say_and_derive
from tests.support.database_scan import find_tables_with_word
from tests.support.hub import ScriptedHub


@pytest.fixture
def friends(hub: ScriptedHub) -> ScriptedHub:
    """Two names that are one person's: nobody can tell from the words alone."""
    hub.set_policy("mem0g", episodes__rolling=False)
    hub.model.allow("resolve")
    hub.embedder.table |= {"Robert Hall": [1.0], "Bobzilla Hall": [0.99, 0.14]}
    return hub


def speak_of(hub: ScriptedHub, name: str, city: str) -> None:
    parts = {
        "entities": [{"name": name, "type": "person"}, {"name": city, "type": "place"}],
        "relations": [{"source": name, "label": "lives_in", "target": city, "fact": 0}],
    }
    say_and_derive(hub, f"{name} lives in {city}.", make_home_reply(city, owner=name), parts=parts)


def erase_turn(hub: ScriptedHub, words: str) -> None:
    with tenant_scope(hub.tenant.id):
        turn = Turn.objects.get(text__contains=words)
    erase_targets.execute_erasure(hub.space, ErasureTarget("turns", (turn.id,)), "eva", hub.now)
    hub.run_due_jobs()


def list_people(hub: ScriptedHub) -> list[tuple[str, list[str]]]:
    with tenant_scope(hub.tenant.id):
        rows = Entity.objects.filter(type="person", merged_into=None, retired_at=None)
        return [(row.name, row.aliases) for row in rows]


def test_an_alias_heard_only_in_an_erased_turn_goes(friends: ScriptedHub) -> None:
    speak_of(friends, "Robert Hall", "Braga")
    speak_of(friends, "Bobzilla Hall", "Faro")
    assert list_people(friends) == [("Robert Hall", ["Bobzilla Hall"])]
    erase_turn(friends, "Bobzilla")
    assert list_people(friends) == [("Robert Hall", [])]
    with tenant_scope(friends.tenant.id):
        assert find_tables_with_word("Bobzilla") == []
        entity = Entity.objects.get(name="Robert Hall")
        entry = IndexEntry.objects.get(kind="entity", owner_id=entity.id)
        assert entry.embedding is not None


def test_a_display_name_heard_only_in_an_erased_turn_gives_way_to_one_that_remains(
    friends: ScriptedHub,
) -> None:
    speak_of(friends, "Bobzilla Hall", "Faro")
    speak_of(friends, "Robert Hall", "Braga")
    assert list_people(friends) == [("Bobzilla Hall", ["Robert Hall"])]
    erase_turn(friends, "Bobzilla")
    assert list_people(friends) == [("Robert Hall", [])]
    with tenant_scope(friends.tenant.id):
        assert find_tables_with_word("Bobzilla") == []
        assert Fact.objects.get().text == "Robert Hall lives in Braga."
        assert Relation.objects.get().dst.name == "Braga"


def test_a_name_that_another_turn_says_too_stays(friends: ScriptedHub) -> None:
    speak_of(friends, "Robert Hall", "Braga")
    speak_of(friends, "Bobzilla Hall", "Faro")
    friends.model.script("extract_facts", {"facts": []})
    friends.say("Everybody calls him Bobzilla.")
    friends.run_due_jobs()
    erase_turn(friends, "Faro")
    assert list_people(friends) == [("Robert Hall", ["Bobzilla Hall"])]
