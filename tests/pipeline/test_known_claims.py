"""Messages read beside what is known: what a model is shown, and what becomes of its changes."""

from __future__ import annotations

from typing import Any

import pytest

from memoryhub.dialogues.models import Turn
from memoryhub.pipeline.review.answer_proposals import answer_proposal
from memoryhub.pipeline.review.answers import list_answers
from memoryhub.policies.services import set_predicate_cardinality
from memoryhub.tenants.models import Tenant
from memoryhub.tenants.scope import tenant_scope
from memoryhub.tenants.services import create_tenant
from notes.facts.neighbours import load_learned_predicates
from notes.models import Derivation, Fact, Receipt, Revision
from tests.support.claims import (
    change_known_claims,
    list_current_texts,
    list_facts,
    list_proposals,
    make_change_reply,
    make_changes_reply,
    make_resolve_reply,
    say_and_change,
)
from tests.support.hub import ScriptedHub

pytestmark = pytest.mark.django_db

BAKERY = "Ana runs a bakery in Braga."
BOOKKEEPER = "Rui is Ana's bookkeeper."


@pytest.fixture(autouse=True)
def only_changes(hub: ScriptedHub) -> None:
    """Facts and nothing else, by one call that judges as well."""
    set_policy(hub)


def set_policy(hub: ScriptedHub, **switches: Any) -> None:
    hub.set_policy("rag", facts__enabled=True, **switches)


def say_new(hub: ScriptedHub, said: str, text: str, **parts: Any) -> None:
    session = parts.pop("session", "s1")
    change = make_change_reply("add", text, quote=said, **parts)
    say_and_change(hub, said, make_changes_reply(change), session=session)


def run_a_bakery(hub: ScriptedHub) -> None:
    say_new(hub, "I run a bakery in Braga.", BAKERY)
    hub.pass_time(days=1)


def close_the_bakery(hub: ScriptedHub, do: str = "replace", **parts: Any) -> None:
    said = "I sold the bakery and drive a bus."
    given = {"quote": said} | parts
    say_and_change(hub, said, change_known_claims(do, "Ana drives a bus.", BAKERY, **given))


def get_last_call(hub: ScriptedHub) -> dict[str, Any]:
    return hub.model.list_calls("construct")[-1]


# What is shown.


def test_what_other_sessions_said_last_is_history(hub: ScriptedHub) -> None:
    with tenant_scope(hub.tenant.id):
        Tenant.objects.update(engine=Tenant.Engine.LLM)
    say_new(hub, "I run a bakery in Braga.", BAKERY, session="monday")
    hub.model.allow(construct=make_changes_reply())
    hub.say("It goes well.", session="tuesday")
    hub.run_due_jobs()
    hub.say("I may sell it.", session="tuesday")
    hub.run_due_jobs()
    asked = get_last_call(hub)
    assert [each["text"] for each in asked["history"]] == [
        "I run a bakery in Braga.",
        "It goes well.",
    ]
    assert [each["text"] for each in asked["messages"]] == ["I may sell it."]


def test_rules_are_not_told_of_other_sessions(hub: ScriptedHub) -> None:
    say_new(hub, "I run a bakery in Braga.", BAKERY, session="monday")
    say_new(hub, "I sing in a choir.", "Ana sings in a choir.", session="tuesday")
    assert get_last_call(hub)["history"] == []


def test_open_claims_that_the_words_come_near_are_shown(hub: ScriptedHub) -> None:
    run_a_bakery(hub)
    close_the_bakery(hub)
    say_new(hub, "A bakery in Braga needs flour.", "Ana thinks of flour.")
    known = get_last_call(hub)["known"]
    assert [(claim["text"], "until" in claim) for claim in known] == [
        ("Ana drives a bus.", False),
        (BAKERY, True),
    ]
    assert (known[0]["handle"], known[0]["owner"]) == ("m1", "Ana")


