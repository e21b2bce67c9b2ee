"""How people introduce themselves and who belongs to them, and what a first message tells beside
it: trade and town in a list, a pet by its name, a rent, a first day at work, a child just born."""

from __future__ import annotations

import pytest

from memoryhub.engines.local.attribution.own_names import find_introduced_name
from tests.engines.local.test_local_statements import tell, tell_texts


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("I'm Ned, 47, welder in Goole.", ["is a welder", "lives in Goole", "is 47 years old"]),
        ("im tess 31 chef in bristol", ["is a chef", "lives in Bristol", "is 31 years old"]),
        ("Hi, Moira here, 58, librarian, based in Wick.", ["is a librarian", "lives in Wick"]),
        ("I'm Ines, a baker from Porto, two kids.", ["is a baker", "is from Porto"]),
    ],
)
def test_who_somebody_is_stands_in_a_list(text: str, told: list[str]) -> None:
    found = tell_texts(text)
    assert [f"user-31 {each}." for each in told if f"user-31 {each}." not in found] == []
    assert not [each for each in found if each.startswith(("user-31 is Ned", "user-31 is tess"))]


@pytest.mark.parametrize(
    "text",
    [
        "I'm tired, nurse in training is no joke.",
        "im down 12 kilos, trainer in the gym helped",
        "I'm Ned, chef's kiss in every way.",
    ],
)
def test_what_only_looks_like_a_trade_is_none(text: str) -> None:
    assert not [each for each in tell(text) if each.predicate_key == "works_as"]


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("I'm Ned, 47, welder in Goole.", "Ned"),
        ("im tess, 31, chef", "Tess"),
        ("Hello, Moira here, based in Wick", "Moira"),
        ("I'm tired, 12 hours on my feet", ""),
        ("I'm there, 10 minutes", ""),
        ("Spring is here, finally", ""),
    ],
)
def test_a_name_before_an_age_is_ones_own(text: str, name: str) -> None:
    assert find_introduced_name(text) == name


def test_where_somebody_lives_is_one_fact_and_with_whom_another() -> None:
    told = tell("I live in Selby with my husband Raj and our dog Pepper.")
    homes = [each for each in told if each.predicate_key == "lives_in"]
    assert [(each.text, each.object) for each in homes] == [("user-31 lives in Selby.", "Selby")]
    beside = [each.text for each in told if each.verb == "lives with"]
    assert beside == ["user-31 lives with their husband Raj and their dog Pepper."]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("my cat pickle hates the vet", "Pickle is user-31's cat."),
        ("at home with our dog muffin.", "Muffin is user-31's dog."),
    ],
)
def test_a_pet_is_named_in_small_letters(text: str, told: str) -> None:
    assert told.lower() in [each.lower() for each in tell_texts(text)]


@pytest.mark.parametrize("text", ["the dog bowl is cracked", "my cat food is gone", "my dog park"])
def test_a_thing_for_a_pet_is_no_name(text: str) -> None:
    assert not [each for each in tell(text) if each.owner.lower() in ("bowl", "food", "park")]


def test_what_a_home_costs_is_told_behind_it() -> None:
    assert "user-31's rent is 740 a month." in tell_texts("Found a flat in Goole! 740 a month.")
    assert "user-31's rent is £95 a week." in tell_texts("got the room. it's £95 a week")
    assert not [each for each in tell_texts("We bought a flat. 740 a month.") if "rent" in each]
    assert not [each for each in tell_texts("New phone today. 30 a month.") if "rent" in each]


def test_what_came_after_what_one_is_sick_of_is_told_with_it() -> None:
    told = tell_texts("also officially sick of poutine, its all ramen now")
    assert told == ["user-31 is officially sick of poutine, and it is all ramen now."]


def test_a_first_day_at_work_leaves_what_stands_behind_it() -> None:
    told = tell_texts("first day at saltworks done, my manager is called Ines, seems kind")
    assert "user-31 started working at Saltworks today." in told
    assert "user-31's manager is called Ines." in told


