"""Wishes to forget however they are put, and what only sounds like one (spec E20, AA7)."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest

from memoryhub.engines.local.attribution.passed_on import mask_passed_on
from memoryhub.engines.local.grammar.speech import find_forget_wish, may_ask_to_forget
from tests.engines.local import wishes_to_forget as said


def count(texts: Sequence[str], asks: Callable[[str], object]) -> float:
    return sum(bool(asks(text)) for text in texts) / len(texts)


def may_ask(text: str) -> bool:
    """As where a model has found a wish in a person's own words."""
    return may_ask_to_forget(mask_passed_on(text))


@pytest.mark.parametrize("wishes", [said.ENGLISH_WISHES, said.CHINESE_WISHES])
def test_a_wish_that_a_model_found_is_heard_in_its_words(wishes: Sequence[str]) -> None:
    assert [text for text in wishes if not may_ask(text)] == []


@pytest.mark.parametrize("wishes", [said.ENGLISH_WISHES, said.CHINESE_WISHES])
def test_rules_alone_find_nearly_every_wish(wishes: Sequence[str]) -> None:
    assert count(wishes, find_forget_wish) >= 0.95


@pytest.mark.parametrize("others", [said.ENGLISH_OTHERS, said.CHINESE_OTHERS])
def test_talk_of_forgetting_and_deleting_is_no_wish(others: Sequence[str]) -> None:
    """The few that are left quote one, and wait for a person."""
    found = [text for text in others if find_forget_wish(text)]
    assert len(found) <= 2
    assert not any(may_ask(text) for text in found)
