"""Verbs of a list and several things that somebody is are a fact each; openings as people type."""

from __future__ import annotations

import pytest

from tests.engines.local.test_local_statements import tell


@pytest.mark.parametrize(
    ("said", "told"),
    [
        (
            "I work at a bakery in Leeds and live with my brother.",
            ["works at a bakery in Leeds", "lives with their brother"],
        ),
        ("I bank with Nationwide and pay 900 rent", ["banks with Nationwide", "pays 900 rent"]),
        ("I like tea and hate coffee", ["likes tea", "hates coffee"]),
        (
            "I've moved to Lyon and work for a bank now",
            ["has moved to Lyon", "works for a bank now"],
        ),
        ("I have two kids and live in Oslo", ["has two kids", "lives in Oslo"]),
        (
            "lives in Hull, works at Asda and drives a Corsa",
            ["lives in Hull", "works at Asda", "drives a Corsa"],
        ),
        (
            "works as an engineer and retires in December",
            ["works as an engineer", "retires in December"],
        ),
        ("works at the factory mornings, needs a new coat", ["works at the factory mornings"]),
        ("I put the kettle on and cut the cake", ["put the kettle on", "cut the cake"]),
    ],
)
def test_each_verb_of_the_speaker_is_told_by_itself(said: str, told: list[str]) -> None:
    assert [fact.text for fact in tell(said)][: len(told)] == [f"user-31 {t}." for t in told]


@pytest.mark.parametrize(
    ("said", "told"),
    [
        (
            "My brother is a plumber and lives in Cork",
            ["user-31's brother is a plumber.", "user-31's brother lives in Cork."],
        ),
        (
            "My boss is Dana and hates lateness",
            ["user-31's boss is Dana.", "user-31's boss hates lateness."],
        ),
        (
            "My brother Al moved to Cork. He works at a mill and retires in May",
            ["Al works at a mill.", "Al retires in May."],
        ),
        (
            "My sister Jo, she's a nurse, moves in on Friday",
            ["Jo is a nurse.", "Jo moves in on Friday."],
        ),
        (
            "My dog Rex is old. He sleeps all day and eats chicken",
            ["Rex sleeps all day.", "Rex eats chicken."],
        ),
    ],
)
def test_each_verb_of_somebody_is_told_by_itself(said: str, told: list[str]) -> None:
    found = [fact.text for fact in tell(said)]
    assert [text for text in found if text in told] == told


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("I'm 34, vegan and allergic to nuts", ["is 34", "is vegan", "is allergic to nuts"]),
        ("I'm a nurse and a mother of two", ["is a nurse", "is a mother of two"]),
    ],
)
def test_each_thing_that_somebody_is_is_told_by_itself(said: str, told: list[str]) -> None:
    assert [fact.text for fact in tell(said)] == [f"user-31 {each}." for each in told]


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("We cook and sell jam", "and others cook and sell jam"),
        ("I go and see my mum every Sunday", "goes and sees their mum every Sunday"),
        ("I'm tired and hungry", "is tired and hungry"),
        ("I'm not vegan or allergic to nuts", "is not vegan or allergic to nuts"),
        ("I have rent, work and bills to think of", "has rent, work and bills to think of"),
    ],
)
def test_what_is_one_thing_is_told_together(said: str, told: str) -> None:
    assert f"user-31 {told}." in [fact.text for fact in tell(said)]


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("My sister has a dog and friends in Leeds", "has a dog and friends in Leeds"),
        ("My wife makes cakes and pies at weekends", "makes cakes and pies at weekends"),
        ("My sister teaches and sings in a choir", "teaches and sings in a choir"),
    ],
)
def test_nouns_of_a_list_are_no_verbs(said: str, told: str) -> None:
    assert [fact.text.endswith(f" {told}.") for fact in tell(said)].count(True) == 1


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("work at Halden Foods. packing line", "user-31 works at Halden Foods."),
        ("owe Danny 500. cards", "user-31 owes Danny 500."),
        ("bank w oldgate", "user-31 banks with oldgate."),
        ("rent up to 690 from aug", "user-31: rent up to 690 from Aug."),
        ("put down my papers on friday!!", "user-31 handed in their notice on Friday."),
    ],
)
def test_an_opening_as_people_type_it_is_read(said: str, told: str) -> None:
    assert told in [fact.text for fact in tell(said)]


@pytest.mark.parametrize(
    ("said", "wrong"),
    [
        ("gaz sacked. Monika runs the shift now", "user-31 was gaz sacked."),
        ("was dr Lim, hill rd. retired. dr Farah now", "user-31 was Dr Lim, hill rd."),
        ("my doctor was Dr Lim. retired.", "user-31 is retired."),
        ("My email address is the same as ever.", "user-31's email address is the same as ever."),
    ],
)
def test_what_is_told_of_somebody_else_or_as_before_is_not_told_of_the_speaker(
    said: str, wrong: str
) -> None:
    assert wrong not in [fact.text for fact in tell(said)]


@pytest.mark.parametrize(
    ("said", "key", "polarity"),
    [
        ("I work at Tesco now, not Asda", "works_at", "holds"),
        ("we live in Bath now not Bristol", "lives_in", "holds"),
        ("I work for Tesco, no longer Asda", "works_at", "holds"),
        ("I'm now not going to Rome", "", "denied"),
        ("I no longer work at Asda", "works_at", "ended"),
        ("I am not in Bristol any more", "", "ended"),
    ],
)
def test_what_is_over_beside_what_is_so_denies_nothing_of_it(
    said: str, key: str, polarity: str
) -> None:
    (fact,) = tell(said)
    assert (fact.predicate_key, fact.polarity) == (key, polarity)


@pytest.mark.parametrize(
    ("said", "told", "polarity"),
    [
        ("I'm hoping to move to Wales", "user-31 is hoping to move to Wales.", "planned"),
        ("I don't eat gluten", "user-31 does not eat gluten.", "denied"),
        ("My back's bad since May", "user-31's back is bad since May.", "holds"),
        (
            "My daughter's started at Hillside",
            "user-31's daughter has started at Hillside.",
            "holds",
        ),
        ("My brother's graduated", "user-31's brother has graduated.", "holds"),
        ("My sister's engaged", "user-31's sister is engaged.", "holds"),
        ("Finished Dune on Friday", "user-31 finished Dune on Friday.", "holds"),
        ("I've packed in tennis, my knee", "user-31 has packed in tennis, their knee.", "ended"),
        (
            "I had to stop volunteering at the food bank",
            "user-31 had to stop volunteering at the food bank.",
            "ended",
        ),
        ("I live alone", "user-31 lives alone.", "holds"),
        ("I'm learning to drive", "user-31 is learning to drive.", "holds"),
        ("I'm seeing someone", "user-31 is seeing someone.", "holds"),
        ("It's over with Pete", "user-31 broke up with Pete.", "ended"),
    ],
)
def test_what_the_parser_takes_for_something_else_is_read(
    said: str, told: str, polarity: str
) -> None:
    (fact,) = tell(said)
    assert (fact.text, fact.polarity) == (told, polarity)
