"""Homes, workplaces and people as one tells an assistant of them, and what is none of that."""

from __future__ import annotations

import pytest

from memoryhub.engines.local import LocalEngine
from memoryhub.engines.local.answers.relatives import tells_of_another
from memoryhub.engines.types import Exchange, FactCandidate, Quote
from tests.engines.local.dialogue import AT, ENGINE, make_utterances
from tests.engines.local.test_chinese_changes import read_turn_facts

SPEAKER = "user-31"


def tell(*texts: str) -> list[FactCandidate]:
    """The facts of the last of what one person tells an assistant, who answers "Noted." """
    before = [
        line
        for at, text in enumerate(texts[:-1])
        for line in (
            *make_utterances((SPEAKER, text), first=100 + 2 * at),
            *make_utterances(("Hub", "Noted."), role="assistant", first=101 + 2 * at),
        )
    ]
    hello = make_utterances(("Hub", "Hello!"), role="assistant", first=90)
    said = make_utterances((SPEAKER, texts[-1]))
    exchange = Exchange(said, [*hello, *before], (SPEAKER,), SPEAKER)
    return list(LocalEngine().extract_memories([exchange])[0].facts)


def find_value(facts: list[FactCandidate], key: str) -> str | None:
    found = (f for f in facts if f.predicate_key == key and f.polarity in ("holds", "planned"))
    return next((fact.object or fact.complement for fact in found), None)


@pytest.mark.parametrize(
    ("text", "home"),
    [
        ("I'm in Malmö now, sharing with two nurses", "Malmö"),
        ("we're in Tartu these days", "Tartu"),
        ("living with my cousin in Ghent for now", "Ghent"),
        ("back in Galway with my parents", "Galway"),
        ("I rent in Lyon with a colleague", "Lyon"),
        ("I moved from Porto to Malmö in January", "Malmö"),
        ("moved over to Tartu for good", "Tartu"),
        ("we moved back home to Ghent", "Ghent"),
    ],
)
def test_where_one_is_these_days_is_home(text: str, home: str) -> None:
    assert find_value(tell(text), "lives_in") == home


@pytest.mark.parametrize(
    "text",
    [
        "I'm in Malmö now for a conference",
        "I'm in Tartu for the weekend",
        "in Lyon right now, flight leaves at 8",
        "back in Galway for christmas",
        "imagine I'm in Ghent now, with a sea view",
        "I might be in Malmö soon",
        "we moved the party from Leeds to York",
        "I moved from Team Red to Team Blue",
        "I rent a flat in Rosengård, on the third floor, ten minutes from work",
    ],
)
def test_a_visit_a_thought_or_a_quarter_of_the_town_is_no_home(text: str) -> None:
    assert find_value(tell(text), "lives_in") is None


def test_the_home_of_another_is_theirs() -> None:
    (home,) = (f for f in tell("My brother is in Turku now.") if f.predicate_key == "lives_in")
    assert (home.owner, home.object) == (f"{SPEAKER}'s brother", "Turku")


@pytest.mark.parametrize(
    ("text", "workplace"),
    [
        ("I'm driving for a brewery now", "brewery"),
        ("I'm teaching at an academy now", "academy"),
        ("Starting at a climbing gym on Monday, teaching kids", "climbing gym"),
        ("got a part time thing at a garden shop, sundays", "garden shop"),
        ("im at a school now", "school"),
    ],
)
def test_a_workplace_is_told_by_what_it_is(text: str, workplace: str) -> None:
    assert find_value(tell(text), "works_at") == workplace


@pytest.mark.parametrize(
    "text",
    [
        "I'm at the gym now",
        "the bus stops at a school",
        "I was driving for hours",
        "at the bank rn",
    ],
)
def test_where_one_happens_to_be_is_no_workplace(text: str) -> None:
    assert find_value(tell(text), "works_at") is None


def test_a_workplace_is_left_by_its_name() -> None:
    (left,) = (f for f in tell("i left the bakery") if f.predicate_key == "works_at")
    assert (left.polarity, left.object) == ("ended", "bakery")


def test_a_job_beside_another_takes_no_place() -> None:
    (second,) = (f for f in tell("I work at the Anchor pub too, evenings") if f.predicate_key)
    assert (second.predicate_key, second.cardinality) == ("works_at", "multi")


