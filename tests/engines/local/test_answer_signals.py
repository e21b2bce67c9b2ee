"""What speaks for a piece of a memory as the answer to a question."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from memoryhub.engines.local.answers.evidence import parse_question, rank_sentences
from memoryhub.engines.local.answers.signals import (
    Signals,
    describe_pieces,
    find_asked_topics,
)
from memoryhub.engines.types import Quote


@pytest.mark.parametrize(
    ("question", "topic"),
    [
        ("what does Jo do", "work"),
        ("what's kit doing for a living", "work"),
        ("她现在是干啥的", "work"),
        ("which city am i in", "home"),
        ("Where is Iker?", "home"),
        ("where does my aunt live now", "home"),
        ("快递现在寄哪儿", "home"),
        ("how much for a haircut", "money"),
        ("我接稿千字报多少", "money"),
        ("what night do i curl", "date"),
        ("之前周几直播", "date"),
        ("is juno seeing anyone", "partner"),
        ("who teaches me to row", "boss"),
    ],
)
def test_a_question_is_about_more_than_its_words_say(question: str, topic: str) -> None:
    assert topic in find_asked_topics(question)


@pytest.mark.parametrize(
    ("question", "topic"),
    [("how much does kit weigh", "money"), ("where is my bike", "home")],
)
def test_and_not_about_what_only_sounds_alike(question: str, topic: str) -> None:
    assert topic not in find_asked_topics(question)


def describe(question: str, *said: tuple[int, str]) -> dict[str, Signals]:
    quotes = [
        Quote(text, datetime(2026, month, 1, tzinfo=UTC), speaker="Kit", relevance=0.5)
        for month, text in said
    ]
    asked = parse_question(question, quotes, "Kit")
    pieces = describe_pieces(asked, quotes, rank_sentences(asked, quotes))
    return {piece.text: signals for piece, signals in pieces}


def test_what_is_on_topic_in_other_words_stands_out_and_the_last_of_it_is_known() -> None:
    told = describe(
        "where do i live",
        (1, "We moved to Ghent."),
        (3, "My flat in Delft has a balcony."),
        (5, "I had soup."),
    )
    moved, flat, soup = told.values()
    assert moved["rare_topics"] == flat["rare_topics"] > soup["rare_topics"] == 0
    assert (moved["last_of_topic"], flat["last_of_topic"], soup["last_of_topic"]) == (0, 1, 0)
    assert soup["says_nothing"]
    assert soup["rare_topics_behind"] < 0 == flat["rare_topics_behind"]


def test_of_what_was_before_the_first_is_known() -> None:
    told = describe("where did i live before", (1, "We moved to Ghent."), (3, "My flat in Delft."))
    moved, flat = told.values()
    assert (moved["first_of_topic"], flat["first_of_topic"]) == (1, 0)
    assert not moved["last_of_topic"]


def test_the_signals_are_always_the_same_in_the_same_order() -> None:
    one = describe("where do i live", (1, "We moved to Ghent. It rains."), (2, "住在根特。"))
    other = describe("who is it", (1, "Nobody."))
    names = {tuple(signals) for signals in (*one.values(), *other.values())}
    assert len(names) == 1


def test_nothing_to_weigh_is_no_error() -> None:
    assert describe("where do i live") == {}