def test_claims_of_others_who_are_named_are_shown_however_far_they_are(hub: ScriptedHub) -> None:
    hub.embedder.table = {"bookkeeper": [1.0, 0], "Hamburg": [0, 1.0]}
    run_a_bakery(hub)
    say_new(hub, "Rui does my books.", BOOKKEEPER, owner="Rui", relation="works_as")
    hub.model.script(
        "construct",
        change_known_claims(
            "end", "Rui no longer is Ana's bookkeeper.", BOOKKEEPER, owner="Rui", quote="Rui moved"
        ),
    )
    hub.say("Rui moved to Hamburg.", session="s2")
    hub.run_due_jobs()
    asked = get_last_call(hub)
    assert BOOKKEEPER in [claim["text"] for claim in asked["known"]]
    assert asked["relations"] == ["works_as"]
    assert BOOKKEEPER not in list_current_texts(hub)


def drink_many_teas(hub: ScriptedHub) -> None:
    """More than is shown, all of them near to whatever speaks of tea, and told last."""
    hub.embedder.table = {"tea": [1.0, 0], "girlfriend": [0, 1.0], "that place": [0, 1.0]}
    teas = [make_change_reply("add", f"Ana likes tea number {n}.") for n in range(24)]
    said = "I like two dozen kinds of tea."
    told = [tea | {"quote": said} for tea in teas]
    set_policy(hub, facts__most_per_exchange=24)
    say_and_change(hub, said, make_changes_reply(*told[:20]))
    say_and_change(hub, said, make_changes_reply(*told[20:]))
    hub.pass_time(days=1)


def list_known_texts(hub: ScriptedHub, said: str) -> list[str]:
    say_and_change(hub, said, make_changes_reply())
    return [claim["text"] for claim in get_last_call(hub)["known"]]


@pytest.mark.parametrize(
    ("owner", "said"),
    [
        ("Lucy", "Lucy and I broke up over tea."),
        ("Lucy Ferreira", "Lucy and I broke up over tea."),
        ("Lucy", "Lucy Ferreira and I broke up over tea."),
        ("林露西", "I broke up with 露西 over tea."),
    ],
)
def test_what_is_held_of_whom_a_message_names_is_not_crowded_out_by_what_is_near(
    hub: ScriptedHub, owner: str, said: str
) -> None:
    lucy = f"{owner} is Ana's girlfriend."
    say_new(hub, f"{owner} is my girlfriend.", lucy, owner=owner, relation="girlfriend_of")
    drink_many_teas(hub)
    known = list_known_texts(hub, said)
    assert lucy in known
    assert len(known) == 20


def test_what_has_an_edge_to_what_a_message_names_is_shown_whoever_has_it(
    hub: ScriptedHub,
) -> None:
    set_policy(hub, graph__enabled=True)
    hub.model.allow("merge_check")
    things = [{"name": "Maria", "type": "person"}, {"name": "Blue Oven", "type": "organisation"}]
    edge = {"source": "Maria", "label": "runs", "target": "Blue Oven", "fact": 0}
    said, runs = "Maria runs the Blue Oven.", "Maria runs that place in Braga."
    told = make_change_reply("add", runs, quote=said, owner="Maria")
    say_and_change(hub, said, make_changes_reply(told, entities=things, relations=[edge]))
    drink_many_teas(hub)
    assert runs in list_known_texts(hub, "The Blue Oven has a new tea.")


def test_what_the_speaker_told_last_is_shown_beside_what_is_near(hub: ScriptedHub) -> None:
    drink_many_teas(hub)
    say_new(hub, "I sing in a choir as girlfriend number one.", "Ana sings as a girlfriend.")
    assert "Ana sings as a girlfriend." in list_known_texts(hub, "That is over, I drink tea.")


def test_relations_in_use_keep_their_order_whichever_comes_to_be_the_commonest(
    hub: ScriptedHub,
) -> None:
    """Else the prompt of the next call would not begin as this one."""
    for name in ("Rex", "tea", "Tom", "Ina"):
        relation = "drinks" if name == "tea" else "has_pet"
        told = f"Ana and {name} are one."
        say_new(hub, f"It is {name} for me.", told, relation=relation, value=name)
    asked = hub.model.list_calls("construct")[2:]
    assert [data["relations"] for data in asked] == [["drinks", "has_pet"]] * 2


