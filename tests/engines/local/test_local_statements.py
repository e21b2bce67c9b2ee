"""What people say to an assistant in their own words: without verbs, about things of theirs,
pointing back, in chat spelling; and what is over."""

from __future__ import annotations

import pytest

from memoryhub.engines.local import LocalEngine
from memoryhub.engines.local.claims.judgements import load_decider
from memoryhub.engines.types import Exchange, FactCandidate
from tests.engines.local.dialogue import make_utterances


def tell(text: str, asked: str = "Hello!", speaker: str = "user-31") -> tuple[FactCandidate, ...]:
    """The facts of what is said to an assistant after its `asked`."""
    history = make_utterances(("Hub", asked), role="assistant", first=100)
    exchange = Exchange(make_utterances((speaker, text)), history, (speaker,), speaker)
    return LocalEngine().extract_memories([exchange])[0].facts


def tell_texts(text: str, asked: str = "Hello!") -> list[str]:
    return [fact.text for fact in tell(text, asked)]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("landlord's called Osric", "user-31's landlord is called Osric."),
        ("new number's 07700 900333", "user-31's new number is 07700 900333."),
        ("rent is 640 a month", "user-31's rent is 640 a month."),
        ("my sister's got a kiln", "user-31's sister has got a kiln."),
        ("My sister's car is a Micra.", "user-31's sister's car is a Micra."),
        ("im back at my uncles farm", "user-31 is back at their uncles farm."),
        ("n im climbing 3x a week w tash", "user-31 is climbing 3x a week with tash."),
        ("Drive a Skoda.", "user-31 drives a Skoda."),
        ("They gave me an office in Ghent.", "They gave user-31 an office in Ghent."),
        ("Flat 6, 14 Cole Street.", "user-31: Flat 6, 14 Cole Street."),
        ("lease ends 31 may", "user-31's lease ends 31 May."),
    ],
)
def test_a_statement_stands_alone(text: str, told: str) -> None:
    assert tell_texts(text) == [told]


@pytest.mark.parametrize(
    "text",
    [
        "Wow, Nadia!",
        "Sure thing, Nadia.",
        "So stoked, Mel!",
        "That vase is awesome, Mel!",
        "Nah, I haven't.",
        "Here's a pic of my family skating on the lake.",
    ],
)
def test_what_is_only_said_to_somebody_is_no_fact(text: str) -> None:
    assert tell_texts(text) == []


def test_an_id_keeps_its_form() -> None:
    (fact,) = tell("I keep nine hens.")
    assert (fact.owner, fact.text) == ("user-31", "user-31 keeps nine hens.")


@pytest.mark.parametrize(
    ("text", "asked", "told"),
    [
        ("It's in Lagos.", "Where's the wedding?", "The wedding is in Lagos."),
        ("Six thirty.", "When does practice start?", "user-31's practice starts six thirty."),
        ("yes", "Does Rex eat fish?", "Rex eats fish."),
        ("He left in March.", "Is your brother still there?", "user-31's brother left in March."),
        (
            "1000 now",
            "How much metformin?",
            'Asked "How much metformin?", user-31 said: 1000 now.',
        ),
    ],
)
def test_an_answer_is_told_with_what_was_asked(text: str, asked: str, told: str) -> None:
    assert told.casefold() in [each.casefold() for each in tell_texts(text, asked)]


def test_what_is_told_beside_a_question_is_told() -> None:
    assert tell_texts("I just got a job at Volta, can you believe it?") == [
        "user-31 just got a job at Volta."
    ]


@pytest.mark.parametrize(
    "text",
    [
        "my uncle says i'm moving to Peru",
        "everyone reckons I'll end up a nun",
        "A man on the bus yelled 'marry me quick'.",
        "We've split the atom. The bill, I mean!",
        "keep track of it please",
        "might buy a castle and sell only soup",
    ],
)
def test_what_is_not_asserted_is_not_read(text: str) -> None:
    assert [fact for fact in tell(text) if fact.polarity == "holds"] == []


@pytest.mark.parametrize(
    "text",
    [
        "got the sack from the cannery",
        "me and Olga are done",
        "Sold the caravan to a neighbour.",
        "I've left the choir.",
        "cancelled the gym in May",
        "No more cigarettes since Easter.",
        "the band broke up",
    ],
)
def test_what_is_over_has_ended(text: str) -> None:
    assert "ended" in {fact.polarity for fact in tell(text)}


@pytest.mark.parametrize(
    "text", ["I joined the choir.", "I adopted two hens.", "My aunt works at the harbour."]
)
def test_what_begins_or_lasts_has_not_ended(text: str) -> None:
    assert {fact.polarity for fact in tell(text)} == {"holds"}


def test_deciders_come_with_their_scores() -> None:
    for name in ("worth", "ended"):
        decider = load_decider(name)
        assert decider.vector.shape == (384,)
        assert 0 < decider.bar < 1


@pytest.mark.parametrize(
    "text", ["Zofia banks with Contoso.", "Zofia sold her kayak.", "Zofia dislikes coriander."]
)
def test_what_a_name_does_is_told_of_who_bears_it(text: str) -> None:
    (fact,) = tell(text)
    assert (fact.owner, fact.text) == ("Zofia", text)


def test_a_long_text_of_fragments_is_read_in_time_with_its_length() -> None:
    text = "12 red hens, 4 boats. its grand n im off. " * 1_200
    for fact in tell(text):
        (source,) = fact.sources
        assert 0 <= source.start < source.end <= len(text)


@pytest.mark.parametrize(
    ("said", "facts"),
    [
        ("Hello from Spain. I moved to Madrid.", ["Ana moved to Madrid."]),
        ("One thing. I moved to Madrid.", ["Ana moved to Madrid."]),
        ("I live in Faro. Rita filmed it and sent it to the whole town.", ["Ana lives in Faro."]),
    ],
)
def test_greetings_and_what_another_did_are_no_fragments_of_ones_own(
    said: str, facts: list[str]
) -> None:
    assert [fact.text for fact in tell(said, speaker="Ana")] == facts
