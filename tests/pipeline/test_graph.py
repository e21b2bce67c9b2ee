"""Mem0g's checks (spec §15.6): entities and relations as projections of facts."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from memoryhub.pipeline.corrections import undo_event
from memoryhub.pipeline.naming import set_subject_name
from memoryhub.recall.context import build_context
from memoryhub.tenants.scope import tenant_scope
from notes.index import indexer
from notes.models import Derivation, Entity, EvolutionEvent, IndexEntry, Relation, Revision
from tests.support.claims import (
    decide_on_claim,
    list_current_texts,
    list_facts,
    list_proposals,
    make_fact_reply,
    make_home_reply,
    say_and_derive,
)
from tests.support.hub import ScriptedHub

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def only_claims(hub: ScriptedHub) -> None:
    hub.set_policy("mem0g", episodes__rolling=False)
    hub.model.allow("resolve", graph_entities={"entities": []})


def make_entity_replies(*found: str, kind: str = "person") -> list[dict[str, str]]:
    return [{"name": name, "type": kind} for name in found]


def make_relation_reply(src: str, label: str, dst: str, number: int = 0) -> dict[str, Any]:
    return {"source": src, "label": label, "target": dst, "fact": number}


def tell_home(hub: ScriptedHub, city: str, text: str = "") -> None:
    """Alice's home, told by Ana."""
    entities = [*make_entity_replies("Alice"), *make_entity_replies(city, kind="place")]
    parts = {"entities": entities, "relations": [make_relation_reply("Alice", "lives_in", city)]}
    home = make_home_reply(city, owner="Alice")
    say_and_derive(hub, text or f"Alice lives in {city}.", home, parts=parts)


def list_relations(hub: ScriptedHub) -> list[Relation]:
    with tenant_scope(hub.tenant.id):
        rows = Relation.objects.select_related("fact", "src", "dst")
        return list(rows.order_by("fact__valid_from"))


def search_by_graph(hub: ScriptedHub, question: str, **options: Any) -> list[str]:
    """Facts that a context takes from the graph alone."""
    hub.model.allow(query_entities={"names": []})
    hub.set_policy("mem0g", episodes__rolling=False, recall__channels=["graph"])
    made = build_context(hub.space, question, now=hub.now, reinforce=False, **options)
    hub.set_policy("mem0g", episodes__rolling=False)
    return [item.text for item in made.items("facts")]


def test_GR1_a_fact_gives_two_entities_and_one_relation(hub: ScriptedHub) -> None:
    tell_home(hub, "Lisbon")
    (relation,) = list_relations(hub)
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


def test_GR2_I3_moving_closes_one_relation_and_opens_another(hub: ScriptedHub) -> None:
    tell_home(hub, "Lisbon")
    hub.pass_time(days=30)
    tell_home(hub, "Porto", "Alice moved to Porto.")
    lisbon, porto = list_relations(hub)
    assert (lisbon.fact.valid_to, porto.fact.valid_to) == (porto.fact.valid_from, None)
    with tenant_scope(hub.tenant.id):
        alice = Entity.objects.get(name="Alice")
    assert (alice.mention_count, alice.version) == (2, 2)
    assert search_by_graph(hub, "Where does Alice live?") == ["Alice lives in Porto."]
    earlier = porto.fact.valid_from - timedelta(days=1)
    then = search_by_graph(hub, "Where does Alice live?", as_of=earlier)
    assert then == ["Alice lives in Lisbon."]


def test_GR3_of_many_values_told_beside_one_another_none_ends_unasked_whatever_a_model_says(
    hub: ScriptedHub,
) -> None:
    loves = {"owner": "Alice", "verb": "loves", "predicate": "likes", "kind": "preference"}
    say_and_derive(
        hub, "Alice loves pizza.", make_fact_reply("Alice loves pizza.", object="pizza", **loves)
    )
    hub.model.script("resolve", decide_on_claim("Alice loves pizza.", "contradict"))
    say_and_derive(
        hub,
        "Alice also loves burgers.",
        make_fact_reply("Alice loves burgers.", object="burgers", **loves),
    )
    assert list_current_texts(hub) == ["Alice loves pizza.", "Alice loves burgers."]
    assert [asked.kind for asked in list_proposals(hub)] == ["conflict"]


