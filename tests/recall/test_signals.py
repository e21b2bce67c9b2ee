from __future__ import annotations

import pytest

from memoryhub.recall.results import Kind
from memoryhub.recall.signals import Candidate, signals
from tests.recall.test_fusion import ask, candidate


def worded(words: str, asked: str = "play violin") -> Candidate:
    return candidate()._replace(asked=asked, words=words)


def test_a_word_that_few_have_counts_for_more() -> None:
    found = [worded("play"), worded("violin"), worded("play"), worded("play game"), worded("")]
    rare = signals(ask("who plays the violin"), found)["rare"]
    assert rare[1] > rare[0] > rare[4]
    assert rare[0] == rare[3]


def test_both_words_count_for_most_and_order_does_not_matter() -> None:
    found = [worded("violin play"), worded("violin"), worded("play violin concert"), worded("")]
    rare = signals(ask("who plays the violin"), found)["rare"]
    assert rare[0] == rare[2] == max(rare)


@pytest.mark.parametrize("asked", ["", "cello"])
def test_words_that_nobody_has_say_nothing(asked: str) -> None:
    found = [worded("play", asked), worded("violin", asked)]
    assert signals(ask("who"), found)["rare"].tolist() == [0, 0]


def test_nothing_found_has_no_signals() -> None:
    assert {len(values) for values in signals(ask("who"), []).values()} == {0}


@pytest.mark.parametrize(
    ("shorter", "longer"),
    [
        ("Thanks!", "We walked along the river until the boats came in"),
        ("谢谢", "我们沿着河边走了很久直到船回来"),
    ],
)
def test_a_longer_turn_says_more_in_any_script(shorter: str, longer: str) -> None:
    length = signals(ask("who"), [candidate(text=shorter), candidate(text=longer)])["length"]
    assert length[0] < length[1]


def test_length_is_bounded_and_of_turns_only() -> None:
    found = [candidate(text=text, kind=kind) for text, kind in BOUNDED]
    assert signals(ask("who"), found)["length"].tolist() == [-1.5, 1.5, 0]


BOUNDED: tuple[tuple[str, Kind], ...] = (
    ("", "turn"),
    ("word " * 500, "turn"),
    ("word " * 500, "note"),
)
