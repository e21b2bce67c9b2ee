"""A policy that changes in the middle of a life."""

from __future__ import annotations

from typing import Any

from memoryhub.policies.services import set_policy
from memoryhub.tenants.scope import tenant_scope
from notes.models import EvolutionEvent, Fact, Note, Revision
from tests.support.hub import Hub


def claim(text: str, quote: str) -> dict[str, Any]:
    fact = {"text": text, "source": "t1", "quote": quote, "owner": "Ana", "predicate": "does"}
    return {"facts": [fact], "speech_acts": [{"handle": "t1", "act": "assertion"}]}


def rows(hub: Hub) -> dict[str, list[dict[str, Any]]]:
    """Everything that is remembered, column by column."""
    models: list[Any] = [Fact, Note, EvolutionEvent, Revision]
    with tenant_scope(hub.tenant.id):
        return {m.__name__: list(m.objects.order_by("id").values()) for m in models}


def versions(hub: Hub) -> list[str]:
    with tenant_scope(hub.tenant.id):
        events = EvolutionEvent.objects.order_by("created_at", "id")
        return list(dict.fromkeys(events.values_list("policy_version", flat=True)))


def test_BL5_a_switch_of_presets_changes_only_what_comes_after(hub: Hub) -> None:
    hub.policy("mem0", episodes__rolling=False)
    hub.model.script("construct", claim("Ana keeps bees.", "I keep bees"))
    hub.model.allow(extract_facts=claim("Ana keeps bees.", "I keep bees"))
    hub.say("I keep bees behind the old mill.")
    hub.drain()
    before = rows(hub)
    assert [fact["text"] for fact in before["Fact"]] == ["Ana keeps bees."]
    assert versions(hub) == ["t1.s0"]

    hub.policy("amem", notes__links=False, notes__evolution=False)
    assert rows(hub) == before  # nothing happens to what is there
    asked = len(hub.model.asked)
    note = {"keywords": ["boat"], "tags": ["hobby"], "context": "Ana on the river."}
    hub.model.allow(
        construct={"facts": [], "exchanges": [{"exchange": "e1"} | note]},
        note_build=lambda data: {"notes": [{"handle": n["handle"]} | note for n in data["notes"]]},
    )
    hub.say("I bought a little boat for the river.")
    hub.drain()
    after = rows(hub)
    assert len(hub.model.asked) > asked
    assert after["Fact"] == before["Fact"]
    assert [n["keywords"] for n in after["Note"]] == [["boat"]]
    assert versions(hub) == ["t1.s0", "t2.s0"]

    set_policy(hub.tenant.id, actor="test", preset="rag", space=hub.space, now=hub.now)
    asked = len(hub.model.asked)
    hub.say("I sold the boat again last week, what a pity.")
    hub.drain()
    assert len(hub.model.asked) == asked  # a preset that derives nothing asks nothing
    assert rows(hub)["Fact"] == before["Fact"]
    assert rows(hub)["Note"] == after["Note"]
