"""Mem0g's checks (spec §15.6): entities and relations as projections of facts."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from memoryhub.recall.context import context
from memoryhub.tenants.scope import tenant_scope
from notes.merging import family
from notes.models import Derivation, Entity, EvolutionEvent, IndexEntry, Relation, Revision
from notes.undoing import undo
from tests.support.claims import current, fact, facts, lives, on, proposals, told
from tests.support.hub import Hub

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def only_claims(hub: Hub) -> None:
    hub.policy("mem0g", episodes__rolling=False)


def names(*found: str, kind: str = "person") -> list[dict[str, str]]:
    return [{"name": name, "type": kind} for name in found]


def edge(src: str, label: str, dst: str, number: int = 0) -> dict[str, Any]:
    return {"source": src, "label": label, "target": dst, "fact": number}


def at_home(hub: Hub, city: str, text: str = "") -> None:
    """Alice's home, told by Ana."""
    entities = [*names("Alice"), *names(city, kind="place")]
    parts = {"entities": entities, "relations": [edge("Alice", "lives_in", city)]}
    home = lives(city, owner="Alice")
    told(hub, text or f"Alice lives in {city}.", home, parts=parts)


def relations(hub: Hub) -> list[Relation]:
    with tenant_scope(hub.tenant.id):
        rows = Relation.objects.select_related("fact", "src", "dst")
        return list(rows.order_by("fact__valid_from"))


def by_graph(hub: Hub, question: str, **options: Any) -> list[str]:
    """Facts that a context takes from the graph alone."""
    hub.policy("mem0g", episodes__rolling=False, recall__channels=["graph"])
    made = context(hub.space, question, now=hub.now, reinforce=False, **options)
    hub.policy("mem0g", episodes__rolling=False)
    return [item.text for item in made.items("facts")]


def test_GR1_a_fact_gives_two_entities_and_one_relation(hub: Hub) -> None:
    at_home(hub, "Lisbon")
    (relation,) = relations(hub)
    assert (relation.src.name, relation.label, relation.dst.name) == ("Alice", "lives_in", "Lisbon")
    assert relation.fact.text == "Alice lives in Lisbon."
    with tenant_scope(hub.tenant.id):
        assert {(e.name, e.type) for e in Entity.objects.all()} == {
            ("Alice", "person"),
            ("Lisbon", "place"),
        }
        kinds = set(IndexEntry.objects.values_list("kind", flat=True))
        assert {"entity", "relation"} <= kinds
        for row in (relation, relation.src, relation.dst):
            kind = row._meta.model_name
            assert Derivation.objects.filter(child_type=kind, child_id=row.id).exists()
            assert Revision.objects.filter(
                row_type=kind, row_id=row.id, before__isnull=True
            ).exists()


def test_GR2_moving_closes_one_relation_and_opens_another(hub: Hub) -> None:
    at_home(hub, "Lisbon")
    hub.pass_time(days=30)
    at_home(hub, "Porto", "Alice moved to Porto.")
    lisbon, porto = relations(hub)
    assert (lisbon.fact.valid_to, porto.fact.valid_to) == (porto.fact.valid_from, None)
    with tenant_scope(hub.tenant.id):
        alice = Entity.objects.get(name="Alice")
    assert (alice.mention_count, alice.version) == (2, 2)
    assert by_graph(hub, "Where does Alice live?") == ["Alice lives in Porto."]
    earlier = porto.fact.valid_from - timedelta(days=1)
    then = by_graph(hub, "Where does Alice live?", as_of=earlier)
    assert then == ["Alice lives in Lisbon."]


def test_GR3_many_values_never_contradict_whatever_the_model_says(hub: Hub) -> None:
    loves = {"owner": "Alice", "verb": "loves", "predicate": "loves", "kind": "preference"}
    told(hub, "Alice loves pizza.", fact("Alice loves pizza.", object="pizza", **loves))
    hub.model.script("resolve", on("Alice loves pizza.", "contradict"))
    told(hub, "Alice loves burgers.", fact("Alice loves burgers.", object="burgers", **loves))
    assert current(hub) == ["Alice loves pizza.", "Alice loves burgers."]


def test_GR4_moving_back_is_a_third_interval(hub: Hub) -> None:
    for city in ("Lisbon", "Porto", "Lisbon"):
        at_home(hub, city, f"Alice is in {city} now.")
        hub.pass_time(days=30)
    first, second, third = facts(hub)
    assert (first.valid_to, second.valid_to) == (second.valid_from, third.valid_from)
    assert third.valid_to is None
    assert [r.dst.name for r in relations(hub)] == ["Lisbon", "Porto", "Lisbon"]


NAMES = {
    "Robert Hall": [1.0],
    "R. Hall": [0.97, 0.2431],
    "Rob Hill": [0.8, 0.6],
    "Bo": [0.5, 0.0, 0.866],
}


