"""What people type in a hurry: without apostrophes and capitals, shouted, with "btw" in the middle;
and what they tell there of jobs, medicine and what is done in place of something else."""

from __future__ import annotations

import pytest

from memoryhub.engines.types import Exchange, FactCandidate
from tests.engines.local.dialogue import ENGINE, make_utterances
from tests.engines.local.test_local_statements import tell, tell_texts


def tell_knowing(text: str, *names: str) -> list[FactCandidate]:
    """What is told where these people are known already."""
    said = make_utterances(("user-31", text))
    exchange = Exchange(said, (), ("user-31",), "user-31", names=names)
    return list(ENGINE.extract_memories([exchange])[0].facts)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("GOT THE JOB!!!", "User-31 got the job."),
        ("IM MOVING TO LEEDS", "User-31 is moving to Leeds."),
        ("were moving to Hull in spring", "User-31 and others are moving to Hull in spring."),
        (
            "my mums in hospital with a broken hip",
            "User-31's mum is in hospital with a broken hip.",
        ),
        ("ill be in Cork all week", "User-31 will be in Cork all week."),
        ("ive stopped vaping btw, 9 days", "User-31 has stopped vaping, 9 days."),
        ("sorry the wedding is in Bath", "User-31's wedding is in Bath."),
        ("no wait my sister turned 30 last week", "User-31's sister turned 30 last week."),
        ("I'm a baker at Doughty's rn", "User-31 is a baker at Doughty's now."),
        ("my son has asthma and the nurse gave him a spacer", "User-31's son has asthma."),
        ("I have type 2 diabetes", "User-31 has type 2 diabetes."),
        ("maternity leave from 20 may", "User-31: maternity leave from 20 May."),
        ("good news Amara starts Monday", "Amara starts Monday."),
        ("big news - im pregnant", "User-31 is pregnant."),
        ("my mums car broke down", "User-31's mum's car broke down."),
        ("mr allen retired in july", "Mr Allen retired in July."),
        ("mam is back home in neath", "User-31's mam is back home in Neath."),
        ("my cousin dani works for asda", "User-31's cousin Dani works for Asda."),
        ("amina's swimming is on thursdays", "Amina's swimming is on thursdays."),
        ("Jayden's left, he wants to be a vet", "Jayden has left."),
        ("Nana's painted the fence", "User-31's Nana has painted the fence."),
        ("diagnosed with coeliac in march", "User-31 was diagnosed with coeliac in March."),
        (
            "the physio offered me a belt but I said no",
            "User-31's physio offered User-31 a belt, but User-31 said no.",
        ),
        (
            "my cousin offered me a job in his garage but i turned it down",
            "User-31's cousin offered User-31 a job in his garage, but User-31 turned it down.",
        ),
    ],
)
def test_what_is_typed_in_a_hurry_is_read(text: str, told: str) -> None:
    assert told.lower() in [each.lower() for each in tell_texts(text)]


@pytest.mark.parametrize(
    ("text", "untold"),
    [
        ("The dog hurt its back.", "is back"),
        ("My gran was ill last week.", "will"),
        ("The kids were sleeping when I got in.", "we"),
        ("I sent it to HR and IT and QA.", "hr "),
        ("We met two mums in the park.", "mum is"),
        ("Good news is hard to find in Leeds.", "user-31: is"),
        ("dad literaly cried at work", "literaly is"),
        ("The shop's left open at night.", "has left"),
        ("Tom's given a raise every year.", "has given"),
        ("Amina's swimming in the sea.", "amina's"),
    ],
)
def test_what_only_looks_like_it_stays(text: str, untold: str) -> None:
    assert not [each for each in tell_texts(text) if f" {untold} " in each.replace(".", " ")]


def test_a_known_name_is_one_however_it_is_typed() -> None:
    told = tell_knowing("fergus kept the car. no will to cook", "Fergus", "Will")
    assert ("Fergus", "Fergus kept the car.") in [(each.owner, each.text) for each in told]
    assert "Will" not in [each.owner for each in told]


def test_a_name_written_with_its_capital_before_is_known() -> None:
    told = tell("I share a flat with Fergus. fergus broke the oven yesterday")
    assert "Fergus" in [each.owner for each in told]


@pytest.mark.parametrize(
    ("text", "key", "value"),
    [
        ("laid off today", "works_as", ""),
        ("I was let go from Harlow Labs yesterday", "works_at", "Harlow Labs"),
        ("sent in my resignation this morning", "works_as", ""),
        ("I emailed my resignation letter to the head", "works_as", ""),
    ],
)
def test_a_job_given_up_by_letter_or_lost_is_over(text: str, key: str, value: str) -> None:
    (over,) = (each for each in tell(text) if each.predicate_key)
    assert (over.predicate_key, over.object, over.polarity) == (key, value, "ended")


@pytest.mark.parametrize(
    "text",
    [
        "I have to write my resignation letter",
        "We gave notice on the flat",
        "I nearly got fired",
        "I got fired up for the match",
        "The club laid off half the team",
    ],
)
def test_what_ends_no_job(text: str) -> None:
    assert not [each for each in tell(text) if each.predicate_key.startswith("works")]


