"""Chinese word by word in English, for a model that reads none."""

from __future__ import annotations

import re

import pytest

from memoryhub.engines.local.chinese.glosses import get_glosses, gloss_text, split_word


def test_what_is_not_chinese_stays() -> None:
    assert gloss_text("I keep 3 bees, naïvely.") == "I keep 3 bees, naïvely."
    assert gloss_text("") == ""


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("我姐姐住在上海", ["sister", "shanghai"]),
        ("老公叫Tom，42岁", ["husband", "Tom", "42"]),
        ("我对花生过敏", ["peanut", "allergic"]),
    ],
)
def test_words_are_told_in_their_order(text: str, words: list[str]) -> None:
    told = gloss_text(text)
    assert [word for word in re.findall(r"\w+", told) if word in words] == words
    assert not re.search(r"[\u4e00-\u9fff]", told)


def test_a_word_that_is_not_known_is_read_by_its_parts() -> None:
    known = {"羽毛球": "badminton", "场": "field"}
    assert list(split_word("羽毛球场", known)) == ["羽毛球", "场"]
    assert list(split_word("羽毛球", known)) == ["羽毛球"]
    assert list(split_word("龘龘场", known)) == ["龘", "龘", "场"]


def test_every_gloss_is_plain_english_or_nothing() -> None:
    for word, gloss in get_glosses().items():
        assert re.fullmatch(r"[\u4e00-\u9fff]+", word), word
        assert re.fullmatch(r"[a-z0-9 ?'.:/&-]*", gloss), (word, gloss)