def speak_of(hub: Hub, name: str) -> None:
    hub.embedder.table |= NAMES
    entities = [*names(name), *names("Braga", kind="place")]
    parts = {"entities": entities, "relations": [edge(name, "lives_in", "Braga")]}
    told(hub, f"{name} lives in Braga.", lives("Braga", owner=name), parts=parts)


def entity(hub: Hub, name: str) -> Entity:
    with tenant_scope(hub.tenant.id):
        return Entity.objects.select_related("merged_into").get(name=name)


def test_GR5_names_are_merged_asked_about_or_kept_apart(hub: Hub) -> None:
    speak_of(hub, "Robert Hall")
    speak_of(hub, "R. Hall")
    assert entity(hub, "R. Hall").merged_into == entity(hub, "Robert Hall")
    assert entity(hub, "Robert Hall").aliases == ["R. Hall"]
    hub.model.script("merge_check", {"decisions": [{"pair": "p1", "same": False}]})
    speak_of(hub, "Rob Hill")
    (asked,) = hub.model.calls("merge_check")
    assert asked["pairs"][0]["names"] == ["Rob Hill", "Robert Hall"]
    assert entity(hub, "Rob Hill").merged_into is None
    speak_of(hub, "Bo")
    assert entity(hub, "Bo").merged_into is None
    assert len(hub.model.calls("merge_check")) == 1


def test_GR5_what_nobody_can_tell_is_put_before_a_person(hub: Hub) -> None:
    speak_of(hub, "Robert Hall")
    hub.model.allow("merge_check")
    speak_of(hub, "Rob Hill")
    (asked,) = proposals(hub)
    assert (asked.kind, asked.payload["cosine"]) == ("merge", 0.8)
    assert asked.payload["into"] == str(entity(hub, "Robert Hall").id)


def test_GR5_R3_a_merge_can_be_undone(hub: Hub) -> None:
    speak_of(hub, "Robert Hall")
    speak_of(hub, "R. Hall")
    one = {entity(hub, "R. Hall").id, entity(hub, "Robert Hall").id}
    with tenant_scope(hub.tenant.id):
        assert family(hub.space, [entity(hub, "Robert Hall").id]) == one
        merge = EvolutionEvent.objects.get(kind="merge")
        undo(merge, "test", now=hub.now)
        assert family(hub.space, [entity(hub, "Robert Hall").id]) < one
    assert entity(hub, "R. Hall").merged_into is None
    assert entity(hub, "Robert Hall").aliases == []


def test_GR5_numbers_make_names_two(hub: Hub) -> None:
    hub.model.allow("resolve")
    hub.embedder.table |= {"Room 101": [1.0], "Room 102": [0.99, 0.14]}
    for room in ("Room 101", "Room 102"):
        entities = [*names("Alice"), *names(room, kind="place")]
        parts = {"entities": entities, "relations": [edge("Alice", "works_in", room)]}
        told(hub, f"Alice is in {room}.", fact(f"Alice is in {room}.", owner="Alice"), parts=parts)
    assert entity(hub, "Room 102").merged_into is None


def test_GR6_a_relation_to_what_is_no_entity_is_dropped_alone(hub: Hub) -> None:
    parts = {
        "entities": [*names("Alice"), *names("Lisbon", kind="place")],
        "relations": [edge("Alice", "likes", "Fado"), edge("Alice", "lives_in", "Lisbon")],
    }
    told(hub, "Alice lives in Lisbon.", lives("Lisbon", owner="Alice"), parts=parts)
    assert [relation.label for relation in relations(hub)] == ["lives_in"]


def test_separate_calls_read_facts_entities_and_relations_one_by_one(hub: Hub) -> None:
    hub.policy("mem0g", episodes__rolling=False, llm__combine_calls=False)
    hub.model.script("extract_facts", {"facts": [lives("Lisbon", owner="Alice")]})
    hub.model.script(
        "graph_entities", {"entities": [*names("Alice"), *names("Lisbon", kind="place")]}
    )
    hub.model.script("graph_relations", {"relations": [edge("Alice", "lives_in", "Lisbon")]})
    hub.say("Alice lives in Lisbon.")
    hub.drain()
    assert [relation.dst.name for relation in relations(hub)] == ["Lisbon"]
    assert hub.model.calls("construct") == []


def test_self_references_are_the_subject(hub: Hub) -> None:
    parts = {
        "entities": [*names("I"), *names("Lisbon", kind="place")],
        "relations": [edge("I", "lives_in", "Lisbon")],
    }
    told(hub, "I live in Lisbon.", lives("Lisbon"), parts=parts)
    assert [relation.src.name for relation in relations(hub)] == ["Ana"]


def test_without_the_graph_there_are_no_entities(hub: Hub) -> None:
    hub.policy("mem0", episodes__rolling=False)
    at_home(hub, "Lisbon")
    assert relations(hub) == []
    assert len(facts(hub)) == 1