@pytest.mark.parametrize(
    ("text", "key", "value", "polarity"),
    [
        ("starting 1 december at Saltmarsh", "works_at", "Saltmarsh", "planned"),
        ("I work at a startup called Lumenly", "works_at", "Lumenly", "holds"),
        ("got promoted! senior analyst now", "works_as", "senior analyst", "holds"),
        ("im Bea, 34, mum of two, live in Truro", "lives_in", "Truro", "holds"),
        ("My brother works at Aldi until the end of August", "works_at", "Aldi", "holds"),
    ],
)
def test_jobs_and_homes_told_on_the_way(text: str, key: str, value: str, polarity: str) -> None:
    told = [(e.predicate_key, e.object or e.complement, e.polarity) for e in tell(text)]
    assert (key, value, polarity) in told


@pytest.mark.parametrize(
    ("text", "now", "over"),
    [
        (
            "I take the 16 instead of the 49 now",
            "User-31 takes the 16 instead of the 49 now.",
            "User-31 does not take the 49 any more.",
        ),
        (
            "these days I'm fine. I now cycle to work instead of driving",
            "User-31 now cycles to work instead of driving.",
            "User-31 does not drive any more.",
        ),
        (
            "The doctor stopped the ramipril and put me on amlodipine",
            "User-31 takes amlodipine now.",
            "User-31 does not take ramipril any more.",
        ),
        (
            "my gp switched me from citalopram to sertraline",
            "User-31 takes sertraline now.",
            "User-31 does not take citalopram any more.",
        ),
        (
            "melatonin gave me odd dreams so i quit taking it",
            "Melatonin gave User-31 odd dreams.",
            "User-31 stopped taking melatonin.",
        ),
    ],
)
def test_what_is_done_in_place_of_something_ends_that(text: str, now: str, over: str) -> None:
    told = {each.text.lower(): each.polarity for each in tell(text)}
    assert now.lower() in told
    assert told[over.lower()] == "ended"


@pytest.mark.parametrize(
    "text",
    [
        "I took the bus instead of the train yesterday",
        "I would take the 16 instead of the 49 now",
        "My manager put me on nights",
        "The doctor put me on hold",
    ],
)
def test_what_was_done_once_or_by_another_ends_nothing(text: str) -> None:
    told = tell_texts(text)
    assert not [each for each in told if "any more" in each or each.endswith(" now.")]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("found a new flatmate, Noor, she's a nurse", "User-31's flatmate is Noor now."),
        ("got a dog from the shelter, named her Biscuit", "User-31's dog is called Biscuit."),
    ],
)
def test_who_is_new_is_known_by_name_without_an_i(text: str, told: str) -> None:
    assert told.lower() in [each.lower() for each in tell_texts(text)]


@pytest.mark.parametrize(
    ("text", "key", "value"),
    [
        ("i start at northfold on monday", "works_at", "Northfold"),
        ("i work at brightwell as a joiner", "works_at", "Brightwell"),
        ("ive moved to cardiff", "lives_in", "Cardiff"),
        ("26, barista in tucson, saving up for a car", "works_as", "barista"),
        ("58, long haul trucker out of Amarillo, one dog, Waylon", "lives_in", "Amarillo"),
        ("Hi there, Priya, UX designer at Lumo in Pune.", "works_at", "Lumo"),
        ("fav food is poutine", "favourite_food", "poutine"),
    ],
)
def test_names_in_small_letters_and_few_words_are_read(text: str, key: str, value: str) -> None:
    found = {f.predicate_key: f.object or f.complement for f in tell(text)}
    assert found.get(key) == value


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (
            "im 21, in guelph, stocking shelves at zehrs",
            ["is 21 years old", "lives in Guelph", "is stocking shelves at Zehrs"],
        ),
        ("I'm 28, single, two cats", ["is 28 years old", "is single", "has two cats"]),
        (
            "I'm 34, live in Leeds, work at Asda",
            ["is 34 years old", "lives in Leeds", "works at Asda"],
        ),
        ("I'm 40, in debt, drinking too much", ["is 40, in debt, drinking too much"]),
    ],
)
def test_what_somebody_is_one_behind_the_other_is_a_fact_each(text: str, told: list[str]) -> None:
    assert [each.lower() for each in tell_texts(text)] == [f"user-31 {t}.".lower() for t in told]


@pytest.mark.parametrize(
    "text",
    [
        "moved to pilates on thursdays",
        "Choir has moved to Thursdays.",
        "Our firm has moved to Leeds.",
        "We moved into a meeting room in Leeds.",
        "I almost moved to Leeds.",
    ],
)
def test_what_moves_there_is_not_always_somebody_s_home(text: str) -> None:
    assert not [f for f in tell(text) if f.predicate_key == "lives_in"]


@pytest.mark.parametrize("text", ["I nearly quit my job today", "we almost sold the house"])
def test_what_nearly_happened_ended_nothing(text: str) -> None:
    (found,) = tell(text)
    assert (found.polarity, found.predicate_key) == ("holds", "")


@pytest.mark.parametrize(
    "text",
    [
        "a chap came about a heat pump, I said I'd think. It's a lot of money",
        "my mam wants to come for her 60th, I said I'd do her the duck",
        "140 kilos. the doctor said a number and I said no",
    ],
)
def test_what_one_said_oneself_behind_a_comma_is_read_over(text: str) -> None:
    """It says of nobody else what they say, wherever its clause begins."""
    assert not any("said" in told for told in tell_texts(text))
