"""Of what tells a change, an answer begins with the side that is asked for."""

from __future__ import annotations

import pytest

from memoryhub.engines.local.answers.asked import find_asked_tense
from memoryhub.engines.local.answers.told_changes import find_change
from memoryhub.engines.types import Quote
from tests.engines.local.dialogue import AT, ENGINE


def divide(question: str, text: str) -> tuple[str, str] | None:
    """The other side, and the one that is asked for."""
    change = find_change(question, text, find_asked_tense(question))
    return change and (text[change.before : change.beginning], text[change.beginning :])


@pytest.mark.parametrize(
    ("question", "text", "before", "told"),
    [
        (
            "who is my landlord",
            "Mr Patel left and now Mrs Green is the landlord, she fixes things",
            "Mr Patel left and ",
            "now Mrs Green is the landlord, she fixes things",
        ),
        (
            "what do I earn",
            "my wage has gone up from 14 to 16 an hour",
            "my wage has gone up from 14 to ",
            "16 an hour",
        ),
        (
            "what do I drive",
            "sold the Fiesta last week so it's a Yaris now",
            "sold the Fiesta last week so ",
            "it's a Yaris now",
        ),
        (
            "what night is choir",
            "Tuesdays moved to Thursdays for choir",
            "Tuesdays moved to ",
            "Thursdays for choir",
        ),
        (
            "what instrument does Nina play",
            "Nina quit the cello for the drums",
            "Nina quit the cello for ",
            "the drums",
        ),
        (
            "what did a loaf cost before",
            "a loaf is 4.20, it was 3.80",
            "a loaf is 4.20, ",
            "it was 3.80",
        ),
        (
            "我爸现在做什么",
            "我爸的饭馆关了 现在给学校开校车",
            "我爸的饭馆关了 ",
            "现在给学校开校车",
        ),
        (
            "what was my wage before it went up",
            "my wage has gone up from 14 to 16 an hour",
            "my wage has gone up from ",
            "14 to 16 an hour",
        ),
        ("我以前做什么", "我在银行上班，以前在药厂化验", "我在银行上班，", "以前在药厂化验"),
        ("手术是哪天", "手术定在六号 不对 是八号", "手术定在六号 不对 是", "八号"),
    ],
)
def test_the_side_that_is_asked_for_is_found(
    question: str, text: str, before: str, told: str
) -> None:
    assert divide(question, text) == (before, told)


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("what do I earn", "I earn 16 an hour at the mill"),
        # What holds stands first.
        ("what is a loaf", "a loaf is 4.20, it was 3.80"),
        # What is left over ended nothing.
        ("where do I work", "we have 20 left and I work at the mill"),
        ("what night was choir before", "Tuesdays moved to Thursdays for choir"),
        # Behind it stands a request.
        ("what should I cook", "I quit sugar, what should I cook tonight?"),
        # Behind it stands no value of the kind asked for.
        ("what did I get for the bike", "sold the bike for 60 quid, I am reading at home"),
        ("what is my rent", "…"),
        ("what is my rent", ""),
        ("what is my rent", "sold it, so now it's another one" * 20),
    ],
)
def test_what_tells_no_other_side_before_it_is_left_whole(question: str, text: str) -> None:
    assert divide(question, text) is None


def answer(question: str, text: str) -> str:
    quote = Quote(text, AT, speaker="Noor", relevance=1.0, assisted=True)
    return ENGINE.answer_question(question, [quote], subject="Noor").text


def test_an_answer_begins_with_it_and_tells_what_stood_before() -> None:
    text = "Mr Patel left and now Mrs Green is my landlord, she fixes things"
    told = "“… now Mrs Green is my landlord, she fixes things” (after “Mr Patel left”, May 2024)"
    assert answer("who is my landlord", text) == told
    told = "“… 现在我爸给学校开校车”（前文：“我爸的饭馆关了”，2024年5月）"
    assert answer("我爸现在做什么", "我爸的饭馆关了 现在我爸给学校开校车") == told


def test_who_asks_after_the_change_is_told_all_of_it() -> None:
    text = "I sold the Fiesta because it rusted, so I drive a Yaris now"
    assert "“I sold the Fiesta because it rusted" in answer("why did I sell the Fiesta", text)
    assert "“I sold the Fiesta because it rusted" in answer("what happened to the Fiesta", text)
