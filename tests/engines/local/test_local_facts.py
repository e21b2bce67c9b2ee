"""What becomes a fact: five patterns, who it is about, what it says, and what is left out."""

from __future__ import annotations

import pytest

from memoryhub.engines.types import Exchange
from tests.engines.local.dialogue import (
    ENGINE,
    construct_lines,
    make_utterances,
    read_fact_texts,
    read_facts,
    read_only_fact,
)

# The five patterns


def test_a_verb_without_object() -> None:
    found = read_only_fact("My brother sleeps badly since March.")
    assert (found.pattern, found.subject) == ("SV", "Ana's brother")


def test_verb_and_object() -> None:
    found = read_only_fact("I adopted a greyhound.")
    assert (found.pattern, found.subject, found.verb, found.object) == (
        "SVO",
        "Ana",
        "adopted",
        "a greyhound",
    )


def test_a_prepositional_object_is_an_object() -> None:
    found = read_only_fact("I moved to Lisbon last week.")
    assert (found.pattern, found.verb, found.object) == ("SVO", "moved to", "Lisbon")
    assert found.text == "Ana moved to Lisbon last week."


def test_verb_and_complement() -> None:
    found = read_only_fact("My sister is a beekeeper.")
    assert (found.pattern, found.verb, found.complement) == ("SVC", "is", "a beekeeper")


def test_two_objects() -> None:
    found = read_only_fact("I gave my nephew a telescope.")
    assert (found.pattern, found.object, found.indirect_object) == (
        "SVOO",
        "a telescope",
        "their nephew",
    )


@pytest.mark.parametrize(
    ("text", "thing", "made"),
    [
        ("I painted the kitchen yellow.", "the kitchen", "yellow"),
        ("I named my boat Biscuit.", "their boat", "Biscuit"),
        ("My team elected me captain.", "Ana", "captain"),
    ],
)
def test_object_and_complement(text: str, thing: str, made: str) -> None:
    found = read_only_fact(text)
    assert (found.pattern, found.object, found.complement) == ("SVOC", thing, made)


# Who it is about


def test_i_is_the_speaker_and_not_the_account_holder() -> None:
    found = read_only_fact("I bought a cello.", speaker="Ben")
    assert (found.owner, found.speaker, found.text) == ("Ben", "Ben", "Ben bought a cello.")


def test_my_goes_to_the_speaker_without_guessing_a_gender() -> None:
    assert read_fact_texts("I took my kids to the zoo.") == ["Ana took their kids to the zoo."]


def test_the_verb_agrees_with_the_name() -> None:
    assert read_fact_texts("I've got two rabbits.") == ["Ana has got two rabbits."]
    assert read_fact_texts("I'm learning Finnish.") == ["Ana is learning Finnish."]
    assert read_fact_texts("I teach chemistry.") == ["Ana teaches chemistry."]


def test_a_left_out_subject_is_the_speaker() -> None:
    assert read_fact_texts("Lost my job as a baker yesterday.") == [
        "Ana lost their job as a baker yesterday."
    ]
    assert read_fact_texts("Been to Oslo twice.") == ["Ana has been to Oslo twice."]
    assert read_fact_texts("Been learning Finnish lately.") == [
        "Ana has been learning Finnish lately."
    ]
    assert read_fact_texts("Gonna visit my aunt in Leeds next month.") == [
        "Ana is going to visit their aunt in Leeds next month."
    ]


def test_verbs_that_share_an_auxiliary_stay_together() -> None:
    assert read_fact_texts("I'm going to paint the fence and plant roses.") == [
        "Ana is going to paint the fence and plant roses."
    ]


def test_we_names_the_speaker_and_leaves_the_others_open() -> None:
    found = read_only_fact("We rented a cabin in Norway.")
    assert found.text == "Ana and others rented a cabin in Norway."
    assert found.owner == "Ana"


def test_you_is_the_other_when_only_one_can_be_meant() -> None:
    assert read_fact_texts("I met you at the chess club.") == ["Ana met Ben at the chess club."]


def test_you_is_nobody_when_several_listen() -> None:
    (found,) = ENGINE.extract_memories(
        [
            Exchange(
                make_utterances(("Ana", "I sent you a postcard from Crete.")),
                (),
                ("Ana", "Ben", "Cem"),
            )
        ]
    )
    assert all("Ben" not in f.text and "Cem" not in f.text for f in found.facts)