@pytest.mark.parametrize("resolution", ["append_only", "off"])
def test_nothing_is_shown_where_the_policy_has_nothing_judged(
    hub: ScriptedHub, resolution: str
) -> None:
    set_policy(hub, facts__resolution=resolution)
    run_a_bakery(hub)
    bus = make_change_reply("replace", "Ana drives a bus.", "m1", quote="I drive a bus.")
    say_and_change(hub, "I drive a bus.", make_changes_reply(bus))
    assert get_last_call(hub)["known"] == []
    assert list_current_texts(hub) == [BAKERY, "Ana drives a bus."]


# What becomes of it.


def test_a_replaced_fact_is_closed_and_the_history_says_so(hub: ScriptedHub) -> None:
    run_a_bakery(hub)
    close_the_bakery(hub)
    old, new = list_facts(hub)
    assert (old.status, old.valid_to, new.supersedes_id) == ("superseded", new.valid_from, old.id)
    assert list_current_texts(hub) == ["Ana drives a bus."]
    with tenant_scope(hub.tenant.id):
        closing = Revision.objects.get(row_id=old.id, version_after=2)
        opening = Revision.objects.get(row_id=new.id)
        assert closing.event_id == opening.event_id
        against = Derivation.objects.get(child_id=old.id, role="contradiction")
        assert against.turn.text == "I sold the bakery and drive a bus."
    assert hub.model.list_calls("resolve") == []


def test_what_is_said_again_in_other_words_is_one_claim(hub: ScriptedHub) -> None:
    run_a_bakery(hub)
    close_the_bakery(hub, "same")
    (known,) = list_facts(hub)
    assert (known.text, known.mention_count) == (BAKERY, 2)


def test_what_is_said_more_fully_is_a_new_version(hub: ScriptedHub) -> None:
    run_a_bakery(hub)
    fuller = "Ana runs a bakery in Braga with her sister."
    quote = "with my sister"
    change = change_known_claims("refine", fuller, BAKERY, quote=quote)
    say_and_change(hub, "I run it with my sister.", change)
    old, new = sorted(list_facts(hub), key=lambda fact: fact.lineage_version)
    assert list_current_texts(hub) == [fuller]
    assert (new.lineage, new.lineage_version, new.valid_from) == (old.lineage, 2, old.valid_from)


def test_E19_what_never_was_so_is_taken_back(hub: ScriptedHub) -> None:
    run_a_bakery(hub)
    never = "Ana does not run a bakery."
    change = change_known_claims("wrong", never, BAKERY, quote="I never ran a bakery")
    say_and_change(hub, "I never ran a bakery.", change)
    (bakery,) = list_facts(hub)
    assert (bakery.status, bakery.retired_at is None) == ("retracted", False)


def test_one_news_ends_two_claims(hub: ScriptedHub) -> None:
    run_a_bakery(hub)
    baking = "Ana bakes bread at dawn."
    say_new(hub, "I bake bread at dawn.", baking)
    hub.pass_time(days=1)
    bus, said = "Ana drives a bus.", "I sold it all and drive a bus."
    say_and_change(hub, said, change_known_claims("replace", bus, BAKERY, baking, quote=said))
    rows = {fact.text: fact for fact in list_facts(hub)}
    assert list_current_texts(hub) == [bus]
    ends = {rows[BAKERY].valid_to, rows[baking].valid_to}
    assert ends == {rows[bus].valid_from}
    assert len(rows) == 3  # it is stored once


def test_a_second_home_ends_the_first_whatever_else_the_model_names(hub: ScriptedHub) -> None:
    run_a_bakery(hub)
    home = {"relation": "lives_in"}
    say_new(hub, "I live in Porto.", "Ana lives in Porto.", value="Porto", **home)
    hub.pass_time(days=1)
    said, faro = "I live in Faro now.", "Ana lives in Faro."
    change = change_known_claims("replace", faro, BAKERY, quote=said, value="Faro", **home)
    say_and_change(hub, said, change)
    assert list_current_texts(hub) == [faro]


