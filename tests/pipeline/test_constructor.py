"""AMA's constructor, judge and refresher where it writes, and what Mem0 is not asked for
(spec §5.3, §7.2, §7.4)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from memoryhub.dialogues.models import Turn
from memoryhub.lab.systems import get_system
from memoryhub.recall.services import search_memories
from memoryhub.tenants.scope import tenant_scope
from notes.models import Derivation, Episode, Fact, Page, Receipt
from tests.support.claims import (
    decide_on_claim,
    list_facts,
    list_proposals,
    make_fact_reply,
    make_resolve_reply,
)
from tests.support.hub import ScriptedHub

pytestmark = pytest.mark.django_db

UNREFRESHED = get_system("ama_unrefreshed")


@pytest.fixture
def ama(hub: ScriptedHub) -> ScriptedHub:
    hub.set_policy("ama")
    hub.model.allow("episode_gate", "episode_write", "resolve")
    return hub


def say_and_read(hub: ScriptedHub, text: str, *facts: dict[str, Any], **parts: Any) -> None:
    hub.model.script("extract_facts", {"facts": list(facts), **parts})
    hub.say(text)
    hub.run_due_jobs(minutes=2)  # of one session, with no silence in between


def make_car_reply(car: str) -> dict[str, Any]:
    parts = {"predicate": "drives", "verb": "drives", "object": car, "quote": f"I drive {car}"}
    return make_fact_reply(f"Ana drives {car}.", **parts)


def test_s7_4_the_constructor_reads_with_the_window_and_is_asked_for_the_patterns(
    ama: ScriptedHub,
) -> None:
    say_and_read(ama, "Shall we talk of the garden?")
    fact = make_fact_reply(
        "Ana gave Ben a fig tree.",
        subject="Ana", verb="gave", object="a fig tree", second_object="Ben",
    )  # fmt: skip
    say_and_read(ama, "I gave Ben a fig tree.", fact, related=["h1"])
    asked = ama.model.list_calls("extract_facts")[-1]
    assert [said["text"] for said in asked["history"]] == ["Shall we talk of the garden?"]
    assert asked["wanted"] == ["patterns", "related"]
    (stored,) = list_facts(ama)
    assert (stored.pattern, stored.indirect_object) == ("SVOO", "Ben")


def test_s7_1_a_fact_keeps_the_earlier_turns_it_bears_on(ama: ScriptedHub) -> None:
    say_and_read(ama, "Shall we talk of the garden?")
    fact = make_fact_reply("Ana bought a fig tree.")
    say_and_read(ama, "I bought a fig tree.", fact, related=["h1", "h99", "t1"])
    with tenant_scope(ama.tenant.id):
        (context,) = Derivation.objects.filter(child_type="fact", role="context")
        assert context.turn.text == "Shall we talk of the garden?"


def test_s7_1_a_turn_that_gave_no_fact_keeps_the_earlier_turns_it_bears_on(
    ama: ScriptedHub,
) -> None:
    say_and_read(ama, "Shall we talk of the garden?")
    say_and_read(ama, "Rather in spring, I think.", related=["h1", "h99", "t1"])
    assert list_facts(ama) == []
    judged = [{"relevant": ["m1"], "conflicts": [], "enough": enough} for enough in (False, True)]
    ama.model.script("judge", *judged)
    ama.model.script("route", {"query": "exactly what of spring?", "fine": True, "want": 1})
    found = search_memories(ama.space, "exactly what of spring?", limit=1, now=ama.now)
    with tenant_scope(ama.tenant.id):
        (context,) = Derivation.objects.filter(role="context").select_related("turn")
        assert Page.objects.get(id=context.child_id).first_seq == 2
    assert context.turn.text == "Shall we talk of the garden?"
    _, further = ama.model.list_calls("judge")
    assert "Shall we talk of the garden?" in [entry["text"] for entry in further["entries"]]
    assert found.items[0].text == "Rather in spring, I think."


def test_s7_2_a_conflict_found_at_input_is_refreshed(ama: ScriptedHub) -> None:
    say_and_read(ama, "I drive an old Volvo.", make_car_reply("an old Volvo"))
    ama.pass_time(days=30)
    ama.model.script("resolve", decide_on_claim("Ana drives an old Volvo.", "contradict"))
    say_and_read(ama, "Now I drive a new Fiat.", make_car_reply("a new Fiat"))
    volvo, fiat = list_facts(ama)
    assert (volvo.status, fiat.status) == ("superseded", "active")
    assert (fiat.supersedes_id, fiat.lineage) == (volvo.id, volvo.lineage)


def test_s7_2_without_the_refresher_both_stand(ama: ScriptedHub) -> None:
    ama.set_policy("ama", **{k.replace(".", "__"): v for k, v in UNREFRESHED.overrides.items()})
    say_and_read(ama, "I drive an old Volvo.", make_car_reply("an old Volvo"))
    say_and_read(ama, "Now I drive a new Fiat.", make_car_reply("a new Fiat"))
    assert [fact.status for fact in list_facts(ama)] == ["active", "active"]
    assert ama.model.list_calls("resolve") == []


@pytest.mark.parametrize(("cause", "closed"), [("request", 1), ("none", 0)])
def test_s7_2_an_explicit_request_closes_an_episode(
    ama: ScriptedHub, cause: str, closed: int
) -> None:
    say_and_read(ama, "I bought a fig tree.", make_fact_reply("Ana bought a fig tree."))
    ama.model.script("episode_gate", {"open": cause != "none", "cause": cause})
    say_and_read(ama, "Please note that down.")
    with tenant_scope(ama.tenant.id):
        assert Episode.objects.filter(kind="topic").count() == closed


def test_s5_3_mem0_is_not_asked_for_what_it_drops(hub: ScriptedHub) -> None:
    hub.set_policy("mem0", episodes__rolling=False)
    hub.model.allow("resolve")
    say_and_read(hub, "I bought a fig tree.", make_fact_reply("Ana bought a fig tree."))
    (asked,) = hub.model.list_calls("extract_facts")
    assert asked["wanted"] == []
    assert {request.purpose for request in hub.model.requests} == {"extract_facts"}


def test_s7_2_a_plan_that_is_said_to_contradict_is_told(ama: ScriptedHub) -> None:
    say_and_read(ama, "I drive an old Volvo.", make_car_reply("an old Volvo"))
    ama.pass_time(days=30)
    ama.model.script("resolve", decide_on_claim("Ana drives an old Volvo.", "contradict"))
    plan = make_car_reply("a new Fiat") | {"polarity": "planned"}
    say_and_read(ama, "In June I drive a new Fiat.", plan)
    volvo, _ = list_facts(ama)
    assert volvo.status == "active"
    (case,) = list_proposals(ama)
    assert (case.kind, case.row_id) == ("conflict", volvo.id)


# What the Refresher deletes: what somebody asks to be forgotten, and what outlived the limit.


def ask_for(what: str) -> Callable[[dict[str, Any]], dict[str, Any]]:
    """The second call's verdict on whatever is held."""

    def decide(data: dict[str, Any]) -> dict[str, Any]:
        return make_resolve_reply(
            *(("c1" if what != "forget" else "w0", what, kept["handle"]) for kept in data["kept"])
        )

    return decide


