"""What becomes of right answers under presets that read and compare by one call, and by two."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import pytest

from tests.support.claims import (
    list_current_texts,
    list_facts,
    list_proposals,
    make_change_reply,
    make_changes_reply,
    make_fact_reply,
    make_facts_reply,
    make_resolve_reply,
)
from tests.support.hub import ScriptedHub

pytestmark = pytest.mark.django_db

_VERDICTS = {"replace": "contradict", "end": "deny", "refine": "augment", "add": "add"}
_QUIET: dict[str, Any] = {
    "notes__enabled": False,
    "segments__enabled": False,
    "chain__enabled": False,
    "traits__enabled": False,
    "graph__enabled": False,
    "episodes__topic": False,
    "episodes__day": False,
    "episodes__rolling": False,
}


@dataclass
class Careful:
    """A model that knows what each message says and does to what is held, however it is asked."""

    hub: ScriptedHub
    preset: str

    @property
    def at_once(self) -> bool:
        return self.preset == "balanced"

    def set_policy(self, **switches: Any) -> None:
        self.hub.set_policy(self.preset, **(_QUIET | switches))

    def say(self, said: str, do: str, text: str, targets: Sequence[str] = (), **parts: Any) -> None:
        """`parts`: of the claim, in the words of one call; two are not asked for all of them."""
        given: dict[str, Any] = {"quote": said, "owner": "Ana", "relation": ""} | parts
        if self.at_once:
            self.hub.model.script("construct", self._change(do, text, targets, given))
        else:
            fact = {
                "predicate": given["relation"],
                "verb": given.get("verb", given["relation"]).replace("_", " "),
                "object": given.get("value", ""),
                "polarity": "ended" if do == "end" else "holds",
            }
            kept = {name: given[name] for name in ("quote", "owner", "from", "to") if name in given}
            reply = make_facts_reply(
                make_fact_reply(text, **fact, **kept),
                speech_acts=[{"handle": "t1", "act": "assertion"}],
            )
            self.hub.model.script("extract_facts", reply)
            self.hub.model.allow(resolve=self._judge(do, text, targets))
        self.hub.say(said)
        self.hub.run_due_jobs()
        self.hub.pass_time(days=1)

    def say_new_beside(self, said: str, text: str, **parts: Any) -> None:
        """Of what it was shown it names nothing: it says that this is new."""
        if self.at_once:
            return self.say(said, "add", text, one_at_a_time=False, **parts)
        given = {"quote": said, "object": parts["value"], "predicate": parts["relation"]}
        fact = make_fact_reply(text, **given | parts)
        self.hub.model.script("extract_facts", make_facts_reply(fact))
        self.hub.model.allow(resolve=make_resolve_reply(("c1", "add", "")))
        self.hub.say(said)
        self.hub.run_due_jobs()

    def _change(self, do: str, text: str, targets: Sequence[str], given: dict[str, Any]) -> Any:
        def change(data: dict[str, Any]) -> dict[str, Any]:
            shown = [claim["handle"] for claim in data["known"] if claim["text"] in targets]
            return make_changes_reply(make_change_reply(do, text, *shown, **given))

        return change

    def _judge(self, do: str, text: str, targets: Sequence[str]) -> Any:
        def judge(data: dict[str, Any]) -> dict[str, Any]:
            (new,) = data["new"]
            shown = [claim["handle"] for claim in data["kept"] if claim["text"] in targets]
            return {
                "decisions": [
                    {"candidate": new["handle"], "op": _VERDICTS[do], "target": each, "text": text}
                    for each in shown
                ]
            }

        return judge


@pytest.fixture(params=["mem0", "ama", "balanced"])
def careful(hub: ScriptedHub, request: pytest.FixtureRequest) -> Careful:
    made = Careful(hub, request.param)
    made.set_policy()
    return made


ONE_VALUE_AT_A_TIME = [
    ("phone_number", "0151 496 0001", "0151 496 0002", "My number is {}.", "Ana's number is {}."),
    ("drives", "a Fiat", "a Kia", "I drive {} to work.", "Ana drives {} to work."),
    ("project_deadline", "3 May", "9 June", "The deadline is {}.", "Ana's deadline is {}."),
]


@pytest.mark.parametrize(("relation", "old", "new", "said", "text"), ONE_VALUE_AT_A_TIME)
@pytest.mark.parametrize("trust", ["guarded", "trusted"])
def test_a_value_that_a_model_says_is_replaced_is_closed(
    careful: Careful, trust: str, relation: str, old: str, new: str, said: str, text: str
) -> None:
    """Of a relation that no table knows, and of which nobody says that it has one value at a time,
    in plain words: no "now", no "instead". The verdict alone says so."""
    hub = careful.hub
    careful.set_policy(judge__trust=trust)
    of: dict[str, Any] = {"relation": relation}
    careful.say(said.format(old), "add", text.format(old), value=old, **of)
    careful.say(said.format(new), "replace", text.format(new), [text.format(old)], value=new, **of)
    assert list_current_texts(hub) == [text.format(new)]
    (past,) = list_facts(hub, object=old)
    assert (past.status, past.valid_to is None) == ("superseded", False)
    assert list_proposals(hub) == []


@pytest.mark.parametrize(("relation", "old", "new", "said", "text"), ONE_VALUE_AT_A_TIME)
@pytest.mark.parametrize("unfound", [True, False])
def test_what_is_not_carried_out_is_in_the_inbox_and_both_stand(
    careful: Careful, unfound: bool, relation: str, old: str, new: str, said: str, text: str
) -> None:
    hub = careful.hub
    careful.set_policy(judge__trust="guarded" if unfound else "confirm")
    of: dict[str, Any] = {"relation": relation}
    careful.say(said.format(old), "add", text.format(old), value=old, **of)
    words = {"quote": f"as of today it is {new}, {relation}"} if unfound else {}
    careful.say(
        said.format(new), "replace", text.format(new), [text.format(old)], value=new, **of, **words
    )
    assert set(list_current_texts(hub)) == {text.format(old), text.format(new)}
    (case,) = list_proposals(hub)
    assert (case.kind, case.row_id) == ("conflict", list_facts(hub, object=old)[0].id)


def tell_of_pizza(careful: Careful) -> dict[str, Any]:
    likes = {"relation": "likes"}
    careful.say("I like pizza.", "add", "Ana likes pizza.", value="pizza", **likes)
    return likes


@pytest.mark.parametrize(
    "said",
    [
        "I went off pizza, I like soup.",
        "I like soup instead.",
        "I don't like pizza any more. I like soup.",
        "I like soup now.",
        "I gave up smoking. I like soup.",
    ],
)
def test_R9_a_verdict_that_the_words_bear_out_closes_the_other_value_whatever_the_table_says(
    careful: Careful, said: str
) -> None:
    likes = tell_of_pizza(careful)
    quote = {"quote": "I like soup", "value": "soup"}
    careful.say(said, "replace", "Ana likes soup.", ["Ana likes pizza."], **quote, **likes)
    assert list_current_texts(careful.hub) == ["Ana likes soup."]
    assert list_proposals(careful.hub) == []


@pytest.mark.parametrize(
    "said",
    [
        "I also like soup instead of a roll.",
        "I still like pizza, but I like soup instead of bread.",
        "According to the page, I like soup instead of pizza.",
        'The advert said "I like soup instead of pizza".',
    ],
)
def test_R9_words_that_tell_of_both_or_are_anothers_are_put_before_a_person(
    careful: Careful, said: str
) -> None:
    likes = tell_of_pizza(careful)
    quote = {"quote": "I like soup", "value": "soup"}
    careful.say(said, "replace", "Ana likes soup.", ["Ana likes pizza."], **quote, **likes)
    assert list_current_texts(careful.hub) == ["Ana likes pizza.", "Ana likes soup."]
    assert [case.kind for case in list_proposals(careful.hub)] == ["conflict"]


def test_what_a_model_calls_new_stands_beside_what_the_table_would_close(careful: Careful) -> None:
    job: dict[str, Any] = {"relation": "works_at", "verb": "works at"}
    acme, library = "Ana works at Acme.", "Ana works at the library on Saturdays."
    careful.say("I work at Acme.", "add", acme, value="Acme", **job)
    said = "I also work at the library on Saturdays."
    careful.say_new_beside(said, library, value="the library", **job)
    assert list_current_texts(careful.hub) == [acme, library]
    assert list_proposals(careful.hub) == []


def test_what_a_model_calls_new_is_put_before_a_person_where_no_words_say_it(
    hub: ScriptedHub,
) -> None:
    careful = Careful(hub, "mem0")
    careful.set_policy()
    job: dict[str, Any] = {"relation": "works_at", "verb": "works at"}
    acme, library = "Ana works at Acme.", "Ana works at the library."
    careful.say("I work at Acme.", "add", acme, value="Acme", **job)
    quote = {"quote": "I am at the library as well"}
    said = "I work at the library on Saturdays."
    careful.say_new_beside(said, library, value="the library", **job, **quote)
    assert list_current_texts(hub) == [acme, library]
    assert [case.kind for case in list_proposals(hub)] == ["conflict"]


def test_where_a_person_confirms_a_rule_ends_nothing_by_what_a_model_read(hub: ScriptedHub) -> None:
    """The rule knows that "ended" is about the home; that it has ended is the model's reading."""
    careful = Careful(hub, "mem0")
    careful.set_policy(judge__trust="confirm")
    home: dict[str, Any] = {"relation": "lives_in", "value": "Porto"}
    porto = "Ana lives in Porto."
    careful.say("I live in Porto.", "add", porto, **home)
    careful.say("I no longer live in Porto.", "end", "Ana no longer lives in Porto.", **home)
    assert porto in list_current_texts(hub)
    (case,) = list_proposals(hub)
    assert (case.kind, case.row_id) == ("conflict", list_facts(hub, text=porto)[0].id)