def test_a_message_corrects_the_one_before_it_of_the_same_call(hub: ScriptedHub) -> None:
    first = make_change_reply("add", "Ana met Tom on Monday.", quote="I met Tom on Monday")
    second = make_change_reply(
        "wrong", "Ana met Tom on Tuesday.", "1", source="t2", quote="on Tuesday", value="Tom"
    )
    hub.model.script("construct", make_changes_reply(first, second))
    hub.say("I met Tom on Monday.", "No, it was on Tuesday.")
    hub.run_due_jobs()
    assert list_current_texts(hub) == ["Ana met Tom on Tuesday."]
    wrong = list_facts(hub, status="retracted")
    assert [fact.text for fact in wrong] == ["Ana met Tom on Monday."]


def test_what_was_so_once_is_kept_as_over(hub: ScriptedHub) -> None:
    run_a_bakery(hub)
    said = "From 2012 to 2016 I drove a bus."
    years = {"state": "past", "from": "2012", "to": "2016"}
    say_new(hub, said, "Ana drove a bus from 2012 to 2016.", **years)
    (past,) = list_facts(hub, status="superseded")
    assert (past.valid_from.year, past.valid_to and past.valid_to.year) == (2012, 2017)
    assert list_current_texts(hub) == [BAKERY]


# How far it is trusted.


@pytest.mark.parametrize(
    ("trust", "parts", "waits"),
    [
        ("guarded", {}, False),
        ("confirm", {}, True),
        ("guarded", {"quote": "I drive a coach nowadays"}, True),
        ("trusted", {}, False),
        ("trusted", {"quote": "I drive a coach nowadays"}, True),
    ],
)
def test_what_is_not_carried_out_waits_beside_what_is_held(
    hub: ScriptedHub, trust: str, parts: dict[str, str], waits: bool
) -> None:
    set_policy(hub, judge__trust=trust)
    run_a_bakery(hub)
    close_the_bakery(hub, **parts)
    found = [(each.kind, each.payload.get("op", "supersede")) for each in list_proposals(hub)]
    assert found == ([("conflict", "supersede")] if waits else [])
    assert list_current_texts(hub) == [*([BAKERY] if waits else []), "Ana drives a bus."]


@pytest.mark.parametrize("one", [{"one_at_a_time": True}, {"relation": "lives_in"}])
def test_where_a_person_confirms_what_code_makes_of_a_reading_waits_too(
    hub: ScriptedHub, one: dict[str, Any]
) -> None:
    """The model names no claim: that there is one value at a time, it or the table says."""
    set_policy(hub, judge__trust="confirm")
    told: dict[str, Any] = {"relation": "swims_at"} | one
    for at in ("Leca", "Foz"):
        say_new(hub, f"I am at {at}.", f"Ana is at {at}.", value=at, **told)
        hub.pass_time(days=1)
    assert list_current_texts(hub) == ["Ana is at Leca.", "Ana is at Foz."]
    (case,) = list_proposals(hub)
    assert (case.kind, case.reason.split(":")[0]) == (
        "conflict",
        "a model's word waits for a person",
    )
    accept_all(hub)
    assert list_current_texts(hub) == ["Ana is at Foz."]


@pytest.mark.parametrize("trust", ["guarded", "trusted"])
def test_a_change_that_no_message_says_is_put_before_a_person(hub: ScriptedHub, trust: str) -> None:
    set_policy(hub, judge__trust=trust)
    run_a_bakery(hub)
    swim = change_known_claims("replace", "Ana swims at Horfield pool.", BAKERY, quote="I swim")
    say_and_change(hub, "What a day, the sky is so blue.", swim)
    assert list_current_texts(hub) == [BAKERY]
    case = list_proposals(hub)[0]
    assert (case.kind, case.payload["op"], case.reason) == (
        "overwrite",
        "supersede",
        "no message says it",
    )
    answer_proposal(case, "accept", "operator", hub.now)
    assert list_current_texts(hub) == ["Ana swims at Horfield pool."]


