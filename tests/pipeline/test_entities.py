"""Mem0g's entities where they stand in no triple, and how a question finds them (spec §6.2)."""

from __future__ import annotations

from typing import Any

import pytest

from memoryhub.recall.services import search_memories
from memoryhub.tenants.scope import tenant_scope
from notes.graph.build import FactTriples, build_graph, save_graph
from notes.graph.identity import load_known_entities
from notes.history.change_set import ChangeSet, load_supports_of
from notes.models import Derivation, Entity, EvolutionEvent, Relation
from tests.support.claims import list_facts, make_fact_reply
from tests.support.hub import ScriptedHub

pytestmark = pytest.mark.django_db


@pytest.fixture
def hub(hub: ScriptedHub) -> ScriptedHub:
    hub.set_policy("mem0g", episodes__rolling=False, recall__channels=["graph"])
    hub.model.allow("resolve", "merge_check", query_entities={"names": []})
    return hub


def say_with_entities(hub: ScriptedHub, text: str, *named: tuple[str, str]) -> None:
    entities = [{"name": name, "type": kind} for name, kind in named]
    hub.model.script("extract_facts", {"facts": [make_fact_reply(text)]})
    hub.model.script("graph_entities", {"entities": entities})
    hub.model.script("graph_relations", {"relations": []})
    hub.say(text)
    hub.run_due_jobs()


def list_names(hub: ScriptedHub) -> list[str]:
    with tenant_scope(hub.tenant.id):
        return list(Entity.objects.order_by("name").values_list("name", flat=True))


def test_an_entity_in_no_triple_is_kept_with_the_fact_that_names_it(hub: ScriptedHub) -> None:
    named = (("Ana", "person"), ("Porto", "place"), ("Monday", "date"), ("Oslo", "place"))
    say_with_entities(hub, "Ana dreamt of Porto on Monday.", *named)
    assert list_names(hub) == ["Ana", "Porto"]  # no day, and nothing that the fact does not name
    (fact,) = list_facts(hub)
    with tenant_scope(hub.tenant.id):
        assert not Relation.objects.exists()
        porto = Entity.objects.get(name="Porto")
        (support,) = Derivation.objects.filter(child_type="entity", child_id=porto.id)
    assert (porto.type, porto.mention_count, support.via_id) == ("place", 1, fact.id)


def test_it_is_found_by_its_name_and_by_one_that_means_the_same(hub: ScriptedHub) -> None:
    hub.embedder.table = {"Porto": [1, 0], "Oporto": [0.9, 0.436], "dreamt": [0, 0, 1]}
    hub.embedder.table |= {"anything": [0, 0, 0, 1], "Oslo": [0, 0, 0, 0, 1]}
    say_with_entities(hub, "Ana dreamt of Porto.", ("Ana", "person"), ("Porto", "place"))
    say_with_entities(hub, "Ana sells bread.", ("Ana", "person"), ("bread", "object"))
    assert find_texts(hub, "anything of Porto?") == ["Ana dreamt of Porto."]
    hub.model.script("query_entities", {"names": ["Oporto"]})
    assert find_texts(hub, "anything of Oporto?") == ["Ana dreamt of Porto."]
    hub.model.script("query_entities", {"names": ["Oslo"]})
    assert find_texts(hub, "anything of Oslo?") == []


def draw_with_aliases(hub: ScriptedHub, *aliases: str) -> None:
    """Robert's fact once more, with what its message calls him besides."""
    (fact,) = list_facts(hub)
    with tenant_scope(hub.tenant.id):
        told = [FactTriples(fact, (), load_supports_of(fact), ["Robert"])]
        graph = build_graph(hub.space, told, {}, "test", {"robert": aliases})
        changes = ChangeSet(hub.space, EvolutionEvent.Kind.RESOLVE, "test", hub.now)
        save_graph(graph, changes)
        changes.save()


def list_aliases(hub: ScriptedHub, name: str) -> list[str]:
    with tenant_scope(hub.tenant.id):
        return list(Entity.objects.get(name=name).aliases)


def test_it_is_found_by_what_it_is_also_called(hub: ScriptedHub) -> None:
    hub.embedder.table = {"Robert": [1, 0], "Bob": [0, 1]}
    said = "Ana works with Robert, whom all call Bob. He is my boss."
    say_with_entities(hub, said, ("Ana", "person"), ("Robert", "person"))
    assert find_texts(hub, "anything of Bob?") == []
    draw_with_aliases(hub, "Bob", "Bob", "He", "my boss", "Robby", "Ana")
    assert list_aliases(hub, "Robert") == ["Bob"]  # no role, nothing unsaid, and nobody else
    assert find_texts(hub, "anything of Bob?") == [said]
    draw_with_aliases(hub, "Bob")
    assert list_aliases(hub, "Robert") == ["Bob"]


def test_what_a_model_says_that_an_entity_is_also_called_is_kept(hub: ScriptedHub) -> None:
    said = "Ana works with Robert, whom all call Bob."
    robert = {"name": "Robert", "type": "person", "aliases": ["Bob"]}
    hub.model.script("extract_facts", {"facts": [make_fact_reply(said)]})
    hub.model.script("graph_entities", {"entities": [robert]})
    hub.say(said)
    hub.run_due_jobs()
    assert list_aliases(hub, "Robert") == ["Bob"]


def test_a_name_that_somebody_has_is_no_alias_and_an_alias_makes_nobody_one(
    hub: ScriptedHub,
) -> None:
    said = "Ana works with Robert, whom all call Bob."
    say_with_entities(hub, said, ("Ana", "person"), ("Robert", "person"))
    with tenant_scope(hub.tenant.id):
        places = {"tenant": hub.tenant, "space": hub.space}
        Entity.objects.create(**places, name="Rob", canonical_key="rob", aliases=["Bob"])
    draw_with_aliases(hub, "Bob")
    assert list_aliases(hub, "Robert") == []
    with tenant_scope(hub.tenant.id):
        assert list(load_known_entities(hub.space, ["bob", "robert"])) == ["robert"]


def find_texts(hub: ScriptedHub, question: str, **options: Any) -> list[str]:
    found = search_memories(hub.space, question, now=hub.now, reinforce=False, **options)
    return [item.text for item in found.items]