def test_a_verdict_with_two_targets_ends_both(careful: Careful) -> None:
    city, study = "Ana lives in Durham.", "Ana studies chemistry."
    careful.say("I live in Durham.", "add", city, relation="lives_in", value="Durham")
    careful.say("I study chemistry.", "add", study, relation="studies", value="chemistry")
    said = "I graduated and left Durham with my chemistry degree."
    careful.say(said, "replace", "Ana graduated and left Durham.", [city, study])
    assert list_current_texts(careful.hub) == ["Ana graduated and left Durham."]
    assert list_proposals(careful.hub) == []


def test_what_is_said_more_exactly_refines_and_contradicts_nothing(careful: Careful) -> None:
    wales, exact = "Ana lives in Wales.", "Ana lives in Aberaeron, Wales."
    home = {"relation": "lives_in"}
    careful.say("I live in Wales.", "add", wales, value="Wales", **home)
    careful.say("It's Aberaeron I live in.", "refine", exact, [wales], value="Aberaeron", **home)
    assert list_current_texts(careful.hub) == [exact]
    old, new = sorted(list_facts(careful.hub), key=lambda fact: fact.lineage_version)
    assert (old.status, old.valid_to, new.valid_from) == ("active", None, old.valid_from)


def test_a_move_replaces_a_home_also_where_the_model_says_nothing_of_it(careful: Careful) -> None:
    home: dict[str, Any] = {"relation": "lives_in", "one_at_a_time": True}
    careful.say("I live in Porto.", "add", "Ana lives in Porto.", value="Porto", **home)
    careful.say("I moved to Faro.", "add", "Ana lives in Faro.", value="Faro", **home)
    assert list_current_texts(careful.hub) == ["Ana lives in Faro."]