def test_E14_a_change_beyond_the_cap_of_an_exchange_is_put_before_a_person(
    hub: ScriptedHub,
) -> None:
    run_a_bakery(hub)
    said = "I sold the bakery and drive a bus."
    plain = [make_change_reply("add", f"Ana owns bus {n}.", quote=said) for n in range(25)]
    last = make_change_reply("replace", "Ana drives a bus.", "m1", quote=said)
    say_and_change(hub, said, make_changes_reply(*plain, last))
    assert len(list_current_texts(hub)) == 21
    assert BAKERY in list_current_texts(hub)
    assert [(c.kind, c.reason) for c in list_proposals(hub)] == [
        ("overwrite", "its exchange told too much already")
    ]


def test_R9_another_thing_that_is_liked_ends_nothing_where_the_words_tell_of_both(
    hub: ScriptedHub,
) -> None:
    liking = {"relation": "likes"}
    say_new(hub, "I like pizza.", "Ana likes pizza.", value="pizza", **liking)
    hub.pass_time(days=1)
    soup = {"quote": "I also like soup", "value": "soup"}
    change = change_known_claims("replace", "Ana likes soup.", "Ana likes pizza.", **soup, **liking)
    say_and_change(hub, "I also like soup now.", change)
    assert list_current_texts(hub) == ["Ana likes pizza.", "Ana likes soup."]
    assert [each.kind for each in list_proposals(hub)] == ["conflict"]


def test_what_a_person_has_set_stands_against_a_model_and_is_told(hub: ScriptedHub) -> None:
    set_policy(hub, facts__many_values="drives")
    drives = {"relation": "drives"}
    say_new(hub, "I drive a van.", "Ana drives a van.", value="a van", **drives)
    hub.pass_time(days=1)
    car = {"quote": "I drive a car", "value": "a car"}
    change = change_known_claims(
        "replace", "Ana drives a car.", "Ana drives a van.", **car, **drives
    )
    say_and_change(hub, "I drive a car now.", change)
    assert list_current_texts(hub) == ["Ana drives a van.", "Ana drives a car."]
    (case,) = list_proposals(hub)
    assert case.reason.startswith("both may be so")


def test_what_was_reworded_in_the_same_call_is_still_replaced(hub: ScriptedHub) -> None:
    run_a_bakery(hub)
    finer, bus = "Ana runs a bakery with two ovens in Braga.", "Ana drives a bus."

    def change(data: dict[str, Any]) -> dict[str, Any]:
        (known,) = data["known"]
        return make_changes_reply(
            make_change_reply("refine", finer, known["handle"], quote="It had two ovens."),
            make_change_reply("replace", bus, known["handle"], quote="I drive a bus."),
        )

    say_and_change(hub, "It had two ovens. I sold the bakery. I drive a bus.", change)
    assert list_current_texts(hub) == [bus]


def grow_plants(hub: ScriptedHub) -> list[str]:
    for plant in ("figs", "limes", "pears", "plums"):
        say_new(hub, f"I grow {plant}.", f"Ana grows {plant}.")
    hub.pass_time(days=1)
    return list_current_texts(hub)


def accept_all(hub: ScriptedHub) -> None:
    for case in list_proposals(hub):
        answer_proposal(case, list_answers(case)[0], "ida", hub.now)


@pytest.mark.parametrize("text", ["", "Ana gave up her garden."])
def test_what_one_turn_may_not_end_any_more_waits_for_a_person(hub: ScriptedHub, text: str) -> None:
    set_policy(hub, facts__most_closures=2)
    plants = grow_plants(hub)
    said = "I gave the whole garden up: no figs, limes, plums or pears."
    say_and_change(hub, said, change_known_claims("end", text, *plants, quote=said))
    held = {fact.id for fact in list_facts(hub, polarity="holds", status="active")}
    assert len(held) == 2
    assert {case.row_id for case in list_proposals(hub)} == held
    accept_all(hub)
    assert list_facts(hub, polarity="holds", status="active") == []