def test_GR4_moving_back_is_a_third_interval(hub: ScriptedHub) -> None:
    for city in ("Lisbon", "Porto", "Lisbon"):
        tell_home(hub, city, f"Alice is in {city} now.")
        hub.pass_time(days=30)
    first, second, third = list_facts(hub)
    assert (first.valid_to, second.valid_to) == (second.valid_from, third.valid_from)
    assert third.valid_to is None
    assert [r.dst.name for r in list_relations(hub)] == ["Lisbon", "Porto", "Lisbon"]


NAMES = {
    "Robert Hall": [1.0],
    "R. Hall": [0.97, 0.2431],
    "Rob Hill": [0.8, 0.6],
    "Bo": [0.5, 0.0, 0.866],
}


def speak_of(hub: ScriptedHub, name: str) -> None:
    hub.embedder.table |= NAMES
    hub.model.allow("resolve")  # what is near is offered whoever it is about
    entities = [*make_entity_replies(name), *make_entity_replies("Braga", kind="place")]
    parts = {"entities": entities, "relations": [make_relation_reply(name, "lives_in", "Braga")]}
    say_and_derive(
        hub, f"{name} lives in Braga.", make_home_reply("Braga", owner=name), parts=parts
    )


def get_entity(hub: ScriptedHub, name: str) -> Entity:
    with tenant_scope(hub.tenant.id):
        return Entity.objects.select_related("merged_into").get(name=name)


def test_GR5_names_are_merged_asked_about_or_kept_apart(hub: ScriptedHub) -> None:
    speak_of(hub, "Robert Hall")
    speak_of(hub, "R. Hall")
    assert get_entity(hub, "R. Hall").merged_into == get_entity(hub, "Robert Hall")
    assert get_entity(hub, "Robert Hall").aliases == ["R. Hall"]
    hub.model.script("merge_check", {"decisions": [{"pair": "p1", "same": False}]})
    speak_of(hub, "Rob Hill")
    (asked,) = hub.model.list_calls("merge_check")
    assert asked["pairs"][0]["names"] == ["Rob Hill", "Robert Hall"]
    assert get_entity(hub, "Rob Hill").merged_into is None
    speak_of(hub, "Bo")
    assert get_entity(hub, "Bo").merged_into is None
    assert len(hub.model.list_calls("merge_check")) == 1


def test_GR5_above_one_threshold_names_are_one_and_nobody_is_asked(hub: ScriptedHub) -> None:
    """The paper's own form (spec §6.2, 3)."""
    hub.set_policy("mem0g", graph__merge_at=0.7, graph__ask_at=0.7, episodes__rolling=False)
    speak_of(hub, "Robert Hall")
    speak_of(hub, "Rob Hill")
    assert get_entity(hub, "Rob Hill").merged_into == get_entity(hub, "Robert Hall")
    assert hub.model.list_calls("merge_check") == []


def test_GR5_what_nobody_can_tell_is_put_before_a_person(hub: ScriptedHub) -> None:
    speak_of(hub, "Robert Hall")
    hub.model.allow("merge_check")
    speak_of(hub, "Rob Hill")
    (asked,) = list_proposals(hub)
    assert (asked.kind, asked.payload["cosine"]) == ("merge", 0.8)
    assert asked.payload["into"] == str(get_entity(hub, "Robert Hall").id)


def test_GR5_R3_a_merge_can_be_undone(hub: ScriptedHub) -> None:
    speak_of(hub, "Robert Hall")
    speak_of(hub, "R. Hall")
    assert get_entity(hub, "R. Hall").merged_into == get_entity(hub, "Robert Hall")
    with tenant_scope(hub.tenant.id):
        merge = EvolutionEvent.objects.get(kind="merge")
        undo_event(merge, "test", now=hub.now)
    assert get_entity(hub, "R. Hall").merged_into is None
    assert get_entity(hub, "Robert Hall").aliases == []