@pytest.mark.parametrize(
    ("said", "dates", "text"),
    [
        ("I lived in Leeds until about 2022.", {"to": "2022"}, "Ana lived in Leeds."),
        (
            "I lived in Leeds from 2016 until about 2022.",
            {"from": "2016", "to": "2022"},
            "Ana lived in Leeds.",
        ),
        ("我在利兹住到2022年左右。", {"to": "2022"}, "Ana在利兹住过。"),
    ],
)
def test_until_about_2022_is_an_end(
    careful: Careful, said: str, dates: dict[str, str], text: str
) -> None:
    careful.say(said, "add", text, value="Leeds", relation="lived_in", state="past", **dates)
    (leeds,) = list_facts(careful.hub)
    assert (leeds.valid_to, leeds.status) == (datetime(2023, 1, 1, tzinfo=UTC), "superseded")


def test_dates_that_say_when_it_began_are_no_end(careful: Careful) -> None:
    week = {"from": "2026-05-04", "to": "2026-05-10"}
    careful.say("I moved to Faro last week.", "add", "Ana lives in Faro.", value="Faro", **week)
    assert list_current_texts(careful.hub) == ["Ana lives in Faro."]


# What a message says is kept.


@pytest.mark.parametrize(
    ("said", "quote", "text"),
    [
        ("我上周搬到柏林了，你知道吗？", "我上周搬到柏林了", "Ana住在柏林。"),
        (
            "I just got a new job at SAP, can you believe it?",
            "I just got a new job at SAP",
            "Ana works at SAP.",
        ),
    ],
)
def test_E26_a_question_that_only_wonders_at_it_keeps_its_fact(
    careful: Careful, said: str, quote: str, text: str
) -> None:
    careful.say(said, "add", text, quote=quote)
    assert list_current_texts(careful.hub) == [text]