def test_who_leaves_the_office_for_the_day_is_back_tomorrow() -> None:
    assert all(f.polarity != "ended" for f in tell("I left the hospital at 5 today"))


def test_he_and_she_are_whom_the_words_fit() -> None:
    told = [f.text for f in tell("Clara and I broke up. I'm at my aunt's place", "she kept Rolo")]
    assert told == ["Clara kept Rolo."]
    told = [f.text for f in tell("Clara got a puppy!! she named him Rolo, he's a beagle")]
    assert told[-2:] == ["Rolo is Clara's puppy.", "Clara's puppy is a beagle."]
    told = [f.text for f in tell("My sister and my brother came over", "he is a pilot")]
    assert told == [f"{SPEAKER}'s brother is a pilot."]


def test_two_who_fit_are_nobody() -> None:
    assert not any("cello" in f.text for f in tell("My mum met my aunt", "she plays the cello"))


@pytest.mark.parametrize(
    ("text", "key", "value"),
    [
        ("我现在在厦门", "lives_in", "厦门"),
        ("我回老家洛阳了", "lives_in", "洛阳"),
        ("我妈还在保定老家", "lives_in", "保定"),
        ("我在一家装修公司做设计", "works_at", "装修公司"),
        ("我去了顺丰上班", "works_at", "顺丰"),
        ("我姐跳槽到市立医院了", "works_at", "市立医院"),
    ],
)
def test_chinese_homes_and_workplaces(text: str, key: str, value: str) -> None:
    found = [f for f in read_turn_facts(text) if f.predicate_key == key]
    assert value in {fact.object or fact.complement for fact in found}


@pytest.mark.parametrize(
    "text", ["我现在在厦门出差", "我最近在洛阳玩", "要是我在厦门就好了", "我在路上"]
)
def test_a_chinese_visit_is_no_home(text: str) -> None:
    assert not [f for f in read_turn_facts(text) if f.predicate_key == "lives_in"]


def test_what_one_never_eats_is_kept_however_brief() -> None:
    assert [f.text for f in read_turn_facts("帮我想个早饭，不吃肉")] == ["何苗不吃肉。"]
    assert not read_turn_facts("我吃不下了")


def test_what_takes_the_place_of_something_is_told_with_it() -> None:
    assert "何苗的跳绳不跳了，改游泳。" in [f.text for f in read_turn_facts("跳绳不跳了，改游泳")]


def test_others_words_do_not_answer_a_question_about_oneself() -> None:
    told = [
        Quote("My brother Karl thinks I should have stayed at the bank", AT, speaker="Ana"),
        Quote("imagine if I worked at a bank", AT, speaker="Ana"),
        Quote("Karl works at the bank.", AT, owner="Karl", predicate="works_at", object="bank"),
    ]
    assert tells_of_another("my boss moved to Leeds", [])
    assert not tells_of_another("my boss and I moved to Leeds", [])
    answer = ENGINE.answer_question("where do i work", told[1:], subject="Ana")
    assert answer.abstained


def test_a_relative_is_answered_for_by_what_is_held_of_them() -> None:
    told = [
        Quote("Ana lives in Ghent.", AT, owner="Ana", predicate="lives_in", object="Ghent"),
        Quote(
            "Ana's mum lives in Lyon.", AT, owner="Ana's mum", predicate="lives_in", object="Lyon"
        ),
    ]
    assert ENGINE.answer_question("where does my mum live", told, subject="Ana").text == "Lyon"
    assert ENGINE.answer_question("where do i live", told, subject="Ana").text == "Ghent"


def test_what_was_left_is_not_where_one_works() -> None:
    left = Quote(
        "Ana left the bakery.",
        AT,
        owner="Ana",
        predicate="works_at",
        object="bakery",
        tells_end=True,
    )
    new = Quote("Ana works at a gym.", AT, owner="Ana", predicate="works_at", object="gym")
    assert ENGINE.answer_question("where do i work", [left, new], subject="Ana").text == "gym"


def test_the_boss_one_was_told_of_last_is_the_boss() -> None:
    later = AT.replace(month=9)
    told = [
        Quote("Rolf is Ana's manager.", AT, owner="Rolf"),
        Quote("Ana's new manager is called Mei.", later, owner="Ana"),
    ]
    assert ENGINE.answer_question("who is my boss", told, subject="Ana").text == "Mei"