def test_GR5_numbers_make_names_two(hub: ScriptedHub) -> None:
    hub.model.allow("resolve")
    hub.embedder.table |= {"Room 101": [1.0], "Room 102": [0.99, 0.14]}
    for room in ("Room 101", "Room 102"):
        entities = [*make_entity_replies("Alice"), *make_entity_replies(room, kind="place")]
        parts = {
            "entities": entities,
            "relations": [make_relation_reply("Alice", "works_in", room)],
        }
        say_and_derive(
            hub,
            f"Alice is in {room}.",
            make_fact_reply(f"Alice is in {room}.", owner="Alice"),
            parts=parts,
        )
    assert get_entity(hub, "Room 102").merged_into is None


def test_GR6_a_relation_to_what_is_no_entity_is_dropped_alone(hub: ScriptedHub) -> None:
    parts = {
        "entities": [*make_entity_replies("Alice"), *make_entity_replies("Lisbon", kind="place")],
        "relations": [
            make_relation_reply("Alice", "likes", "Fado"),
            make_relation_reply("Alice", "lives_in", "Lisbon"),
        ],
    }
    say_and_derive(
        hub, "Alice lives in Lisbon.", make_home_reply("Lisbon", owner="Alice"), parts=parts
    )
    assert [relation.label for relation in list_relations(hub)] == ["lives_in"]


def test_separate_calls_read_facts_entities_and_relations_one_by_one(hub: ScriptedHub) -> None:
    hub.set_policy("mem0g", episodes__rolling=False, llm__combine_calls=False)
    hub.model.script("extract_facts", {"facts": [make_home_reply("Lisbon", owner="Alice")]})
    hub.model.script(
        "graph_entities",
        {"entities": [*make_entity_replies("Alice"), *make_entity_replies("Lisbon", kind="place")]},
    )
    hub.model.script(
        "graph_relations", {"relations": [make_relation_reply("Alice", "lives_in", "Lisbon")]}
    )
    hub.say("Alice lives in Lisbon.")
    hub.run_due_jobs()
    assert [relation.dst.name for relation in list_relations(hub)] == ["Lisbon"]
    assert hub.model.list_calls("construct") == []


def test_self_references_are_the_subject(hub: ScriptedHub) -> None:
    parts = {
        "entities": [*make_entity_replies("I"), *make_entity_replies("Lisbon", kind="place")],
        "relations": [make_relation_reply("I", "lives_in", "Lisbon")],
    }
    say_and_derive(hub, "I live in Lisbon.", make_home_reply("Lisbon"), parts=parts)
    assert [relation.src.name for relation in list_relations(hub)] == ["Ana"]


def test_without_the_graph_there_are_no_entities(hub: ScriptedHub) -> None:
    hub.set_policy("mem0", episodes__rolling=False)
    say_and_derive(hub, "Alice lives in Lisbon.", make_home_reply("Lisbon", owner="Alice"))
    assert list_relations(hub) == []
    assert hub.model.list_calls("graph_entities") == []
    assert len(list_facts(hub)) == 1


def test_a_relation_is_found_under_the_name_that_its_end_has_now(hub: ScriptedHub) -> None:
    """What the subject is called is learned after something was read, or given by hand."""
    hub.subject = "Alice"
    tell_home(hub, "Lisbon")
    set_subject_name(hub.space, "Priya Ramos", "eva", hub.now)
    (relation,) = list_relations(hub)
    assert relation.src.name == "Priya Ramos"
    assert relation.fact.text == "Priya Ramos lives in Lisbon."
    (wanted,) = indexer.build_relation_entries([relation])
    with tenant_scope(hub.tenant.id):
        entry = IndexEntry.objects.get(kind="relation", owner_id=relation.id)
    assert entry.text_hash == wanted.text_hash
    assert "ramo" in entry.words
    assert "alic" not in entry.words
