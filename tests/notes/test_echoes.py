"""The loop guard: what the hub gave out is no news when it comes back."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from memoryhub.recall import reinforcing
from memoryhub.recall.context import context
from memoryhub.tenants.scope import tenant_scope
from notes.echoes import masked, remember, remember_all, sentences
from notes.models import Fact, Fingerprint
from personas import blocks
from personas.blocks import Writer
from tests.support.claims import fact, facts, reading, told
from tests.support.hub import Hub


def test_sentences_are_found_without_bullets_and_marks() -> None:
    text = (
        "Memories:\n- Ana lives in Porto.\n* Ana has 2.5 cats, it seems\n好。她住在上海的老城区。"
    )
    found = [text[a:b] for a, b in sentences(text)]
    assert found == ["Ana lives in Porto", "Ana has 2.5 cats, it seems", "她住在上海的老城区"]


def test_masking_keeps_every_place() -> None:
    assert masked("One two. Three.", [(0, 7)]) == "       . Three."


def given(hub: Hub, *texts: str) -> None:
    with tenant_scope(hub.tenant.id):
        remember(hub.space, texts, hub.now)


@pytest.mark.django_db
def test_of_several_answers_a_sentence_keeps_its_first_time_and_its_last(hub: Hub) -> None:
    """Whoever says it between the two says it after the hub."""
    said, later = ["Ana lives in Porto."], hub.now + timedelta(days=2)
    with tenant_scope(hub.tenant.id):
        remember_all(hub.space, [(said, later), (said, hub.now)])
        row = Fingerprint.objects.get()
    assert (row.seen_at, row.given_at) == (hub.now, later)


def of_what_is_there(data: dict[str, Any]) -> dict[str, Any]:
    """A reader that takes every sentence for a fact."""
    said = [
        fact(m["text"][a:b] + ".", m["handle"])
        for m in data["messages"]
        for a, b in sentences(m["text"])
    ]
    return reading(*said)


@pytest.fixture
def echoing(hub: Hub) -> Hub:
    hub.policy("mem0", episodes__rolling=False)
    told(hub, "I live in Porto.", fact("Ana lives in Porto."))
    given(hub, "Ana lives in Porto.", "I live in Porto.")
    hub.model.allow("resolve", construct=of_what_is_there)
    return hub


@pytest.mark.django_db
@pytest.mark.parametrize("role", ["user", "assistant"])
def test_memories_in_a_prompt_are_neither_new_nor_corroborated(echoing: Hub, role: str) -> None:
    prompt = "What I know of you:\n- Ana lives in Porto.\n\nMy garden has a fig tree now."
    echoing.say(prompt, role=role)
    echoing.drain()
    known = {fact.text: fact.mention_count for fact in facts(echoing)}
    assert known.pop("Ana lives in Porto.") == 1
    assert [text for text in known if "Porto" in text] == []


@pytest.mark.django_db
def test_a_turn_that_is_all_echo_is_not_read_at_all(echoing: Hub) -> None:
    asked = len(echoing.model.calls("construct"))
    echoing.say("Ana lives in Porto.", role="assistant")
    echoing.drain()
    assert len(echoing.model.calls("construct")) == asked


@pytest.mark.django_db
def test_E7_what_a_person_had_said_first_is_theirs_to_repeat(echoing: Hub) -> None:
    echoing.model.script("construct", reading(fact("Ana lives in Porto.")))
    echoing.say("I live in Porto.")
    echoing.drain()
    (known,) = facts(echoing)
    assert known.mention_count == 2


@pytest.mark.django_db
def test_another_spaces_answers_are_no_echo_here(echoing: Hub) -> None:
    echoing.subject = "Rui"
    echoing.say("Ana lives in Porto.", speaker="Rui")
    echoing.drain()
    assert len(facts(echoing, space=echoing.space)) == 1


@pytest.mark.django_db
def test_a_context_that_is_pasted_or_said_again_is_no_news(hub: Hub) -> None:
    """What was handed over unasked as well: blocks, the shelf."""
    hub.policy("mem0", episodes__rolling=False, recall__channels=["core", "shelf", "facts", "raw"])
    told(hub, "I live in Porto.", fact("Ana lives in Porto."), fact("Ana keeps three brown hens."))
    with tenant_scope(hub.tenant.id):
        Fact.objects.filter(text__contains="hens").update(shelf="user_kb", shelved_at=hub.now)
        writer = Writer("helper", "agent", hub.now, hub.space)
        words = "She sails on Sundays with Rui."
        blocks.create(writer, "human", words, tenant_id=hub.tenant.id, space=hub.space)
    made = context(hub.space, "Where does Ana live?", now=hub.now)
    assert {section.name for section in made.sections} >= {"core", "shelf"}
    reinforcing.flush()
    hub.pass_time(hours=1)
    hub.model.allow("resolve", construct=of_what_is_there)
    hub.say(f"{made.text}\n\nMy garden has a fig tree now.", session="pasted")
    hub.say("She sails on Sundays with Rui. Ana keeps three brown hens.", role="assistant")
    hub.drain()
    known = {fact.text: fact.mention_count for fact in facts(hub)}
    assert known == {
        "Ana lives in Porto.": 1,
        "Ana keeps three brown hens.": 1,
        "My garden has a fig tree now.": 1,
    }