def test_a_relative_is_the_owner() -> None:
    found = read_only_fact("My sister works at the harbour.")
    assert (found.owner, found.text) == ("Ana's sister", "Ana's sister works at the harbour.")


def test_a_name_is_the_owner() -> None:
    assert read_only_fact("Maria moved to Porto.").owner == "Maria"


def test_she_is_the_one_person_spoken_of() -> None:
    assert (
        read_fact_texts("My sister is a vet. She works in Porto.")[1]
        == "Ana's sister works in Porto."
    )


def test_she_is_not_guessed_between_two() -> None:
    found = read_fact_texts("My sister is a vet. My mother is a pilot. She works in Porto.")
    assert len(found) == 2


# What is never guessed


@pytest.mark.parametrize(
    "text",
    ["It was built in Norway.", "They sell furniture.", "That costs forty euros.", "I bought it."],
)
def test_a_clause_about_it_is_dropped(text: str) -> None:
    assert read_facts(text) == ()


def test_a_coordinate_clause_about_it_is_told_along() -> None:
    found = read_only_fact("I joined a pottery class and it was relaxing.")
    assert found.text == "Ana joined a pottery class, and it was relaxing."
    assert (found.sources[0].start, found.sources[0].end) == (0, 44)


def test_a_part_that_points_elsewhere_is_cut() -> None:
    assert read_fact_texts("I planted tomatoes because of it.") == ["Ana planted tomatoes."]


def test_a_verb_that_would_be_left_hanging_is_dropped() -> None:
    assert read_fact_texts("I love watching them play.") == []


def test_a_side_clause_is_told_when_its_main_clause_cannot_be() -> None:
    assert read_fact_texts("It has been quiet since I moved to Ghent.") == ["Ana moved to Ghent."]
    assert read_fact_texts("This book I read last year reminds me of you.") == [
        "Ana read a book last year."
    ]
    assert read_fact_texts("Here's the cake I baked yesterday!") == [
        "Ana baked the cake yesterday."
    ]


# Polarity and kind


@pytest.mark.parametrize(
    ("text", "polarity"),
    [
        ("I eat meat.", "holds"),
        ("I hate not being at home on Sundays.", "holds"),
        ("I don't eat meat.", "denied"),
        ("I never eat meat.", "denied"),
        ("I have no siblings.", "denied"),
        ("I no longer live in Rome.", "ended"),
        ("I don't live in Rome anymore.", "ended"),
        ("I don't live in Rome any more.", "ended"),
        ("I quit smoking.", "ended"),
        ("I stopped eating meat.", "ended"),
        ("I gave up coffee.", "ended"),
        ("I used to work at Siemens.", "ended"),
        ("I will visit Peru.", "planned"),
        ("I'm going to buy a boat.", "planned"),
        ("I'm planning to study law.", "planned"),
        ("I'd love to learn Japanese.", "planned"),
        ("I have a dentist appointment on Friday.", "planned"),
        ("My flight got moved to the 29th.", "planned"),
        ("We pushed the wedding back to next June.", "planned"),
        ("I moved to Ghent last year.", "holds"),
    ],
)
def test_polarity(text: str, polarity: str) -> None:
    assert read_only_fact(text).polarity == polarity


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("I love opera.", "preference"),
        ("I visited Prague.", "event"),
        ("I have a tortoise.", "state"),
        ("I live in Turin.", "attribute"),
        ("I will visit Prague.", "plan"),
    ],
)
def test_kind(text: str, kind: str) -> None:
    assert read_only_fact(text).kind == kind


def test_past_forms_keep_their_form() -> None:
    assert read_fact_texts("I quit smoking.") == ["Ana quit smoking."]


# What asserts nothing