@pytest.mark.parametrize("offer", ["The Merida is red, the Canyon is light as a feather. Which?"])
@pytest.mark.parametrize("answer", ["that one, yes", "The latter!"])
def test_a_choice_among_what_the_assistant_offered_is_the_users_fact(
    careful: Careful, offer: str, answer: str
) -> None:
    hub = careful.hub
    empty = make_changes_reply() if careful.at_once else make_facts_reply()
    hub.model.script("construct" if careful.at_once else "extract_facts", empty)
    hub.say(offer, role="assistant")
    hub.run_due_jobs()
    text = "Ana takes the Canyon, light as a feather."
    careful.say(answer, "add", text, relation="takes", value="the Canyon")
    (known,) = list_facts(hub)
    assert (known.text, known.owner, known.speaker, known.status) == (text, "Ana", "Ana", "active")


def test_a_choice_among_what_was_offered_replaces_what_is_held(careful: Careful) -> None:
    hub = careful.hub
    rides: dict[str, Any] = {"relation": "rides_to_work", "one_at_a_time": True}
    old, new = "Ana rides a Merida to work.", "Ana rides the Canyon to work."
    careful.say("I ride a Merida to work.", "add", old, value="a Merida", **rides)
    empty = make_changes_reply() if careful.at_once else make_facts_reply()
    hub.model.script("construct" if careful.at_once else "extract_facts", empty)
    hub.say("So you ride the Canyon to work from now on?", role="assistant")
    hub.run_due_jobs()
    careful.say("that one, yes", "replace", new, [old], value="the Canyon", **rides)
    assert list_current_texts(hub) == [new]


@pytest.mark.parametrize("owner", ["王芳", "小林"])
def test_a_chinese_name_of_two_characters_stays_the_owner(careful: Careful, owner: str) -> None:
    said, text = f"{owner}上个月开始在银行上班。", f"{owner}在银行上班。"
    careful.say(said, "add", text, relation="works_at", value="银行", owner=owner)
    (known,) = list_facts(careful.hub)
    assert (known.owner, known.text) == (owner, text)


def test_a_chinese_verb_makes_no_relation_that_nothing_else_has(careful: Careful) -> None:
    """He keeps the books at a circus: no word of it is one that tells of a job."""
    text = "Ana在马戏团管账。"
    job = {"relation": "works_as", "verb": "管账", "value": "会计"}
    careful.say("我在马戏团管账。", "add", text, **job)
    (known,) = list_facts(careful.hub)
    assert known.text == text
    assert known.predicate_key in ("works_as", "")
