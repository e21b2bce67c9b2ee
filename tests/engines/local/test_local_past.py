"""What is told as past, or denied with a word, is no longer so: in English and Chinese."""

from __future__ import annotations

from datetime import date

import pytest

from memoryhub.engines.types import Exchange, FactCandidate, Utterance
from tests.engines.local.dialogue import AT, ENGINE, read_facts, read_only_fact


def read_reply(question: str, answer: str, speaker: str = "Ana") -> list[FactCandidate]:
    """What is read of a person's answer to an assistant's question."""
    asked = Utterance("h0", "Assistant", "assistant", question, AT)
    said = Utterance("m0", speaker, "user", answer, AT)
    exchange = Exchange([asked, said], (), (speaker, "Assistant"), speaker)
    return list(ENGINE.extract_memories([exchange])[0].facts)


@pytest.mark.parametrize(
    ("text", "first", "end"),
    [
        ("I lived in Leeds until 2016.", date(2016, 1, 1), date(2017, 1, 1)),
        ("I lived in Leeds from 2012 to 2016.", date(2012, 1, 1), date(2017, 1, 1)),
        ("I was a nurse until last year.", date(2023, 1, 1), date(2024, 1, 1)),
        ("I had a van until 2019.", date(2019, 1, 1), date(2020, 1, 1)),
        ("我在杭州住到2016年。", date(2016, 1, 1), date(2017, 1, 1)),
        ("2012年到2016年我住在杭州。", date(2012, 1, 1), date(2017, 1, 1)),
    ],
)
def test_what_was_so_until_a_year_ends_with_it(text: str, first: date, end: date) -> None:
    fact = read_only_fact(text)
    assert fact.event is not None
    assert fact.until is not None
    assert (fact.event.start.date(), fact.until.date()) == (first, end)


@pytest.mark.parametrize(
    "text", ["I lived in Leeds.", "I was living in Leeds.", "I worked at Boots."]
)
def test_a_home_or_a_job_told_in_the_past_tense_is_over(text: str) -> None:
    assert [fact.until for fact in read_facts(text) if fact.predicate_key] == [AT]


@pytest.mark.parametrize(
    "text",
    [
        "I live in Leeds.",
        "I've lived in Leeds since 2016.",
        "I moved to Leeds in 2016.",
        "I was promoted to manager last year.",
        "I got married in 2016.",
        "I will work at Boots until 2027.",
        "I'm staying in Leeds until June.",
        "I didn't move until 2016.",
        "I worked until 9 yesterday.",
        "我2016年搬到杭州了。",
        "我住到六月就走。",
        "会议开到五点。",
    ],
)
def test_what_lasts_or_is_planned_has_no_end(text: str) -> None:
    assert [fact.until for fact in read_facts(text) if fact.until] == []


def test_a_time_is_no_place() -> None:
    assert read_only_fact("我在杭州住到2016年。").object == "杭州"


def test_a_year_before_is_no_number_of_years_ago() -> None:
    fact = read_only_fact("我2016年之前住在杭州。")
    assert fact.until is not None
    assert fact.until.year == 2016


@pytest.mark.parametrize(
    ("question", "answer", "text"),
    [
        ("Do you still live in Leeds?", "no", "Ana does not live in Leeds any more."),
        ("Do you still play the cello?", "Not any more.", "Ana does not play the cello any more."),
        ("Do you still have the van?", "nope, sold it", "Ana sold the van."),
        ("Are you still with Tom?", "nah", "Ana is not with Tom any more."),
        ("Does Rita still live in Braga?", "No.", "Rita does not live in Braga any more."),
        ("Is your brother still teaching chess?", "nope",
         "Ana's brother is not teaching chess any more."),
        ("你还在面包店上班吗？", "不在了。", "小安不在面包店上班了。"),
        ("你还养猫吗？", "没养了", "小安不养猫了。"),
        ("你还在弹吉他吗？", "早不弹了。", "小安不弹吉他了。"),
        ("你还有车吗？", "没了", "小安没有车了。"),
    ],
)  # fmt: skip
def test_a_no_to_still_ends_what_is_asked(question: str, answer: str, text: str) -> None:
    speaker = "Ana" if question.isascii() else "小安"
    assert [(f.text, f.polarity) for f in read_reply(question, answer, speaker)] == [
        (text, "ended")
    ]


def test_what_is_so_instead_is_read_too() -> None:
    ended, new = read_reply("Do you still live in Leeds?", "No, York now.")
    assert (ended.polarity, new.predicate_key, new.object) == ("ended", "lives_in", "York")
    _, switched = read_reply("Do you still go to the choir?", "No, I switched to the orchestra.")
    assert switched.text == "Ana switched to the orchestra."


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("Do you still want to hear it?", "no"),
        ("Don't you still live there?", "no"),
        ("Are you still there?", "no"),
        ("Do you live in Leeds or still in York?", "no"),
        ("你吃了吗？", "没吃"),
        ("你还在吗？", "不在"),
    ],
)
def test_a_no_that_tells_nothing_ends_nothing(question: str, answer: str) -> None:
    assert [f for f in read_reply(question, answer) if f.polarity == "ended"] == []


def test_a_yes_to_still_says_that_it_goes_on() -> None:
    (fact,) = read_reply("Are you still seeing the physio?", "Yes.")
    assert (fact.text, fact.polarity) == ("Ana is seeing the physio.", "holds")
