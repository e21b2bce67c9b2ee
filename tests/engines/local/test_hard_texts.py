"""Texts made to be hard to read: what is read of them is bounded, and nothing breaks."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from memoryhub.engines.local.bounds import (
    MAX_SENTENCE_WORDS,
    MAX_WORDS,
    bound_exchange,
    find_endless_cuts,
)
from memoryhub.engines.local.engine import LocalEngine
from memoryhub.engines.types import Exchange, Utterance
from tests.support.hard_texts import HARD_TEXTS, repeat

SIZE = 2_000  # enough for a tree too deep, or an expression that goes back and forth


def build_exchange(*texts: str) -> Exchange:
    at = datetime(2026, 1, 1, tzinfo=UTC)
    said = [Utterance(f"u{n}", "Mira", "user", text, at) for n, text in enumerate(texts)]
    return Exchange(said, participants=("Mira",))


@pytest.mark.parametrize("name", HARD_TEXTS)
def test_a_hard_text_is_read_and_what_is_said_beside_it_is_understood(name: str) -> None:
    exchange = build_exchange("I live in Porto.", HARD_TEXTS[name](SIZE))
    (read,) = LocalEngine().extract_memories([exchange])
    assert "Mira lives in Porto" in {fact.text.rstrip(".") for fact in read.facts}


def test_of_a_very_long_text_each_sentence_is_read_once_and_those_of_oneself_first() -> None:
    said = [f"The cat {n} sleeps." for n in range(MAX_WORDS)] * 2
    (read,) = bound_exchange(build_exchange(" ".join([*said, "I live in Porto."]))).utterances
    sentences = [each.strip() for each in read.text.split(".") if each.strip()]
    assert sentences[:2] == ["The cat 0 sleeps", "The cat 1 sleeps"]
    assert sentences[-1] == "I live in Porto"
    assert len(set(sentences)) == len(sentences)
    assert len(read.text.replace(".", " . ").split()) <= MAX_WORDS


def test_a_text_without_sentences_is_read_from_its_beginning() -> None:
    long = repeat("tea ")(MAX_WORDS * 8)
    first, second = bound_exchange(build_exchange(long, "I live in Porto.")).utterances
    assert (len(first.text.split()), second.text.strip()) == (MAX_WORDS, "")


def test_a_drawn_line_is_blank_and_all_else_keeps_its_place() -> None:
    (said,) = bound_exchange(build_exchange("Hi!" + "=" * 40 + "I live in Porto.")).utterances
    assert said.text == "Hi!=" + " " * 39 + "I live in Porto."


def test_what_goes_on_without_an_end_is_cut_and_sentences_are_not() -> None:
    assert find_endless_cuts("I live in Porto. " * 200) == []
    cuts = find_endless_cuts("tea " * (MAX_SENTENCE_WORDS * 3))
    assert cuts == [4 * MAX_SENTENCE_WORDS, 8 * MAX_SENTENCE_WORDS]
