"""What the sentence a model quotes can be evidence of: for whom, of what, and whether at all."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from memoryhub.engines.llm.grounding.attribution import (
    choose_predicate,
    find_clause,
    has_assertion,
    is_from_other_speaker,
    may_be_about,
    may_be_of_listener,
    names_other_person,
    select_bearing_sentences,
    split_sentences,
    tells_of_somebody_of_theirs,
)
from memoryhub.engines.types import Utterance

AT = datetime(2026, 5, 10, tzinfo=UTC)
TALK = "Nora: my sister Eva visits. Dr. Ruiz: and your mother?"


def is_attributable(owner: str, said: str, *, speaker: str = "Nora", quoted: bool = True) -> bool:
    source = Utterance("t1", speaker, "user", said, AT)
    people = ["Nora", "Benjamin", "林小雨"]
    return may_be_about(owner, source, said, people, TALK, said if quoted else "")


def test_a_quotation_stands_in_its_sentence() -> None:
    text = "Hi Ben! I ran 3.5 km. Did you swim? 我搬家了。你呢？"
    at = text.index("ran")
    assert split_sentences(text, at, at + 3) == ["I ran 3.5 km."]
    at = text.index("搬家")
    assert split_sentences(text, at, at + 2) == ["我搬家了。"]
    assert split_sentences(text) == [
        "Hi Ben!",
        "I ran 3.5 km.",
        "Did you swim?",
        "我搬家了。",
        "你呢？",
    ]
    assert split_sentences("no end", 0, 2) == ["no end"]
    assert split_sentences("   ") == []


@pytest.mark.parametrize(
    ("said", "act", "is_word"),
    [
        (["I ran."], None, True),
        (["I ran."], "question", True),
        (["I ran.", "Did you?"], "question", True),
        (["Did I run?"], None, False),
        (["他说：“你跑步了吗？”"], None, False),
        (["I got the job, can you believe it?"], "assertion", True),
        (["I ran."], "hypothetical", False),
        (["I ran."], "forget", True),
        (["Forget what I told you about my knee."], "forget", False),
        (["Forget what I told you about my knee."], "assertion", False),
        (["Hygiene 4 so leave that off."], "assertion", True),  # off the menu
        ([], None, False),
    ],
)
def test_E26_only_what_is_said_to_be_so_counts(said: list[str], act: Any, is_word: bool) -> None:
    assert has_assertion(said, act) is is_word


@pytest.mark.parametrize(
    ("owner", "said"),
    [
        ("Nora", "I painted the lake."),
        ("Nora", "Painted the lake."),
        ("Nora", "My garden beats your garden."),
        ("Benjamin", "You painted the lake."),
        ("Ben", "Benjamin painted the lake."),
        ("Benjamin", "Ben painted the lake."),
        ("Benjamin", "We painted the lake."),
        ("Benjamin", "Ontem pintaste o lago com o teu primo."),
        ("Eva", "She painted the lake."),
        ("Nora's mother", "My mother painted the lake."),
        ("Dr. Ruiz", "He painted the lake."),
        ("林小雨", "你画了湖。"),
        ("小雨", "小雨画了湖。"),
    ],
)
def test_E25_whom_words_can_be_about(owner: str, said: str) -> None:
    assert is_attributable(owner, said)


@pytest.mark.parametrize(
    ("owner", "said"),
    [
        ("Nora", "So cool you found such a group."),
        ("Nora", "你画了湖。"),
        ("Benjamin", "I painted the lake last year!"),
        ("Benjamin", "Painted the lake."),
        ("林小雨", "我画了湖。"),
        ("Atlas", "I painted the lake."),
        ("王明", "他画了湖。"),
    ],
)
def test_E13_E25_whom_words_can_not_be_about(owner: str, said: str) -> None:
    assert not is_attributable(owner, said)


def test_E25_a_whole_message_may_speak_to_one_and_of_the_other() -> None:
    assert is_attributable("Nora", "Thank you! Painted the lake.", quoted=False)


@pytest.mark.parametrize(
    ("key", "said", "kept"),
    [
        ("works_as", "Nora is a nurse", True),
        ("works_as", "Nora ran a race", False),
        ("works_at", "Nora joined Harlow Freight", True),
        ("works_as", "诺拉当护士", True),
        ("lives_in", "诺拉跑步", False),
        ("marital_status", "Nora is engaged", True),
        ("age", "Nora turned thirty", True),
        ("age", "Nora swims", False),
        ("favourite_colour", "Nora likes blue best", True),
        ("favourite_colour", "Nora painted blue", False),
        ("has_count_dog", "Nora has two dogs", True),
        ("works_as", "A Nora corre na praia com o cão", True),
        ("painted", "Nora ran a race", True),
        ("", "Nora ran a race", True),
    ],
)
def test_a_predicate_is_one_the_words_speak_of(key: str, said: str, kept: bool) -> None:
    assert choose_predicate(key, "Did it", said) == (key if kept else "did_it")


def test_a_verb_that_is_a_predicate_the_words_do_not_speak_of_is_none_either() -> None:
    """As a small model gives both for a run."""
    assert choose_predicate("works_as", "works_at", "Nora runs on Tuesdays") == ""


def test_E25_words_of_one_quoted_for_what_another_told_are_refused() -> None:
    told = ["You would be great at it. By the way, look at this. [a photo of a lake at dusk]"]
    quoted = "I'm keen on working in a clinic."
    names = ["Rosa", "Ines"]
    assert is_from_other_speaker("Rosa shows a photo of a lake at dusk.", quoted, told, names)
    assert not is_from_other_speaker(
        "Rosa is keen on clinics and working there.", quoted, told, names
    )


def test_E25_an_answer_makes_a_claim_of_somebody_elses_question() -> None:
    asked = ["Nice! Did you paint the lake at dusk yourself?"]
    assert not is_from_other_speaker(
        "Rosa painted the lake at dusk herself.", "Yes!", asked, ["Rosa"]
    )


def test_E25_a_claim_in_words_nobody_used_is_not_anothers() -> None:
    told = ["We had soup and bread."]
    assert not is_from_other_speaker("Rosa gave notice.", "I quit!", told, ["Rosa"])


@pytest.mark.parametrize("said", ["Young one there now, Flood.", "You know the vet is Flood."])
def test_young_is_no_word_to_a_listener(said: str) -> None:
    assert is_attributable("Nora", said) is said.startswith("Young")


def test_a_relative_whom_one_goes_to_is_not_whom_the_words_tell_of() -> None:
    source = Utterance("t1", "马骁", "user", "端午回我妈那儿一碗面下去。", AT)
    told = ("马骁恢复吃面。", ["马骁"])
    assert not tells_of_somebody_of_theirs("马骁", source, source.text, *told)
    assert tells_of_somebody_of_theirs("马骁", source, "我妈那天吃了一碗面。", *told)


@pytest.mark.parametrize(
    ("claim", "said", "own"),
    [
        # The assistant repeats the number; its speaker told it first.
        ("Rosa's number is 07700 900154.", "oh, its 154 at the end", ["07700 900145 is my number"]),
        ("Rosa plays varsity basketball.", "made it", ["I play basketball"]),
        ("Rosa pays 612.50 each of the rent.", "and yes to 612.50.", []),
        ("王芳今年67岁。", "打错了，67", []),
    ],
)
def test_E25_what_the_speaker_told_before_is_not_anothers_whoever_repeats_it(
    claim: str, said: str, own: list[str]
) -> None:
    told = ["So number 07700, each with rent, varsity basketball number plays. 王芳今年76岁了。"]
    assert not is_from_other_speaker(claim, said, told, ["Rosa", "王芳"], own)
    assert is_from_other_speaker("Rosa plays varsity basketball.", "made it", told, ["Rosa"], [])


def test_of_a_whole_message_the_sentences_bear_on_a_claim_that_share_its_words() -> None:
    said = ["Hey Rosa!", "I ran a race for the hospice.", "It was cold.", "Will you come?"]
    assert select_bearing_sentences("Rosa ran a race for the hospice.", said, ["Rosa", "Ines"]) == [
        said[1]
    ]
    assert select_bearing_sentences("Rosa sleeps.", said, ["Rosa", "Ines"]) == []


@pytest.mark.parametrize(
    ("claim", "contradicts"),
    [
        ("Ines is starting a choir.", True),
        ("Rosa helps Ines with the choir.", False),
        ("Ines's sister is starting a choir.", False),
        ("She is starting a choir.", False),
    ],
)
def test_E13_a_claim_names_its_owner_or_nobody(claim: str, contradicts: bool) -> None:
    assert names_other_person(claim, "Rosa", ["Rosa", "Ines"]) is contradicts


def test_E25_what_i_did_for_our_good_is_mine() -> None:
    assert not is_attributable("Benjamin", "The race made me think about our minds.")
    assert is_attributable("Benjamin", "We painted our kitchen.")


@pytest.mark.parametrize(
    ("said", "claim", "theirs"),
    [
        ("My brother Otto lives in Leeds and is a carpenter.", "Nora lives in Leeds.", True),
        ("My brother Otto lives in Leeds.", "Nora's brother lives in Leeds.", False),
        ("My brother Otto lives in Leeds.", "Nora has a brother, who lives in Leeds.", False),
        ("My brother Otto lives in Leeds.", "Otto lives in Leeds, Nora said.", False),
        ("My brother and I live in Leeds.", "Nora lives in Leeds.", False),
        ("My wife is a nurse.", "Nora is married.", False),
        ("She's nine, and she has a kidney condition.", "Nora has a kidney condition.", True),
        ("She gave me her kidney.", "Nora got a kidney.", False),
        ("They promoted me to captain.", "Nora was promoted to captain.", False),
        ("我弟弟住在利兹。", "Nora住在利兹。", True),
        ("我弟弟住在利兹。", "Nora的弟弟住在利兹。", False),
        ("我和弟弟住在利兹。", "Nora住在利兹。", False),
    ],
)
def test_E25_what_is_told_of_ones_brother_is_not_ones_own(
    said: str, claim: str, theirs: bool
) -> None:
    source = Utterance("t1", "Nora", "user", said, AT)
    found = tells_of_somebody_of_theirs("Nora", source, said, claim, ["Nora", "Hub"])
    assert found is theirs
    assert not tells_of_somebody_of_theirs("Otto", source, said, claim, ["Nora", "Hub"])


@pytest.mark.parametrize(
    ("owner", "said", "may"),
    [
        ("Nora", "Running along the water sounds pleasant.", False),
        ("Nora", "Try the Alfama bars.", False),
        ("Nora", "Your flight is on Monday.", True),
        ("Nora", "Noted: Nora flies on Monday.", True),
        ("Hub", "Running along the water sounds pleasant.", True),
        ("Lisbon", "Lisbon has two bridges.", True),
        ("Nora", "听起来不错。", False),
        ("Nora", "你的航班是周一。", True),
    ],
)
def test_E26_an_assistants_remark_is_nobodys_memory(owner: str, said: str, may: bool) -> None:
    source = Utterance("t2", "Hub", "assistant", said, AT)
    assert may_be_of_listener(owner, source, said, said, ["Nora", "Hub"]) is may
    told = f"{owner} was told: {said}"
    assert may_be_of_listener(owner, source, said, told, ["Nora", "Hub"])


@pytest.mark.parametrize(
    ("owner", "said", "quote", "is_theirs"),
    [
        ("Nora", "what grades do you need, im 17", "17", True),
        ("Nora", "live up north, what do u make of it", "live up north", True),
        ("Nora", "Thank you but the test says 6.0", "the test says 6.0", True),
        ("Nora", "你帮我排个计划，84公斤，想减到78", "84公斤", True),
        ("Nora", "You look well, running again", "running again", False),
        ("Nora", "Lovely day, are you running again", "running again", False),
        ("Nora and Benjamin", "hall is booked", "hall is booked", True),
        ("Nora和Benjamin", "酒店订好了", "酒店订好了", True),
        ("Benjamin and Eva", "hall is booked", "hall is booked", False),
        ("Evaline", "She visits.", "She visits", True),
        ("Project Lantern", "We go live", "We go live", False),
    ],
)
def test_the_clause_that_is_quoted_says_whose_it_is(
    owner: str, said: str, quote: str, is_theirs: bool
) -> None:
    at = said.index(quote)
    clause = find_clause(said, at, at + len(quote))
    source = Utterance("t1", "Nora", "user", said, AT)
    assert may_be_about(owner, source, said, ["Nora", "Benjamin"], TALK, clause) is is_theirs


def test_a_clause_stands_between_its_marks() -> None:
    text = "I ran 3.5 km, then swam - far. 我搬家了，很累。"
    assert [find_clause(text, at, at + 2).strip() for at in map(text.index, ("3.5", "swam"))] == [
        "I ran 3.5 km",
        "then swam",
    ]
    assert find_clause(text, text.index("很累"), text.index("很累") + 2) == "很累"