def test_what_is_said_again_and_may_not_end_all_it_names_leaves_cases_that_end_it(
    hub: ScriptedHub,
) -> None:
    set_policy(hub, facts__most_closures=2)
    plants = grow_plants(hub)
    run_a_bakery(hub)
    said = "I run a bakery in Braga and grow nothing any more."
    change = change_known_claims("replace", BAKERY, *plants, quote=said)
    say_and_change(hub, said, change)
    assert len(list_proposals(hub)) == 2
    accept_all(hub)
    assert list_current_texts(hub) == [BAKERY]


def say_of_relation(hub: ScriptedHub, value: str, **parts: Any) -> None:
    said = f"I swim at {value}."
    say_new(
        hub, said, f"Ana swims at {value}.", value=value, relation="swims_at", state="now", **parts
    )
    hub.pass_time(days=1)


def test_what_a_model_said_of_a_relation_decides_later_claims(hub: ScriptedHub) -> None:
    say_of_relation(hub, "Leca", one_at_a_time=True)
    say_of_relation(hub, "Foz")
    assert list_current_texts(hub) == ["Ana swims at Foz."]
    set_predicate_cardinality(hub.tenant.id, "swims_at", "multi", actor="ida")
    say_of_relation(hub, "Gaia")
    assert list_current_texts(hub) == ["Ana swims at Foz.", "Ana swims at Gaia."]


def test_of_a_relation_that_nobody_spoke_of_many_values_stand(hub: ScriptedHub) -> None:
    say_of_relation(hub, "Leca")
    say_of_relation(hub, "Foz", one_at_a_time=False)
    say_of_relation(hub, "Gaia")
    assert len(list_current_texts(hub)) == 3


def test_what_a_model_said_of_a_relation_holds_in_its_tenant_alone(hub: ScriptedHub) -> None:
    say_of_relation(hub, "Leca", one_at_a_time=True)
    with tenant_scope(hub.tenant.id):
        assert load_learned_predicates(["swims_at", "drives"]) == {"swims_at"}
    other = create_tenant("Other", "llm")
    with tenant_scope(other.id):
        assert load_learned_predicates(["swims_at"]) == set()


def test_a_second_opinion_is_asked_for_where_the_policy_wants_one(hub: ScriptedHub) -> None:
    set_policy(hub, facts__second_opinion=True)
    run_a_bakery(hub)
    hub.model.script("resolve", make_resolve_reply(("c1", "add", "")))
    said = "I sold the bakery in Braga."
    sold = "Ana sold the bakery in Braga."
    say_and_change(hub, said, change_known_claims("replace", sold, BAKERY, quote=said))
    (asked,) = hub.model.list_calls("resolve")
    assert [kept["text"] for kept in asked["kept"]] == [BAKERY]
    assert list_current_texts(hub) == [BAKERY, sold]  # its word, not the first one's


# Wishes.


def ask_to_forget(hub: ScriptedHub, *texts: str) -> None:
    wish = change_known_claims("forget", "", *texts, quote="forget what I run in Braga")
    say_and_change(hub, "Please forget what I run in Braga, and Rui.", wish)


def test_AA7_what_is_over_can_be_forgotten_too(hub: ScriptedHub) -> None:
    set_policy(hub, erase__on_request="auto")
    run_a_bakery(hub)
    close_the_bakery(hub)
    ask_to_forget(hub, BAKERY)
    assert BAKERY not in {fact.text for fact in list_facts(hub)}


def test_AA7_what_was_told_by_the_same_message_can_be_forgotten(hub: ScriptedHub) -> None:
    set_policy(hub, erase__on_request="auto")
    said = "Rui does my books. No, forget that I said it."

    def tell_and_forget(data: dict[str, Any]) -> dict[str, Any]:
        told = make_change_reply("add", BOOKKEEPER, owner="Rui", quote="Rui does my books.")
        return make_changes_reply(told, make_change_reply("forget", "", "1", quote="forget that"))

    say_and_change(hub, said, tell_and_forget)
    assert (list_facts(hub), list_proposals(hub)) == ([], [])


