"""What every purpose has in common: splitting what is too much, and knowing its own prompt."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from memoryhub.engines.llm.asking import halved, is_instruction
from memoryhub.errors import EngineError


@pytest.mark.parametrize("code", ["reply_cut", "context_exceeded"])
def test_E12_too_large_a_batch_is_halved_until_it_fits(code: str) -> None:
    asked: list[int] = []

    def ask(items: Sequence[int]) -> list[int]:
        asked.append(len(items))
        if len(items) > 2:
            raise EngineError("too much", code=code)
        return [item * 10 for item in items]

    assert halved(ask, [1, 2, 3, 4, 5]) == [[10, 20], [30], [40, 50]]
    assert asked == [5, 2, 3, 1, 2]


def test_one_item_that_is_too_much_has_failed() -> None:
    def ask(items: Sequence[int]) -> None:
        raise EngineError("too much", code="reply_cut")

    with pytest.raises(EngineError):
        halved(ask, [1, 2])


def test_other_failures_are_not_asked_in_halves() -> None:
    asked = []

    def ask(items: Sequence[int]) -> None:
        asked.append(items)
        raise EngineError("down", code="unreachable")

    with pytest.raises(EngineError):
        halved(ask, [1, 2])
    assert len(asked) == 1


def test_M8_words_of_a_prompt_are_known_whatever_their_form() -> None:
    assert is_instruction("construct", "Write every text in the LANGUAGE of the message")
    assert not is_instruction("construct", "Ana writes every text in Portuguese.")
    assert not is_instruction("construct", "…")
