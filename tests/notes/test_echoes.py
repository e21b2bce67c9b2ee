"""The loop guard: what the hub gave out is no news when it comes back."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from memoryhub.recall.context import build_context
from memoryhub.recall.log import reinforcement
from memoryhub.tenants.scope import tenant_scope
from notes.models import Fact, Fingerprint
from notes.quality.echoes import (
    find_sentences,
    mask_spans,
    save_fingerprints,
    save_fingerprints_of_answers,
)
from personas import blocks
from personas.blocks import BlockWriter
from tests.support.claims import list_facts, make_fact_reply, make_facts_reply, say_and_derive
from tests.support.hub import ScriptedHub


def test_sentences_are_found_without_bullets_and_marks() -> None:
    text = (
        "Memories:\n- Ana lives in Porto.\n* Ana has 2.5 cats, it seems\n好。她住在上海的老城区。"
    )
    found = [text[a:b] for a, b in find_sentences(text)]
    assert found == ["Ana lives in Porto", "Ana has 2.5 cats, it seems", "她住在上海的老城区"]


def test_masking_keeps_every_place() -> None:
    assert mask_spans("One two. Three.", [(0, 7)]) == "       . Three."


def give_texts(hub: ScriptedHub, *texts: str) -> None:
    with tenant_scope(hub.tenant.id):
        save_fingerprints(hub.space, texts, hub.now)


@pytest.mark.django_db
def test_of_several_answers_a_sentence_keeps_its_first_time_and_its_last(hub: ScriptedHub) -> None:
    """Whoever says it between the two says it after the hub."""
    said, later = ["Ana lives in Porto."], hub.now + timedelta(days=2)
    with tenant_scope(hub.tenant.id):
        save_fingerprints_of_answers(hub.space, [(said, later), (said, hub.now)])
        row = Fingerprint.objects.get()
    assert (row.seen_at, row.given_at) == (hub.now, later)


def construct_every_sentence(data: dict[str, Any]) -> dict[str, Any]:
    """A reader that takes every sentence for a fact."""
    said = [
        make_fact_reply(m["text"][a:b] + ".", m["handle"])
        for m in data["messages"]
        for a, b in find_sentences(m["text"])
    ]
    return make_facts_reply(*said)


@pytest.fixture
def echoing(hub: ScriptedHub) -> ScriptedHub:
    hub.set_policy("mem0", episodes__rolling=False)
    say_and_derive(hub, "I live in Porto.", make_fact_reply("Ana lives in Porto."))
    give_texts(hub, "Ana lives in Porto.", "I live in Porto.")
    hub.model.allow("resolve", extract_facts=construct_every_sentence)
    return hub


@pytest.mark.django_db
@pytest.mark.parametrize("role", ["user", "assistant"])
def test_memories_in_a_prompt_are_neither_new_nor_corroborated(
    echoing: ScriptedHub, role: str
) -> None:
    prompt = "What I know of you:\n- Ana lives in Porto.\n\nMy garden has a fig tree now."
    echoing.say(prompt, role=role)
    echoing.run_due_jobs()
    known = {fact.text: fact.mention_count for fact in list_facts(echoing)}
    assert known.pop("Ana lives in Porto.") == 1
    assert [text for text in known if "Porto" in text] == []


@pytest.mark.django_db
def test_a_turn_that_is_all_echo_is_not_read_at_all(echoing: ScriptedHub) -> None:
    asked = len(echoing.model.list_calls("extract_facts"))
    echoing.say("Ana lives in Porto.", role="assistant")
    echoing.run_due_jobs()
    assert len(echoing.model.list_calls("extract_facts")) == asked


@pytest.mark.django_db
def test_E7_what_a_person_had_said_first_is_theirs_to_repeat(echoing: ScriptedHub) -> None:
    echoing.model.script("extract_facts", make_facts_reply(make_fact_reply("Ana lives in Porto.")))
    echoing.say("I live in Porto.")
    echoing.run_due_jobs()
    (known,) = list_facts(echoing)
    assert known.mention_count == 2


@pytest.mark.django_db
def test_another_spaces_answers_are_no_echo_here(echoing: ScriptedHub) -> None:
    echoing.subject = "Rui"
    echoing.say("Ana lives in Porto.", speaker="Rui")
    echoing.run_due_jobs()
    assert len(list_facts(echoing, space=echoing.space)) == 1


@pytest.mark.django_db
def test_a_context_that_is_pasted_or_said_again_is_no_news(hub: ScriptedHub) -> None:
    """What was handed over unasked as well: blocks, the shelf."""
    hub.set_policy(
        "mem0", episodes__rolling=False, recall__channels=["core", "shelf", "facts", "raw"]
    )
    say_and_derive(
        hub,
        "I live in Porto.",
        make_fact_reply("Ana lives in Porto."),
        make_fact_reply("Ana keeps three brown hens."),
    )
    with tenant_scope(hub.tenant.id):
        Fact.objects.filter(text__contains="hens").update(shelf="user_kb", shelved_at=hub.now)
        writer = BlockWriter("helper", "agent", hub.now, hub.space)
        words = "She sails on Sundays with Rui."
        blocks.create_block(writer, "human", words, tenant_id=hub.tenant.id, space=hub.space)
    made = build_context(hub.space, "Where does Ana live?", now=hub.now)
    assert {section.name for section in made.sections} >= {"core", "shelf"}
    reinforcement.flush_recalls()
    hub.pass_time(hours=1)
    hub.model.allow("resolve", extract_facts=construct_every_sentence)
    hub.say(f"{made.text}\n\nMy garden has a fig tree now.", session="pasted")
    hub.say("She sails on Sundays with Rui. Ana keeps three brown hens.", role="assistant")
    hub.run_due_jobs()
    known = {fact.text: fact.mention_count for fact in list_facts(hub)}
    assert known == {
        "Ana lives in Porto.": 1,
        "Ana keeps three brown hens.": 1,
        "My garden has a fig tree now.": 1,
    }
