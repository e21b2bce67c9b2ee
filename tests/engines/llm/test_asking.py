"""What every purpose has in common: splitting what is too much, and knowing its own prompt."""

from __future__ import annotations

import re
from collections.abc import Sequence

import pytest

from memoryhub.engines.llm.packaged_prompts import PROMPT_VERSIONS, Purpose, read_template
from memoryhub.engines.llm.purposes.base import ask_in_halves, is_part_of_prompt
from memoryhub.errors import EngineError


@pytest.mark.parametrize("code", ["reply_cut", "context_exceeded"])
def test_E12_too_large_a_batch_is_halved_until_it_fits(code: str) -> None:
    asked: list[int] = []

    def ask(items: Sequence[int]) -> list[int]:
        asked.append(len(items))
        if len(items) > 2:
            raise EngineError("too much", code=code)
        return [item * 10 for item in items]

    assert ask_in_halves(ask, [1, 2, 3, 4, 5]) == [[10, 20], [30], [40, 50]]
    assert asked == [5, 2, 3, 1, 2]


def test_one_item_that_is_too_much_has_failed() -> None:
    def ask(items: Sequence[int]) -> None:
        raise EngineError("too much", code="reply_cut")

    with pytest.raises(EngineError):
        ask_in_halves(ask, [1, 2])


def test_other_failures_are_not_asked_in_halves() -> None:
    asked = []

    def ask(items: Sequence[int]) -> None:
        asked.append(items)
        raise EngineError("down", code="unreachable")

    with pytest.raises(EngineError):
        ask_in_halves(ask, [1, 2])
    assert len(asked) == 1


# Purposes whose replies are names, flags and handles: nothing of them is a text to be read.
WORDLESS = {
    *("episode_gate", "graph_entities", "graph_relations", "merge_check", "paginate"),
    *("query_entities", "rerank"),
}


@pytest.mark.parametrize("purpose", sorted(set(PROMPT_VERSIONS) - {"repair"}))
def test_E5_no_prompt_forces_English(purpose: Purpose) -> None:
    told = " ".join(read_template(purpose).split())
    # A predicate is a key, and not a text; what it is in is said of it alone.
    keys = ("snake_case name of the relation in English", "snake_case English")
    for key in keys:
        told = told.replace(key, "")
    assert not re.search(r"\benglish\b", told, re.I)
    if purpose not in WORDLESS:
        assert re.search(r"\blanguage\b", told, re.I), "it must say whose language to write in"


def test_M8_words_of_a_prompt_are_known_whatever_their_form() -> None:
    assert is_part_of_prompt(
        read_template("extract_facts"), "Write every text in the LANGUAGE of the message"
    )
    assert not is_part_of_prompt(
        read_template("extract_facts"), "Ana writes every text in Portuguese."
    )
    assert not is_part_of_prompt(read_template("extract_facts"), "…")
