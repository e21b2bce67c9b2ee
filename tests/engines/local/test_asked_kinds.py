"""Kinds of things that no word of a question need tell: what tells them is listed, and nothing
else."""

from __future__ import annotations

from datetime import timedelta

import pytest

from memoryhub.engines.local.answers.kinds import find_asked_kind
from memoryhub.engines.types import Quote
from tests.engines.local.dialogue import AT, ENGINE


def told(text: str, owner: str, days: int = 0, *, bears: bool = False) -> Quote:
    return Quote(text, AT + timedelta(days=days), owner=owner, relevance=1.0, bears=bears)


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("what does Ana do for a living", "Ana runs a two-chair clinic in Kochi."),
        ("is Ana alergic to anything", "Ana is allergic to penicillin."),
        ("any health issue of Ana?", "Ana has arthritis in both thumbs."),
        ("what car does Ana drive", "Ana drives an old red Ranger."),
        ("when is Ana's bday", "Ana is turning 21 on the 5th of October."),
        ("what is Ana studying", "Ana is in the second year of nursing, at uni."),
        ("which team does Ana follow", "Ana is a Rotherham fan."),
    ],
)
def test_it_is_told_in_whatever_words(question: str, text: str) -> None:
    made = ENGINE.answer_question(question, [told("Ana likes soup.", "Ana"), told(text, "Ana")])
    assert text in made.text
    assert made.used == (1,)


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("何苗是干什么的", "何苗是铁路局的列车员。"),
        ("何苗老家哪里", "何苗老家在含山。"),
        ("何苗不吃啥", "何苗一闻香菜就恶心。"),
        ("何苗身体有什么毛病", "何苗有十二指肠溃疡。"),
        ("何苗开什么车", "何苗开一台五菱。"),
        ("何苗住哪里", "何苗和老乡一块住在陈寨。"),
        ("何苗会什么乐器", "何苗以前吹过长笛。"),
    ],
)
def test_it_is_told_in_whatever_chinese_words(question: str, text: str) -> None:
    made = ENGINE.answer_question(question, [told("何苗喜欢喝茶。", "何苗"), told(text, "何苗")])
    assert text in made.text


def test_what_tells_it_of_another_is_no_answer() -> None:
    quotes = [told("Rita runs a bakery in Porto.", "Rita"), told("Ana likes soup.", "Ana")]
    made = ENGINE.answer_question("what does Ana do for a living", quotes, subject="Ana")
    assert "bakery" not in made.text


def test_what_was_told_last_comes_first() -> None:
    quotes = [
        told("Ana works at a bakery.", "Ana"),
        told("Ana runs a clinic of her own.", "Ana", days=40),
    ]
    made = ENGINE.answer_question("what is Ana's job", quotes, subject="Ana")
    assert made.text.index("clinic") < made.text.index("bakery")


def test_what_is_over_is_not_listed() -> None:
    over = Quote("Ana drives a Fiesta.", AT, owner="Ana", until=AT + timedelta(days=9))
    made = ENGINE.answer_question("what car does Ana drive", [over], subject="Ana")
    assert "“Ana drives a Fiesta.”" not in made.text or "Used to be" in made.text


def test_a_relative_is_asked_about_by_what_they_are() -> None:
    quotes = [
        told("Ana works at a bank.", "Ana"),
        told("Ana's husband runs a garage.", "Ana's husband"),
    ]
    made = ENGINE.answer_question("what is my husbands job", quotes, subject="Ana")
    assert "garage" in made.text
    assert "bank" not in made.text


@pytest.mark.parametrize("question", ["who is Rita", "how was the trip", "昨天怎么样", "a" * 300])
def test_no_other_question_asks_for_a_kind(question: str) -> None:
    assert find_asked_kind(question) is None


def test_a_habit_of_a_weekday_is_no_job() -> None:
    assert find_asked_kind("我周六下午一般干啥") is None
