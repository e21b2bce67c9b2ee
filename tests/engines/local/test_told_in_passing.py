"""What is told beside something else: of whom a "who" tells, what a letter is to say, whose bank it
is."""

from __future__ import annotations

import pytest

from tests.engines.local.test_local_statements import tell


@pytest.mark.parametrize(
    ("said", "told"),
    [
        (
            "I live at 14 Corve Row in Ludlow with our two kids, Tilly who's nine and Rufus"
            " who's six.",
            ["Tilly is nine.", "Rufus is six."],
        ),
        (
            "Please draft a note to my dentist. It should mention that I am allergic to latex.",
            ["user-31 is allergic to latex."],
        ),
        (
            "My sister Josie's pregnant! Due December 20.",
            ["Josie is due December 20."],
        ),
        (
            "Sorry, I got the caravan wrong! We're there from the 16th to the 23rd.",
            ["user-31 and others are there from the 16th to the 23rd."],
        ),
        (
            "How do I set up an order with Nationwide? That's my bank.",
            ["user-31's bank is Nationwide."],
        ),
        ("Scotiabank, our bank, offers 4.6 per cent.", ["user-31's bank is Scotiabank."]),
        ("Please copy Farid Nasser, my deputy.", ["Farid Nasser is user-31's deputy."]),
        ("im allergic to prawns so none of that", ["user-31 is allergic to prawns."]),
        ("We went to see a cottage, but the damp was dreadful.", ["The damp was dreadful."]),
        ("The gym was dreadful today.", ["user-31's gym was dreadful today."]),
        ("My salary is 85,000 euros a year.", ["user-31's salary is 85,000 euros a year."]),
        ("I do 20 burpees a day.", ["user-31 does 20 burpees a day."]),
        ("Dana and I separated.", ["Dana and user-31 separated."]),
        ("Tom and I got divorced in May.", ["Tom and user-31 got divorced in May."]),
        ("My step-sister Mia is ten.", ["user-31's step-sister Mia is ten."]),
    ],
)
def test_it_is_told_of_whom_and_what_it_is_of(said: str, told: list[str]) -> None:
    assert [text for text in told if text not in [fact.text for fact in tell(said)]] == []


@pytest.mark.parametrize(
    ("said", "never"),
    [
        ("I live at 14 Corve Row with Tilly who's nine.", "Corve Row is nine."),
        ("Can you give me some lunches I can make in ten minutes?", "lunches"),
        ("im allergic to prawns so none of that", "so none"),
        ("My sister Josie's pregnant! So happy.", "Josie is so happy."),
        ("My ex-wife Carla lives in Rome.", "Carla is"),
        ("My step-sister Mia is ten.", "Mia is user-31's sister"),
        ("My ex-boss Kim moved to Spain.", "Kim is user-31's boss"),
    ],
)
def test_nothing_else_is_made_of_it(said: str, never: str) -> None:
    assert not any(never in fact.text for fact in tell(said))
