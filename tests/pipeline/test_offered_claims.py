"""What a new claim, and a wish to forget, are compared with under presets that ask by a call of its
own: claims found by meaning, by predicate, by entity and under all names, of any owner."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from memoryhub.dialogues.models import Turn
from memoryhub.inference.selection import select_embedder, select_engine
from memoryhub.pipeline.steps.derive.forget_requests import prepare_requests
from memoryhub.policies.services import load_effective_policy
from memoryhub.subject_names import is_same_name, list_same_names
from memoryhub.tenants.models import Tenant
from memoryhub.tenants.scope import tenant_scope
from notes.facts.neighbours import take_turns
from tests.support.claims import (
    decide_on_claim,
    list_current_texts,
    list_facts,
    list_proposals,
    make_fact_reply,
    make_facts_reply,
    make_resolve_reply,
    say_and_derive,
)
from tests.support.hub import ScriptedHub

pytestmark = pytest.mark.django_db

GIRLFRIEND = "Lucy is Ana's girlfriend."


@pytest.fixture(params=["mem0", "mem0g", "ama"])
def apart(hub: ScriptedHub, request: pytest.FixtureRequest) -> ScriptedHub:
    """Facts read by one call and compared by another, and nothing else to be scripted."""
    hub.set_policy(request.param, episodes__rolling=False, episodes__topic=False)
    hub.model.allow("resolve", graph_entities={"entities": []})
    hub.embedder.table = {"tea": [1.0, 0, 0], "forget": [0, 1.0, 0], "girlfriend": [0, 0, 1.0]}
    return hub


def drink_many_teas(hub: ScriptedHub, owner: str = "Ana") -> None:
    likes: dict[str, Any] = {"kind": "preference", "verb": "likes", "owner": owner}
    many = [make_fact_reply(f"{owner} likes tea of kind {n}.", **likes) for n in range(12)]
    say_and_derive(hub, f"I like many teas, and {owner} does.", *many)
    hub.pass_time(days=1)


def tell_of_lucy(hub: ScriptedHub) -> None:
    lucy = make_fact_reply(GIRLFRIEND, owner="Lucy", verb="is", object="girlfriend")
    say_and_derive(hub, "Lucy is my girlfriend.", lucy)
    hub.pass_time(days=1)


def list_compared_texts(hub: ScriptedHub) -> list[str]:
    asked = hub.model.list_calls("resolve")[-1]
    shown = {claim["handle"]: claim["text"] for claim in [*asked["kept"], *asked["new"]]}
    return [shown[handle] for handle in asked["new"][-1]["compare"]]


def test_what_is_told_of_whom_a_claim_names_is_not_crowded_out(apart: ScriptedHub) -> None:
    tell_of_lucy(apart)
    drink_many_teas(apart)
    apart.model.script("resolve", decide_on_claim(GIRLFRIEND, "contradict"))
    said = "Lucy and I broke up over tea."
    say_and_derive(apart, said, make_fact_reply("Ana broke up with Lucy over tea."))
    compared = list_compared_texts(apart)
    assert GIRLFRIEND in compared
    assert len(compared) == 10
    assert GIRLFRIEND not in list_current_texts(apart)


def test_what_is_alike_of_somebody_else_is_not_crowded_out(apart: ScriptedHub) -> None:
    other = make_fact_reply("Maria gave up tea.", owner="Maria", verb="gave up", object="tea")
    say_and_derive(apart, "Maria gave up tea.", other)
    drink_many_teas(apart)
    apart.model.script("resolve", make_resolve_reply())
    say_and_derive(apart, "I gave up tea.", make_fact_reply("Ana gave up tea for good."))
    assert "Maria gave up tea." in list_compared_texts(apart)


@pytest.mark.parametrize("name", ["Ana Ferreira", "ana"])
def test_what_is_held_under_another_name_of_the_owner_is_found(
    apart: ScriptedHub, name: str
) -> None:
    """By its predicate, and though nothing of it is near in meaning."""
    swims = {"verb": "swims at", "predicate": "swims_at"}
    before = make_fact_reply(f"{name} swims at Leca.", owner=name, object="Leca", **swims)
    say_and_derive(apart, f"I, {name}, swim at Leca.", before)
    drink_many_teas(apart)
    apart.model.script("resolve", decide_on_claim(f"{name} swims at Leca.", "contradict"))
    said = "I swim at Foz now, after tea."
    now = make_fact_reply("Ana swims at Foz after tea.", object="Foz", **swims)
    say_and_derive(apart, said, now)
    assert [f.object for f in list_facts(apart, predicate_key="swims_at", valid_to=None)] == ["Foz"]


def test_what_has_an_edge_to_what_is_named_is_found_whoever_has_it(hub: ScriptedHub) -> None:
    hub.set_policy("mem0g", episodes__rolling=False)
    hub.model.allow("resolve", "merge_check")
    hub.embedder.table = {"runs": [1.0, 0], "bought": [0, 1.0]}
    things = [{"name": "Maria", "type": "person"}, {"name": "Blue Oven", "type": "organisation"}]
    edge = {"source": "Maria", "label": "runs", "target": "Blue Oven", "fact": 0}
    runs = make_fact_reply("Maria runs the Blue Oven.", owner="Maria", object="Blue Oven")
    say_and_derive(
        hub,
        "Maria runs the Blue Oven.",
        runs,
        parts={"entities": things, "relations": [edge]},
    )
    hub.pass_time(days=1)
    hub.model.script("resolve", make_resolve_reply())
    bought = make_fact_reply("Tiago bought the Blue Oven.", owner="Tiago", object="Blue Oven")
    buyer = [{"name": "Tiago", "type": "person"}, things[1]]
    say_and_derive(
        hub,
        "Tiago bought the Blue Oven.",
        bought,
        parts={"entities": buyer, "relations": [edge | {"source": "Tiago", "label": "bought"}]},
    )
    assert list_compared_texts(hub) == ["Maria runs the Blue Oven."]


def test_what_was_told_before_in_the_same_batch_is_compared_whoever_it_is_of(
    apart: ScriptedHub,
) -> None:
    drink_many_teas(apart)
    apart.set_policy("mem0", episodes__rolling=False, derive__batch_exchanges=2)
    apart.model.script(
        "extract_facts",
        make_facts_reply(
            make_fact_reply(GIRLFRIEND, owner="Lucy", quote="Lucy is my girlfriend."),
            make_fact_reply("Ana left Lucy over tea.", "t2", quote="I left Lucy over tea."),
        ),
    )
    apart.embedder.table["left Lucy over tea"] = [1.0, 0, 1.0]
    apart.model.script("resolve", make_resolve_reply())
    apart.say("Lucy is my girlfriend.", "I left Lucy over tea.")
    apart.run_due_jobs()
    compared = list_compared_texts(apart)
    assert GIRLFRIEND in compared
    assert len(compared) == 10


# What ends something need not be like it.


@pytest.mark.parametrize("told_before", [True, False])
def test_a_correction_in_words_that_only_others_complete_is_believed(
    apart: ScriptedHub, told_before: bool
) -> None:
    """The number stands in the assistant's words; the speaker told it, or takes it up and puts it
    right."""
    phone: dict[str, Any] = {"predicate": "phone_number", "verb": "is"}
    wrong, right = ("Ana's phone number is 07700 900145.", "Ana's phone number is 07700 900154.")
    said = "My phone number is 07700 900145." if told_before else "It is on the card, 900145."
    say_and_derive(apart, said, make_fact_reply(wrong, object="07700 900145", **phone))
    apart.model.script("extract_facts", make_facts_reply())
    apart.say("So your phone number is 07700 900145, noted.", role="assistant")
    apart.run_due_jobs()
    apart.pass_time(days=1)
    flipped = "oh, its 154 at the end not 145, i always flip em"
    now = make_fact_reply(right, object="07700 900154", correction=True, **phone)
    say_and_derive(apart, flipped, now | {"quote": "its 154 at the end not 145"})
    assert list_current_texts(apart) == [right]
    assert [fact.status for fact in list_facts(apart, text=wrong)] == ["retracted"]


def test_an_ending_is_compared_with_what_its_owner_told_last(apart: ScriptedHub) -> None:
    drink_many_teas(apart)
    landlord = "Ana's landlord is Spiros."
    say_and_derive(apart, "My landlord is Spiros.", make_fact_reply(landlord))
    apart.pass_time(days=1)
    apart.embedder.table = {"Spiros": [1.0, 0], "graduated": [0, 1.0]}
    apart.model.script("resolve", decide_on_claim(landlord, "deny"))
    over = make_fact_reply("Ana graduated.", verb="graduated", polarity="ended")
    say_and_derive(apart, "I graduated!!!", over)
    assert landlord not in list_current_texts(apart)


def test_what_is_told_of_somebody_is_compared_with_what_names_them(apart: ScriptedHub) -> None:
    collie = "Ana has a collie called Biscuit."
    apart.embedder.table |= {"collie": [0, 0, 1.0], "sleep": [0, 1.0, 0]}
    say_and_derive(apart, "I have a collie, Biscuit.", make_fact_reply(collie))
    drink_many_teas(apart)
    apart.model.script("resolve", decide_on_claim(collie, "deny"))
    over = make_fact_reply("Biscuit was put to sleep.", owner="Biscuit", polarity="ended")
    say_and_derive(apart, "Biscuit was put to sleep.", over)
    assert collie not in list_current_texts(apart)


@pytest.mark.parametrize("parts", [{"polarity": "ended"}, {"correction": True}])
def test_an_ending_of_which_a_model_says_nothing_is_put_before_a_person(
    apart: ScriptedHub, parts: dict[str, Any]
) -> None:
    """What it calls new is new: of an ending that it passes over nobody would hear again."""
    say_and_derive(apart, "I sing in a choir.", make_fact_reply("Ana sings in a choir."))
    apart.pass_time(days=1)
    over = make_fact_reply("Ana has no more evenings of song.", **parts)
    apart.model.script("resolve", make_resolve_reply(("c1", "add", "")))
    say_and_derive(apart, "No more evenings of song!", over)
    assert list_proposals(apart) == []
    apart.model.script("resolve", make_resolve_reply())
    again = make_fact_reply("Ana has given all that up.", **parts)
    say_and_derive(apart, "I have given all that up.", again)
    (case,) = list_proposals(apart)
    assert (case.kind, case.reason) == ("conflict", "ends something, and nobody says what")
    assert "Ana sings in a choir." in list_current_texts(apart)


def test_an_ending_that_its_words_do_not_bear_out_is_put_before_a_person(
    apart: ScriptedHub,
) -> None:
    """The words tell of a brother: they are not believed of Ana, and not lost either."""
    leeds = make_fact_reply("Ana lives in Leeds.", predicate="lives_in", object="Leeds")
    say_and_derive(apart, "I live in Leeds.", leeds)
    apart.pass_time(days=1)
    over = leeds | {"text": "Ana no longer lives in Leeds.", "polarity": "ended"}
    say_and_derive(apart, "My brother no longer lives in Leeds.", over)
    assert list_current_texts(apart) == ["Ana lives in Leeds."]
    (case,) = list_proposals(apart)
    assert (case.kind, case.payload["op"], case.reason) == (
        "overwrite",
        "end",
        "no message says it",
    )


# Wishes.


def say_wish(hub: ScriptedHub, *texts: str) -> None:
    acts = [{"handle": f"t{at}", "act": "forget"} for at in range(1, len(texts) + 1)]
    hub.model.script("extract_facts", make_facts_reply(speech_acts=acts))
    hub.say(*texts)
    hub.run_due_jobs()


def test_AA7_a_wish_finds_what_it_names_of_somebody_else_however_far(apart: ScriptedHub) -> None:
    tell_of_lucy(apart)
    drink_many_teas(apart)
    apart.model.script("resolve", decide_on_claim(GIRLFRIEND, "forget"))
    say_wish(apart, "Please forget what I told you of Lucy.")
    assert GIRLFRIEND not in list_current_texts(apart)


@pytest.mark.parametrize("name", ["Ana Ferreira", "ana"])
def test_AA7_a_wish_finds_what_is_held_under_another_name(apart: ScriptedHub, name: str) -> None:
    home = {"verb": "lives at", "predicate": "address", "object": "12 Elm Street", "owner": name}
    text = f"{name} lives at 12 Elm Street."
    say_and_derive(apart, f"I, {name}, live at 12 Elm Street.", make_fact_reply(text, **home))
    drink_many_teas(apart)
    drink_many_teas(apart, owner="Maria")
    apart.model.script("resolve", decide_on_claim(text, "forget"))
    say_wish(apart, "Please forget my address.")
    assert text not in list_current_texts(apart)


def test_AA7_what_was_told_in_the_same_batch_is_offered_to_a_wish(apart: ScriptedHub) -> None:
    apart.set_policy("mem0", episodes__rolling=False, derive__batch_exchanges=2)
    choir = make_fact_reply("Ana sings in a choir.", quote="I sing in a choir.")
    acts = [{"handle": "t2", "act": "forget"}]
    apart.model.script("extract_facts", make_facts_reply(choir, speech_acts=acts))
    apart.model.script("resolve", decide_on_claim("Ana sings in a choir.", "forget"))
    apart.say("I sing in a choir.", "Please forget what I said of the choir.")
    apart.run_due_jobs()
    assert list_facts(apart) == []
    assert list_proposals(apart, state="open") == []


def test_AA7_a_wish_that_a_model_says_means_several_is_granted_for_each_though_one_is_over(
    apart: ScriptedHub,
) -> None:
    swims: dict[str, Any] = {"verb": "swims at", "predicate": "swims_at"}
    for at in ("Leca", "Foz"):
        told = make_fact_reply(f"Ana swims at {at}.", object=at, **swims)
        if at == "Foz":
            apart.model.script("resolve", decide_on_claim("Ana swims at Leca.", "contradict"))
        say_and_derive(apart, f"I swim at {at}.", told)
        apart.pass_time(days=1)
    assert [fact.status for fact in list_facts(apart)] == ["superseded", "active"]

    def mean_both(data: dict[str, Any]) -> dict[str, Any]:
        meant = [("w0", "forget", kept["handle"]) for kept in data["kept"]]
        return make_resolve_reply(*meant)

    apart.model.script("resolve", mean_both)
    say_wish(apart, "Please forget where I swim.")
    assert list_facts(apart) == []
    assert list_proposals(apart, state="open") == []


def test_AA7_what_was_told_last_is_offered_to_a_wish_that_names_nothing(
    apart: ScriptedHub,
) -> None:
    drink_many_teas(apart, owner="Maria")
    say_and_derive(apart, "I sing in a choir.", make_fact_reply("Ana sings in a choir."))
    apart.model.script("resolve", decide_on_claim("Ana sings in a choir.", "forget"))
    say_wish(apart, "Please forget that.")
    assert "Ana sings in a choir." not in list_current_texts(apart)


def test_AA7_many_wishes_take_as_many_statements_as_one(hub: ScriptedHub) -> None:
    hub.set_policy("mem0", episodes__rolling=False)
    hub.model.allow("resolve")
    tell_of_lucy(hub)
    drink_many_teas(hub)
    for asked in ("address", "age", "job"):
        say_wish(hub, f"Please forget Lucy and my {asked}.")
    with tenant_scope(hub.tenant.id):
        tenant, space = Tenant.objects.get(), hub.space
        policy = load_effective_policy(space).policy
        wishes = list(Turn.objects.filter(speech_act="forget"))
        engine, embedder = select_engine(tenant, policy), select_embedder(space)
    assert len(wishes) == 3

    def count_statements(turns: list[Turn]) -> int:
        with CaptureQueriesContext(connection) as caught:
            assert all(prepare_requests(space, policy, turns, engine, embedder))
        return len(caught)

    assert count_statements(wishes) == count_statements(wishes[:1])


# What is left where there is more than is offered.


def test_ways_take_turns_and_what_is_near_comes_first() -> None:
    near, named = [f"n{at}" for at in range(10)], ["n3", "x1", "x2"]
    assert take_turns(20, near, named) == [*near, "x1", "x2"]
    assert take_turns(4, near, named) == ["n0", "n1", "n3", "x1"]
    assert take_turns(3, near, []) == near[:3]


@pytest.mark.parametrize(
    ("name", "other", "same"),
    [
        ("Ana", "ana", True),
        ("Ana", "Ana Ferreira", True),
        ("petra-novak", "Petra", True),
        ("陈小雨", "小雨", True),
        ("Ana Silva", "Ana Lopez", False),
        ("Ana", "Ana's sister", False),
        ("小雨", "小雨的妹妹", False),
        ("陈雨", "雨", False),
        ("user_1", "user_2", False),
        ("Ana", "", False),
    ],
)
def test_names_that_may_be_one_persons(name: str, other: str, same: bool) -> None:
    assert is_same_name(name, other) is is_same_name(other, name) is same


def test_what_stands_for_the_subject_stands_for_all_that_does() -> None:
    known = ["Petra", "Petra Novak", "Petra's cat", "Rui"]
    called = ["Petra", "user-42"]
    assert list_same_names("user-42", known, called) == ["user-42", "Petra", "Petra Novak"]
    assert list_same_names("Rui", known, called) == ["Rui"]