@pytest.mark.parametrize(
    "text",
    [
        "Did I move to Paris?",
        "where do you work",
        "If I won the lottery, I would buy a boat.",
        "I wish I had a garden.",
        "Maybe I will buy a boat.",
        "I might move to Spain.",
        'He said "I hate cheese".',
        "“I am the king of the world!”",
        "Thanks so much, that means a lot!",
        "You'd be a great teacher!",
        "I'm so proud of you!",
        "Keep going, you've got this!",
        "I admire your courage.",
        "Close the window.",
        "Good luck with the exam!",
        "ok",
        "",
        "   ",
        "?!…",
        "🎉🎉🎉",
    ],
)
def test_no_facts(text: str) -> None:
    assert read_facts(text) == ()


def test_a_fact_after_small_talk_is_found() -> None:
    assert read_fact_texts("Thanks, Ben! I started a course in robotics.") == [
        "Ana started a course in robotics."
    ]
    assert read_fact_texts("That's great, I bought a canoe yesterday.") == [
        "Ana bought a canoe yesterday."
    ]


def test_an_opinion_gives_way_to_what_it_is_about() -> None:
    found = read_only_fact("I think my brother needs glasses.")
    assert found.text == "Ana's brother needs glasses."


# Sources, times, odd input


def test_sources_point_at_the_words() -> None:
    text = "Hello there! 🎻 I play the violin, and I restore old clocks."
    for found in read_facts(text):
        (source,) = found.sources
        assert text[source.start : source.end].startswith("I ")
    assert len(read_facts(text)) == 2


def test_the_time_in_the_clause_is_the_event() -> None:
    found = read_only_fact("I adopted a cat in 2019.")
    assert found.event is not None
    assert (found.event.text, found.event.start.year) == ("2019", 2019)


def test_each_clause_gets_its_own_time() -> None:
    first, second = read_facts("I sold my car in March, and I bought a scooter yesterday.")
    assert first.event is not None
    assert second.event is not None
    assert (first.event.text, second.event.text) == ("March", "yesterday")


def test_a_time_before_several_clauses_is_theirs() -> None:
    first, second = read_facts("Yesterday I sold my car and bought a scooter.")
    assert first.event is not None
    assert second.event == first.event


def test_a_time_of_another_clause_is_not_borrowed() -> None:
    first, second = read_facts("I have no pets, but I will adopt a tortoise next month.")
    assert first.event is None
    assert second.event is not None


def test_emoji_and_curly_apostrophes_do_no_harm() -> None:
    assert read_fact_texts("I’m learning the harp 🎶🎶") == ["Ana is learning the harp."]


def test_a_very_long_text_is_read_to_its_end() -> None:
    text = "We talked and talked about nothing. " * 3_000 + "I bought a lighthouse."
    found = [f for f in read_facts(text) if "lighthouse" in f.text]
    (source,) = found[0].sources
    assert text[source.start : source.end] == "I bought a lighthouse"


def test_at_most_twenty_facts_of_an_exchange() -> None:
    text = " ".join(f"I bought {n} lamps." for n in range(2, 60))
    assert len(read_facts(text)) == 20


def test_what_an_assistant_says_of_itself_is_trusted_less() -> None:
    mine = read_only_fact("I speak Dutch.")
    (its,) = ENGINE.extract_memories(
        [Exchange(make_utterances(("Bot", "I speak Dutch."), role="assistant"))]
    )[0].facts
    assert its.owner == "Bot"
    assert its.confidence <= 0.5 < mine.confidence


@pytest.mark.parametrize("role", ["tool", "system"])
def test_documents_and_tools_state_nothing(role: str) -> None:
    exchange = Exchange(make_utterances(("doc", "I live in Rome."), role=role))  # type: ignore[arg-type]  # a role
    assert ENGINE.extract_memories([exchange])[0].facts == ()


def test_an_unknown_language_is_left_alone() -> None:
    found = construct_lines(
        ("Ana", "J'habite à Lyon avec ma femme et je travaille dans une banque.")
    )
    assert found.facts == ()


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("Seeing the sun dip behind the hills, it was so calm.", []),
        ("FYI, I finished another quilt.", ["Ana finished another quilt."]),
        (
            '"Clouds" by Ana Moura has a lot of meaning for me.',
            ['"Clouds" by Ana Moura has a lot of meaning for Ana.'],
        ),
        ("Thanks! They've been my rocks.", []),
    ],
)
def test_what_opens_a_sentence_is_not_taken_for_what_it_tells(text: str, told: list[str]) -> None:
    assert read_fact_texts(text) == told
