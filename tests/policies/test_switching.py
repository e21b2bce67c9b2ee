"""A policy that changes in the middle of a life."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from memoryhub.pipeline import corrections
from memoryhub.pipeline.erasure import erase_targets
from memoryhub.policies.services import set_policy
from memoryhub.tenants.scope import tenant_scope
from notes.models import EvolutionEvent, Fact, Note, Revision
from personas import profile, traits
from tests.support.hub import ScriptedHub


def make_claim_reply(text: str, quote: str) -> dict[str, Any]:
    fact = {"text": text, "source": "t1", "quote": quote, "owner": "Ana", "predicate": "does"}
    return {"facts": [fact], "speech_acts": [{"handle": "t1", "act": "assertion"}]}


def list_rows(hub: ScriptedHub) -> dict[str, list[dict[str, Any]]]:
    """Everything that is remembered, column by column."""
    models: list[Any] = [Fact, Note, EvolutionEvent, Revision]
    with tenant_scope(hub.tenant.id):
        return {m.__name__: list(m.objects.order_by("id").values()) for m in models}


def list_versions(hub: ScriptedHub) -> list[str]:
    with tenant_scope(hub.tenant.id):
        events = EvolutionEvent.objects.order_by("created_at", "id")
        return list(dict.fromkeys(events.values_list("policy_version", flat=True)))


def test_BL5_a_switch_of_presets_changes_only_what_comes_after(hub: ScriptedHub) -> None:
    hub.set_policy("mem0", episodes__rolling=False)
    hub.model.script("extract_facts", make_claim_reply("Ana keeps bees.", "I keep bees"))
    hub.say("I keep bees behind the old mill.")
    hub.run_due_jobs()
    before = list_rows(hub)
    assert [fact["text"] for fact in before["Fact"]] == ["Ana keeps bees."]
    assert list_versions(hub) == ["t1.s0"]

    hub.set_policy("amem", notes__links=False, notes__evolution=False)
    assert list_rows(hub) == before  # nothing happens to what is there
    asked = len(hub.model.requests)
    note = {"keywords": ["boat"], "tags": ["hobby"], "context": "Ana on the river."}
    hub.model.allow(
        note_build=lambda data: {"notes": [{"handle": n["handle"]} | note for n in data["notes"]]},
    )
    hub.say("I bought a little boat for the river.")
    hub.run_due_jobs()
    after = list_rows(hub)
    assert len(hub.model.requests) > asked
    assert after["Fact"] == before["Fact"]
    assert [n["keywords"] for n in after["Note"]] == [["boat"]]
    assert list_versions(hub) == ["t1.s0", "t2.s0"]

    set_policy(hub.tenant.id, actor="test", preset="rag", space=hub.space, now=hub.now)
    asked = len(hub.model.requests)
    hub.say("I sold the boat again last week, what a pity.")
    hub.run_due_jobs()
    assert len(hub.model.requests) == asked  # a preset that derives nothing asks nothing
    assert list_rows(hub)["Fact"] == before["Fact"]
    assert list_rows(hub)["Note"] == after["Note"]


def test_every_event_says_under_which_policy_whoever_made_it(hub: ScriptedHub) -> None:
    """A person's hand, an undo and an erasure as much as the pipeline."""
    hub.set_policy("mem0", episodes__rolling=False)
    hub.model.script("extract_facts", make_claim_reply("Ana keeps bees.", "I keep bees"))
    hub.say("I keep bees behind the old mill.")
    hub.run_due_jobs()
    set_policy(hub.tenant.id, actor="test", preset="mem0", space=hub.space, now=hub.now)
    with tenant_scope(hub.tenant.id):
        bees = Fact.objects.get()
        corrections.correct_fact(hub.space, bees.id, "Ana keeps many bees.", "eva", hub.now)
        edited = EvolutionEvent.objects.get(kind="manual")
        profile.write_attribute(hub.space, "hobby", "bees", "eva", hub.now)
        traits.correct_trait(hub.space, "outdoors", "high", "eva", hub.now)
    corrections.undo_event(edited, "eva", hub.now + timedelta(minutes=1))
    erase_targets.execute_erasure(
        hub.space, erase_targets.ErasureTarget("facts", (bees.id,)), "eva", hub.now
    )
    with tenant_scope(hub.tenant.id):
        found = set(EvolutionEvent.objects.values_list("kind", "policy_version"))
    assert found == {
        ("resolve", "t1.s0"),
        ("manual", "t1.s1"),
        ("undo", "t1.s1"),
        ("erase", "t1.s1"),
    }