def test_notice_that_was_given_ends_a_job_whatever_begins_next() -> None:
    told = tell("handed in my notice today, starting at Saltworks as a buyer on 2 november")
    assert [(each.predicate_key, each.polarity) for each in told] == [
        ("works_as", "ended"),
        ("works_at", "planned"),
    ]


def test_a_post_at_a_firm_in_small_letters_is_a_job() -> None:
    told = tell("starting at saltworks as a tester on 2 november")
    assert {each.predicate_key for each in told} == {"works_at", "works_as"}
    assert {each.polarity for each in told} == {"planned"}


def test_whose_child_was_born_is_told() -> None:
    told = tell_texts("My sister Greta had her baby on Sunday, a girl called Ottilie.")
    assert "Ottilie is user-31's sister Greta's daughter." in told
    assert "Rex is user-31's son." in tell_texts("We had a baby boy last night, named him Rex!")


@pytest.mark.parametrize(
    ("text", "ended", "taken"),
    [
        (
            "Ramipril gives me a cough so they've switched me to losartan.",
            "user-31 does not take ramipril any more.",
            "user-31 takes losartan now.",
        ),
        ("they switched me from sertraline to fluoxetine", "sertraline any more", "fluoxetine now"),
    ],
)
def test_one_medicine_takes_the_place_of_another(text: str, ended: str, taken: str) -> None:
    told = tell_texts(text)
    assert [each for each in told if ended in each]
    assert [each for each in told if taken in each]


def test_a_doctor_is_no_medicine_that_ends() -> None:
    told = tell_texts("The doctor was great and switched me to losartan.")
    assert not [each for each in told if "any more" in each]


def test_a_shift_that_somebody_is_put_on_is_no_medicine() -> None:
    assert not [each for each in tell_texts("they switched me to nights") if "takes" in each]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (
            "there's four of us, me, my husband and the two girls, Nell 8 and Ivy 2",
            ["Nell is 8 years old.", "Ivy is 2 years old.", "Nell is user-31's daughter."],
        ),
        ("my kids Sam 4, Lena 9 and Jo 12 all swim", ["Lena is 9 years old."]),
    ],
)
def test_children_are_listed_with_their_ages(text: str, told: list[str]) -> None:
    found = tell_texts(text)
    assert [each for each in told if each not in found] == []


@pytest.mark.parametrize(
    "text", ["my kids are in Year 3 and Year 5", "the boys play on May 7 and June 3"]
)
def test_numbers_beside_children_may_be_no_ages(text: str) -> None:
    assert not [each for each in tell(text) if each.predicate_key == "age"]


def test_whom_somebody_met_is_told_by_name_with_what_they_are() -> None:
    found = tell_texts("Met someone, her name is Ciara, she's a vet nurse from Sligo")
    assert found == ["user-31 met Ciara.", "Ciara is a vet nurse from Sligo."]
    seeing = tell_texts("been seeing a guy called Ewan, he's a chef")
    assert seeing == ["user-31 is seeing Ewan.", "Ewan is a chef."]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (
            "Dr Rahman is retiring. The new one is a young woman, Dr Bell, very thorough.",
            "user-31's doctor is Dr Bell now.",
        ),
        (
            "My landlord sold up. The new one is called Mr Byrne.",
            "user-31's landlord is Mr Byrne now.",
        ),
        (
            "Ivor has a new number, it is 01632 960 199.",
            "Ivor's phone number is 01632 960 199 now.",
        ),
        (
            "my sister's got a new email, it's tess.w@mailbox.example",
            "user-31's sister's email is tess.w@mailbox.example now.",
        ),
        ("me and samira made it official last week", "user-31 is dating Samira."),
    ],
)
def test_who_or_what_is_new_is_told_of_its_owner(text: str, told: str) -> None:
    assert told in tell_texts(text)


@pytest.mark.parametrize(
    "text",
    [
        "my old phone died. the new one is a Pixel",
        "we made it official with the bank",
        "My boss is leaving. The new one starts in May.",
    ],
)
def test_what_is_new_may_be_nobody(text: str) -> None:
    found = tell_texts(text)
    assert not [each for each in found if "new user-31" in each or "dating" in each]
    assert not [each for each in found if "boss is" in each and "leaving" not in each]
