"""Summaries and answers: always somebody's words, never more than was recalled."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from memoryhub.engines.local.chinese_dates import find_times as find_chinese_times
from memoryhub.engines.local.dates import find_times
from memoryhub.engines.local.timing import written
from memoryhub.engines.types import Quote
from tests.engines.local.dialogue import AT, ENGINE


def quote(text: str, speaker: str = "") -> Quote:
    times = find_times(text, AT)
    return Quote(text, AT, times[0] if times else None, speaker)


MOVED = quote("Ana moved to Lisbon last week.")
CAT = quote("Ana has a cat called Pixel.")
JOB = quote("Ana works as a nurse.")


def test_when_is_answered_with_the_date() -> None:
    answer = ENGINE.answer("When did Ana move to Lisbon?", [CAT, MOVED, JOB])
    assert answer.text.startswith("the week of 6 May 2024")
    assert (answer.quoted, answer.used) == (True, (1,))


def test_other_questions_are_answered_by_quoting() -> None:
    answer = ENGINE.answer("What is the name of Ana's cat?", [JOB, CAT])
    assert "“Ana has a cat called Pixel.” (said on 15 May 2024)" in answer.text
    assert answer.used[0] == 1


def test_a_question_in_other_words_finds_its_predicate() -> None:
    answer = ENGINE.answer("Where does she live?", [CAT, MOVED, JOB])
    assert answer.used[0] == 1


def test_when_without_any_date_falls_back_to_quoting() -> None:
    assert "Pixel" in ENGINE.answer("When did the cat arrive?", [CAT]).text


def test_the_speaker_is_named() -> None:
    assert "“Ben: I sail.”" in ENGINE.answer("Who sails?", [quote("I sail.", "Ben")]).text


@pytest.mark.parametrize("question", ["Where does she live?", "When?", ""])
def test_it_abstains_without_quotes(question: str) -> None:
    answer = ENGINE.answer(question, [])
    assert answer.used == ()
    assert answer.text == "I found nothing about that."


def test_it_abstains_in_chinese() -> None:
    assert ENGINE.answer("她住在哪里？", []).text == "没有找到相关的记忆。"


def test_every_quote_used_is_in_the_answer() -> None:
    quotes = [MOVED, CAT, JOB]
    answer = ENGINE.answer("Tell me about Ana", quotes)
    assert answer.used
    assert all(quotes[i].text in answer.text for i in answer.used)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("yesterday", "14 May 2024"),
        ("last week", "the week of 6 May 2024"),
        ("last month", "April 2024"),
        ("last year", "2023"),
        ("last weekend", "11 May 2024 to 12 May 2024"),
        ("tomorrow at 9:30 am", "16 May 2024, 09:30"),
        ("last summer", "1 June 2023 to 31 August 2023"),
    ],
)
def test_spans_in_words(text: str, words: str) -> None:
    assert written(find_times(text, datetime(2024, 5, 15, 14, 30, tzinfo=UTC))[0]) == words


FACTS = [
    "Ana sails on the lake with the sailing club.",
    "Ana bought bread.",
    "The sailing club races on the lake.",
    "Ana sails on the lake with the sailing club!",
    "Ana repaired the club's boat by the lake.",
]


def test_a_summary_takes_the_centre_and_no_repeats() -> None:
    summary = ENGINE.summarise(FACTS, max_sentences=2)
    assert "lake" in summary
    assert "bread" not in summary
    assert summary.count("with the sailing club") == 1


def test_a_summary_keeps_the_words_and_the_order() -> None:
    summary = ENGINE.summarise(FACTS, max_sentences=3)
    chosen = [fact for fact in FACTS if fact in summary]
    assert summary == " ".join(chosen)


def test_a_summary_of_chinese() -> None:
    lines = ["小王住在上海。", "小王在上海工作。", "今天下雨。"]
    assert ENGINE.summarise(lines, max_sentences=1) in lines


@pytest.mark.parametrize("texts", [[], [""], ["  "]])
def test_a_summary_of_nothing(texts: list[str]) -> None:
    assert ENGINE.summarise(texts) == ""


def test_a_summary_of_one() -> None:
    assert ENGINE.summarise(["Ana sails."]) == "Ana sails."


def told(text: str, said_at: datetime = AT) -> Quote:
    times = find_chinese_times(text, said_at)
    return Quote(text, said_at, times[0] if times else None)


HOME = told("何苗上周六搬到厦门了。")
TEA = told("何苗喜欢喝普洱茶。")
CHEF = told("何苗现在是厨师。")


@pytest.mark.parametrize(
    ("question", "best"),
    [
        ("何苗住在哪里？", 1),
        ("何苗做什么工作？", 2),
        ("何苗喜欢喝什么？", 0),
    ],
)
def test_chinese_questions_find_their_quote(question: str, best: int) -> None:
    answer = ENGINE.answer(question, [TEA, HOME, CHEF])
    assert answer.used[0] == best
    assert "说于2024年5月15日" in answer.text


@pytest.mark.parametrize("question", ["何苗什么时候搬到厦门的？", "何苗是哪一天搬家的？"])
def test_when_in_chinese_is_answered_with_the_date(question: str) -> None:
    answer = ENGINE.answer(question, [TEA, HOME, CHEF])
    assert answer.text.startswith("2024年5月11日：“何苗上周六搬到厦门了。”")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("上个月", "2024年4月"),
        ("去年", "2023年"),
        ("上周", "2024年5月6日至2024年5月12日"),
        ("昨天", "2024年5月14日"),
    ],
)
def test_spans_in_chinese_words(text: str, words: str) -> None:
    assert written(find_chinese_times(text, AT)[0], "zh") == words


def test_an_english_question_about_a_chinese_memory() -> None:
    answer = ENGINE.answer("Where does she live?", [TEA, HOME])
    assert answer.used[0] == 1
