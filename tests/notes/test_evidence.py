"""What gives a forgotten thing away (spec §11.9, E20)."""

from __future__ import annotations

import pytest

from notes.erasure.evidence import is_repetition

HOME = ["I live at 12 Elm Street."]


@pytest.mark.parametrize(
    "text",
    [
        "Forget that I live at 12 Elm Street.",
        "forget ELM street",
        "Please forget that Elm thing",
    ],
)
def test_E20_words_of_the_thing_itself_repeat_it(text: str) -> None:
    assert is_repetition(text, HOME, [("12 Elm Street", "Ana")])


@pytest.mark.parametrize("text", ["Forget my address.", "Forget where I live.", "", "Forget it."])
def test_E20_a_name_for_the_thing_repeats_nothing(text: str) -> None:
    assert not is_repetition(text, HOME, [("12 Elm Street", "Ana")])


@pytest.mark.parametrize(
    ("text", "said"),
    [("忘掉我的糖尿病。", True), ("忘掉我的病。", False), ("忘掉我的地址。", False)],
)
def test_E20_one_chinese_character_alone_repeats_nothing(text: str, said: bool) -> None:
    assert is_repetition(text, ["我去年得了糖尿病。"], [("糖尿病", "小雨")]) is said