def test_AA7_a_wish_counts_where_its_message_tells_something_as_well(hub: ScriptedHub) -> None:
    """The model reads the news and overlooks the wish: rules do not, and the news is kept."""
    set_policy(hub, erase__on_request="confirm")
    say_new(hub, "I sing in a choir.", "Ana sings in a choir.")
    hub.model.allow("resolve")
    said = "I moved to Faro. Please forget that I sing in a choir."
    say_new(hub, said, "Ana lives in Faro.", relation="lives_in", value="Faro")
    with tenant_scope(hub.tenant.id):
        assert Turn.objects.get(text=said).speech_act == "forget"
    assert [case.kind for case in list_proposals(hub)] == ["erase"]
    assert "Ana lives in Faro." in list_current_texts(hub)


def test_AA7_a_wish_means_what_it_names_however_far_it_is(hub: ScriptedHub) -> None:
    set_policy(hub, erase__on_request="auto")
    hub.embedder.table = {"bakery": [1.0, 0], "forget": [0, 1.0]}
    run_a_bakery(hub)
    ask_to_forget(hub, BAKERY)
    assert list_facts(hub) == []
    assert list_proposals(hub) == []
    assert hub.model.list_calls("resolve") == []
    with tenant_scope(hub.tenant.id):
        assert Receipt.objects.count() == 1


def test_AA7_a_wish_that_names_several_is_granted_for_each(hub: ScriptedHub) -> None:
    set_policy(hub, erase__on_request="auto")
    run_a_bakery(hub)
    say_new(hub, "Rui does my books.", BOOKKEEPER, owner="Rui")
    ask_to_forget(hub, BAKERY, BOOKKEEPER)
    assert list_facts(hub) == []
    assert list_proposals(hub) == []  # it named what is gone, and went with it
    with tenant_scope(hub.tenant.id):
        assert Receipt.objects.get().counts["facts"] == 2


@pytest.mark.parametrize("switch", [{"judge__trust": "confirm"}, {"facts__most_closures": 1}])
def test_AA7_a_wish_that_names_several_may_wait_for_a_person(
    hub: ScriptedHub, switch: dict[str, Any]
) -> None:
    set_policy(hub, erase__on_request="auto", **switch)
    run_a_bakery(hub)
    say_new(hub, "Rui does my books.", BOOKKEEPER, owner="Rui")
    ask_to_forget(hub, BAKERY, BOOKKEEPER)
    (asked,) = list_proposals(hub)
    assert (asked.kind, asked.payload["auto"]) == ("erase", False)
    assert set(asked.payload["fact_ids"]) == {str(fact.id) for fact in list_facts(hub)}
    assert len(list_facts(hub)) == 2


def test_AA7_two_wishes_of_one_message_are_one_request(hub: ScriptedHub) -> None:
    set_policy(hub, erase__on_request="confirm")
    run_a_bakery(hub)
    say_new(hub, "Rui does my books.", BOOKKEEPER, owner="Rui")

    def forget_each(data: dict[str, Any]) -> dict[str, Any]:
        handles = [claim["handle"] for claim in data["known"]]
        return make_changes_reply(
            *(make_change_reply("forget", "", each, quote="forget") for each in handles)
        )

    say_and_change(hub, "Please forget my bakery, and forget Rui.", forget_each)
    (asked,) = list_proposals(hub)
    assert len(asked.payload["fact_ids"]) == len(list_facts(hub)) == 2


def test_E20_a_wish_is_noticed_where_no_facts_are_read(hub: ScriptedHub) -> None:
    run_a_bakery(hub)
    hub.set_policy("rag")
    asked = len(hub.model.list_calls("construct"))
    hub.model.allow("resolve")
    hub.say("Please forget everything about my bakery.", "The weather is fine.")
    hub.run_due_jobs()
    assert len(hub.model.list_calls("construct")) == asked
    with tenant_scope(hub.tenant.id):
        acts = dict(Turn.objects.values_list("text", "speech_act"))
        assert Fact.objects.count() == 1
    assert acts["Please forget everything about my bakery."] == "forget"
    assert acts["The weather is fine."] == ""
    assert [each.kind for each in list_proposals(hub)] == ["erase"]


