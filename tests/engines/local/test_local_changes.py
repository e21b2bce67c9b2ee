"""What changes in a life: values that can be compared, ended, put right, and whose they are."""

from __future__ import annotations

from datetime import UTC, date, datetime

import pytest

from memoryhub.engines.types import Exchange, FactCandidate, Utterance
from tests.engines.local.dialogue import (
    ENGINE,
    construct_lines,
    make_utterances,
    read_fact_texts,
    read_facts,
    read_only_fact,
)


def get_value(found: FactCandidate) -> str:
    return found.object or found.complement


# Values


@pytest.mark.parametrize(
    ("text", "key", "expected"),
    [
        ("I live in Turin, ten minutes from the opera.", "lives_in", "Turin"),
        ("I'm a bassoon teacher.", "works_as", "bassoon teacher"),
        ("I work as a nurse in a small clinic.", "works_as", "nurse"),
        ("My favourite soup is minestrone now.", "favourite_soup", "minestrone"),
        ("I turned forty-one on Sunday.", "age", "41"),
        ("I'm 41 years old.", "age", "41"),
        ("My niece is seven.", "age", "7"),
        ("Ella is 7 years old.", "age", "7"),
        ("We live at 27 Quince Lane, second floor.", "address", "27 Quince Lane"),
        ("My address is 9 Ferry Road.", "address", "9 Ferry Road"),
        ("My interview is on Tuesday.", "scheduled_interview", "Tuesday"),
        ("Tom and I separated.", "marital_status", "separated"),
        ("The divorce was final last Monday.", "marital_status", "divorced"),
        ("I got married in June.", "marital_status", "married"),
    ],
)
def test_a_single_value_stands_in_its_slot(text: str, key: str, expected: str) -> None:
    found = read_only_fact(text)
    assert (found.predicate_key, found.cardinality) == (key, "single")
    assert get_value(found) == expected


def test_the_text_keeps_what_the_value_leaves_out() -> None:
    assert read_fact_texts("I live in Turin, ten minutes from the opera.") == [
        "Ana lives in Turin, ten minutes from the opera."
    ]


def test_an_address_is_no_city() -> None:
    assert read_only_fact("I live at 27 Quince Lane.").predicate_key == "address"


def test_moving_out_ends_an_address() -> None:
    found = read_only_fact("I moved out two weeks ago.")
    assert (found.predicate_key, found.polarity) == ("address", "ended")


@pytest.mark.parametrize(
    ("text", "role", "firm"),
    [
        ("I work as a route planner at Dove Parcels, and I sing.", "route planner", "Dove Parcels"),
        ("I teach drawing at Alder School.", "teacher", "Alder School"),
        ("I work at Dove Parcels as an engineer.", "engineer", "Dove Parcels"),
        ("I became a nurse at Elm Clinic last May.", "nurse", "Elm Clinic"),
    ],
)
def test_a_role_at_a_firm_is_two_facts(text: str, role: str, firm: str) -> None:
    found = {f.predicate_key: get_value(f) for f in read_facts(text)}
    assert (found["works_as"], found["works_at"]) == (role, firm)


@pytest.mark.parametrize(
    "text", ["I gave notice at Dove Parcels last Friday.", "I quit my job at Dove Parcels."]
)
def test_leaving_an_employer_ends_it(text: str) -> None:
    found = read_only_fact(text)
    assert (found.predicate_key, get_value(found)) == ("works_at", "Dove Parcels")
    assert found.polarity == "ended"


def test_a_job_left_without_saying_which_is_whichever_was_held() -> None:
    found = read_only_fact("I quit my job.")
    assert (found.predicate_key, found.polarity, get_value(found)) == ("works_as", "ended", "")


# Habits and belongings


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("I drink coffee.", "I no longer drink coffee."),
        ("I drink coffee every morning.", "I stopped drinking coffee ten days ago."),
        ("I drink coffee.", "I gave up coffee."),
        ("I'm allergic to shellfish.", "I'm not allergic to shellfish anymore."),
        ("I own a red scooter.", "I sold the scooter in March."),
        ("I play the oboe.", "I used to play the oboe."),
    ],
)
def test_what_ends_has_the_key_and_value_of_what_held(before: str, after: str) -> None:
    old, new = read_only_fact(before), read_only_fact(after)
    assert old.predicate_key
    assert (old.predicate_key, get_value(old)) == (new.predicate_key, get_value(new))
    assert (old.polarity, new.polarity) == ("holds", "ended")
    assert (old.cardinality, new.cardinality) == ("multi", "multi")


def test_one_meal_is_no_habit() -> None:
    assert read_only_fact("I ate an omelette yesterday.").predicate_key == ""


def test_selling_what_one_makes_ends_nothing() -> None:
    assert read_only_fact("I sold twelve paintings yesterday.").polarity == "holds"


def test_said_again_it_is_the_same_sentence() -> None:
    assert read_fact_texts("I drink two beers a day.") == read_fact_texts(
        "I still drink two beers a day."
    )
    assert "Ana bakes bread every Sunday." in read_fact_texts(
        "I bake bread every Sunday, I may have told you."
    )


