"""Word-level differences: what stays, goes and comes, and that nothing is lost on the way."""

from __future__ import annotations

import pytest

from memoryhub.console.frame.text.diff import (
    MAX_COMPARED_WORDS,
    DiffPart,
    diff_lists,
    diff_texts,
    shorten_parts,
    split_words,
)
from memoryhub.console.frame.text.history_rows import FieldChange


def format_parts(parts: list[DiffPart]) -> str:
    marks = {"gone": "[-{}-]", "new": "{{+{}+}}", "same": "{}"}
    return "".join(marks[part.how].format(part.text) for part in parts)


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        ("Ana lives in Porto.", "Ana lives in Braga.", "Ana lives in [-Porto-]{+Braga+}."),
        ("Ana lives here", "Ana always lives here", "Ana{+ always+} lives here"),
        ("Ana no longer lives here", "Ana lives here", "Ana[- no longer-] lives here"),
        ("小明住在上海", "小明住在北京", "小明住在[-上海-]{+北京+}"),
        ("the old red hive of Ana", "the new blue hive of Ana",
         "the [-old red-]{+new blue+} hive of Ana"),
        ("", "new words", "{+new words+}"),
        ("gone words", "", "[-gone words-]"),
        ("same", "same", "same"),
        ("", "", ""),
    ],
)  # fmt: skip
def test_the_words_that_changed_are_set_off(before: str, after: str, said: str) -> None:
    assert format_parts(diff_texts(before, after)) == said


def test_texts_with_little_in_common_stand_one_after_the_other() -> None:
    parts = diff_texts("I keep bees in Ghent", "She sold her motor boat")
    assert [part.how for part in parts] == ["gone", "new"]


@pytest.mark.parametrize("text", ["Ana's bees, 3 hives — “good”.", "小明 likes 東京!", "\n a\tb "])
def test_words_together_are_the_text(text: str) -> None:
    assert "".join(split_words(text)) == text


def test_a_text_too_long_to_compare_is_shown_whole() -> None:
    long = "word " * MAX_COMPARED_WORDS
    assert [part.how for part in diff_texts(long, f"{long}more")] == ["gone", "new"]


def test_lists_are_compared_without_their_order() -> None:
    parts = diff_lists(["bees", "honey"], ["wax", "bees"])
    assert format_parts(parts) == "bees[-honey-]{+wax+}"


def test_long_stretches_that_stay_are_cut() -> None:
    before = f"{'a ' * 200}Porto{' b' * 200}"
    (head, *_, tail) = shorten_parts(diff_texts(before, before.replace("Porto", "Braga")))
    assert head.text.startswith(" … ")
    assert tail.text.endswith(" … ")
    assert len(head.text) < 100


@pytest.mark.parametrize(
    ("before", "after"),
    [("active", "superseded"), ("2026-05-12T09:00:00Z", "2026-05-13T09:00:00Z"), (1, 2)],
)
def test_words_of_the_program_and_times_are_not_compared(before: object, after: object) -> None:
    assert FieldChange("status", before, after).parts == []


def test_words_of_people_are_compared() -> None:
    assert len(FieldChange("text", "in Porto", "in Braga", is_words=True).parts) == 3
    assert FieldChange("text", None, "in Braga", is_words=True).parts == []