def test_a_plan_said_to_replace_what_is_held_waits_for_a_person(hub: ScriptedHub) -> None:
    run_a_bakery(hub)
    said = "I'm handing the bakery on and will drive a bus."
    plan = {"state": "planned", "quote": said}
    say_and_change(
        hub, said, change_known_claims("replace", "Ana is to drive a bus.", BAKERY, **plan)
    )
    assert BAKERY in list_current_texts(hub)
    (case,) = list_proposals(hub, state="open")
    assert case.row_id == list_facts(hub, text=BAKERY)[0].id


def test_what_says_more_of_one_claim_is_read_beside_others_of_the_same_relation(
    hub: ScriptedHub,
) -> None:
    """It takes the relation of what it makes more exact: the rows of that relation were not looked
    up when it was compared, and must not be taken for rows that changed meanwhile."""
    hub.embedder.table = {"bees": [1.0, 0], "roof": [1.0, 0], "wine": [0, 1.0]}
    say_new(hub, "I keep bees.", "Ana keeps bees.", relation="keeps")
    say_new(hub, "I store wine.", "Ana stores wine in Braga.", relation="keeps")
    hub.pass_time(days=1)
    finer = "Ana keeps bees on a roof."
    say_and_change(
        hub,
        "They are on a roof.",
        change_known_claims(
            "refine", finer, "Ana keeps bees.", relation="roof", quote="They are on a roof."
        ),
    )
    assert finer in list_current_texts(hub)


# Since when it is so.


@pytest.mark.parametrize(
    ("told", "since"),
    [
        ({"from": "2026"}, (2026, 5, 13)),
        ({"from": "2026-05"}, (2026, 5, 13)),
        ({"from": "2026-04"}, (2026, 4, 1)),
        ({"from": "2025"}, (2025, 1, 1)),
        ({"from": "2026-05-02"}, (2026, 5, 2)),
    ],
)
def test_what_began_this_year_is_not_known_to_have_held_in_january(
    hub: ScriptedHub, told: dict[str, str], since: tuple[int, int, int]
) -> None:
    """A month or a year that is not over yet has a beginning that nobody has told."""
    hub.pass_time(days=1)
    said = "I drive a bus these days."
    say_new(hub, said, "Ana drives a bus.", **told)
    (fact,) = list_facts(hub, status="active")
    assert (fact.valid_from.year, fact.valid_from.month, fact.valid_from.day) == since


def test_what_held_until_this_year_is_found_as_of_the_day_it_was_told(hub: ScriptedHub) -> None:
    run_a_bakery(hub)
    close_the_bakery(hub, **{"from": "2026"})
    (bakery,) = list_facts(hub, text=BAKERY)
    (bus,) = list_facts(hub, status="active")
    assert bakery.valid_from < bus.asserted_at == bus.valid_from == bakery.valid_to


@pytest.mark.parametrize(
    ("first", "is_kept_as_past"), [("2026-06-20", True), ("2026-05-01", False), ("", False)]
)
def test_a_detail_that_began_later_leaves_the_former_words_to_the_time_before(
    hub: ScriptedHub, first: str, is_kept_as_past: bool
) -> None:
    run_a_bakery(hub)
    hub.pass_time(days=60)
    said, finer = "My bakery has a terrace by the river.", "Ana runs a bakery with a terrace."
    change = change_known_claims("refine", finer, BAKERY, quote=said, **{"from": first})
    say_and_change(hub, said, change)
    assert list_current_texts(hub) == [finer]
    past = list_facts(hub, text=BAKERY, status="superseded")
    assert [bool(fact.valid_to) for fact in past] == ([True] if is_kept_as_past else [])
    (now,) = list_facts(hub, text=finer)
    assert now.valid_from.date().isoformat() == (first if is_kept_as_past else "2026-05-12")