# Times


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("I signed up for the regatta in Split on 6 December.", date(2024, 12, 6)),
        ("I registered for the regatta on 9 June.", date(2024, 6, 9)),
        ("I bought tickets for the play on 2 July.", date(2024, 7, 2)),
        ("I booked a cabin on Monday.", date(2024, 5, 13)),
        ("I sailed to Split on 6 December.", date(2023, 12, 6)),
    ],
)
def test_what_is_arranged_lies_ahead(text: str, day: date) -> None:
    event = read_only_fact(text).event
    assert event is not None
    assert event.start.date() == day


@pytest.mark.parametrize("text", ["I swim every Tuesday and Friday.", "I bake pies every Sunday."])
def test_what_comes_round_is_no_date(text: str) -> None:
    found = read_only_fact(text)
    assert (found.event, found.polarity) == (None, "holds")


def test_a_present_state_is_not_of_the_past_time_beside_it() -> None:
    moved, sore = read_facts(
        "I moved to Ghent last Saturday and I have a sore back from the boxes."
    )
    assert moved.event is not None
    assert sore.event is None


# Corrections and reports


def test_a_correction_states_the_new_day_and_guesses_no_date() -> None:
    found = read_only_fact("Actually my audition was on Thursday, not Friday.")
    assert (found.correction, found.polarity) == (True, "holds")
    assert (found.verb, found.event) == ("was", None)


def test_a_correction_that_names_somebody_puts_right_what_was_said_of_them() -> None:
    before = (("Ana", "My nephews are sweet. Otis is 4."), ("Ana", "Wren is 4 too."))
    found = construct_lines(("Ana", "Sorry, I got it wrong, Otis is 5 and not 4."), before=before)
    assert [(fact.text, fact.correction) for fact in found.facts] == [("Otis is 5.", True)]


@pytest.mark.parametrize(
    "text",
    [
        "I told you I saw the play on a Monday.",
        "My cousin thinks I'm a pirate with a good heart.",
        "I've got one.",
    ],
)
def test_no_facts_of_talk_and_others_opinions(text: str) -> None:
    assert all("pirate" not in found and "play" not in found for found in read_fact_texts(text))


def test_an_announcement_is_left_out() -> None:
    assert read_fact_texts("I decided: I joined the choir in Ghent.") == [
        "Ana joined the choir in Ghent."
    ]


# Others


def test_she_is_the_relative_named_before_even_where_that_says_nothing() -> None:
    named, home, job = read_facts(
        "My sister Olga fixed it. She lives in Minsk and she is a nurse there."
    )
    assert {(f.owner, f.predicate_key) for f in (home, job)} == {
        ("Olga", "lives_in"),
        ("Olga", "works_as"),
    }
    assert named.text == "Olga is Ana's sister."


def test_he_is_whom_the_question_named() -> None:
    made = construct_lines(
        ("Ana", "No, he moved to Riga in April."), before=(("Ben", "Is Oleg in Paris?"),)
    )
    assert [(f.owner, f.predicate_key, f.text) for f in made.facts] == [
        ("Oleg", "lives_in", "Oleg moved to Riga in April.")
    ]


def test_of_two_people_neither_is_guessed() -> None:
    before = (("Ben", "Did Oleg see Ivan?"),)
    told = construct_lines(("Ana", "Yes. He lives in Riga."), before=before).facts
    assert [fact.text for fact in told] == ["Oleg saw Ivan."]


def test_one_stands_for_what_was_asked() -> None:
    made = construct_lines(
        ("Ana", "Yes, a tiny one in Ghent."), before=(("Ben", "Do you have a workshop?"),)
    )
    assert [f.text for f in made.facts] == ["Ana has a tiny workshop in Ghent."]


@pytest.mark.parametrize(
    "text",
    [
        "From amber to jade, noted.",
        "I will remember the date.",
        "I have changed both entries.",
        "Orange is a brave colour.",
    ],
)
def test_an_assistants_service_is_no_fact(text: str) -> None:
    assert (
        ENGINE.extract_memories([Exchange(make_utterances(("Hub", text), role="assistant"))])[
            0
        ].facts
        == ()
    )


@pytest.mark.parametrize(
    "text", ["I'm fifty-fifty about the trip.", "I'm 100 percent in.", "My score was nine."]
)
def test_not_every_number_is_an_age(text: str) -> None:
    assert all(found.predicate_key != "age" for found in read_facts(text))


def test_what_is_only_considered_is_no_fact() -> None:
    assert read_fact_texts("I like the choir, so maybe we can sing together in Ghent.") == [
        "Ana likes the choir."
    ]


def test_a_clipped_has_is_no_is() -> None:
    (told,) = read_fact_texts("My uncle's been in hospital since March.")
    assert told == "Ana's uncle has been in hospital since March."


def test_a_wish_beside_it_goes_without_what_it_points_at() -> None:
    assert read_fact_texts("I'm reading a book on sails and hoping it'll give me ideas.") == [
        "Ana is reading a book on sails."
    ]


def test_wanna_is_two_words() -> None:
    assert read_fact_texts("I wanna try sailing in June.") == ["Ana wants to try sailing in June."]


def test_a_wish_to_forget_is_kept_beside_a_fact() -> None:
    at = datetime(2026, 3, 4, 18, tzinfo=UTC)
    words = "I live in Rome. Please delete my address."
    exchange = Exchange([Utterance("t1", "Ana", "user", words, at)], participants=["Ana"])
    (built,) = ENGINE.extract_memories([exchange])
    assert built.speech_acts["t1"] == "forget"
    assert [fact.object for fact in built.facts] == ["Rome"]