@pytest.mark.parametrize(
    ("said", "polarity", "verdict"),
    [
        ("Now I drive a new Fiat.", "holds", "contradict"),
        ("I no longer drive an old Volvo.", "ended", "deny"),
        ("I never drove an old Volvo.", "denied", "deny"),
        ("Everything about cars is wrong.", "denied", "contradict"),
        ("The Volvo is gone, delete it from the insurance.", "ended", "forget"),
    ],
)
def test_s7_2_whatever_else_is_said_deletes_nothing(
    ama: ScriptedHub, said: str, polarity: str, verdict: str
) -> None:
    say_and_read(ama, "I drive an old Volvo.", make_car_reply("an old Volvo"))
    ama.pass_time(days=30)
    ama.model.allow(resolve=ask_for(verdict))
    fact = make_fact_reply(said, polarity=polarity, quote=said, correction=polarity == "denied")
    say_and_read(ama, said, fact)
    with tenant_scope(ama.tenant.id):
        assert Fact.objects.filter(text="Ana drives an old Volvo.").count() == 1
        assert Turn.objects.filter(state="redacted").count() == 0
        assert not Receipt.objects.exists()


def test_s7_2_who_asks_for_it_has_it_deleted(ama: ScriptedHub) -> None:
    say_and_read(ama, "I drive an old Volvo.", make_car_reply("an old Volvo"))
    ama.pass_time(days=30)
    ama.model.allow(resolve=ask_for("forget"))
    wish = {"speech_acts": [{"handle": "t1", "act": "forget"}]}
    say_and_read(ama, "Please forget which car I drive.", **wish)
    assert list_facts(ama) == []
    with tenant_scope(ama.tenant.id):
        assert Receipt.objects.count() == 1


@pytest.mark.parametrize(("days", "left"), [(None, 2), (60, 1)])
def test_s7_2_what_is_over_is_deleted_once_it_outlived_the_limit_that_is_set(
    ama: ScriptedHub, days: float | None, left: int
) -> None:
    ama.set_policy("ama", retention__max_age_days=days)
    say_and_read(ama, "I drive an old Volvo.", make_car_reply("an old Volvo"))
    ama.pass_time(days=30)
    ama.model.script("resolve", decide_on_claim("Ana drives an old Volvo.", "contradict"))
    say_and_read(ama, "Now I drive a new Fiat.", make_car_reply("a new Fiat"))
    assert len(list_facts(ama)) == 2
    ama.run_due_jobs(days=31)
    texts = [fact.text for fact in list_facts(ama)]
    assert texts[-1] == "Ana drives a new Fiat."
    assert len(texts) == left
