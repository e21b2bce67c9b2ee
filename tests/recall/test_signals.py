from __future__ import annotations

import pytest

from memoryhub.recall.candidates.candidate import MemoryCandidate
from memoryhub.recall.ranking.signals import compute_signals
from memoryhub.recall.render.results import MemoryKind
from tests.recall.test_fusion import make_candidate, parse_route


def make_worded_candidate(words: str, asked: str = "play violin") -> MemoryCandidate:
    return make_candidate()._replace(question_words=asked, words=words)


def test_a_word_that_few_have_counts_for_more() -> None:
    found = [
        make_worded_candidate("play"),
        make_worded_candidate("violin"),
        make_worded_candidate("play"),
        make_worded_candidate("play game"),
        make_worded_candidate(""),
    ]
    rare = compute_signals(parse_route("who plays the violin"), found)["rare"]
    assert rare[1] > rare[0] > rare[4]
    assert rare[0] == rare[3]


def test_both_words_count_for_most_and_order_does_not_matter() -> None:
    found = [
        make_worded_candidate("violin play"),
        make_worded_candidate("violin"),
        make_worded_candidate("play violin concert"),
        make_worded_candidate(""),
    ]
    rare = compute_signals(parse_route("who plays the violin"), found)["rare"]
    assert rare[0] == rare[2] == max(rare)


@pytest.mark.parametrize("asked", ["", "cello"])
def test_words_that_nobody_has_say_nothing(asked: str) -> None:
    found = [make_worded_candidate("play", asked), make_worded_candidate("violin", asked)]
    assert compute_signals(parse_route("who"), found)["rare"].tolist() == [0, 0]


def test_nothing_found_has_no_signals() -> None:
    assert {len(values) for values in compute_signals(parse_route("who"), []).values()} == {0}


@pytest.mark.parametrize(
    ("shorter", "longer"),
    [
        ("Thanks!", "We walked along the river until the boats came in"),
        ("谢谢", "我们沿着河边走了很久直到船回来"),
    ],
)
def test_a_longer_turn_says_more_in_any_script(shorter: str, longer: str) -> None:
    length = compute_signals(
        parse_route("who"), [make_candidate(text=shorter), make_candidate(text=longer)]
    )["length"]
    assert length[0] < length[1]


def test_length_is_bounded_and_of_turns_only() -> None:
    found = [make_candidate(text=text, kind=kind) for text, kind in BOUNDED]
    assert compute_signals(parse_route("who"), found)["length"].tolist() == [-1.5, 1.5, 0]


BOUNDED: tuple[tuple[str, MemoryKind], ...] = (
    ("", "turn"),
    ("word " * 500, "turn"),
    ("word " * 500, "note"),
)


@pytest.mark.parametrize(
    ("question", "others"),
    [
        ("what is Ana's job", [0, 1, 0]),  # a turn is its speaker's, whomever it is about
        ("where does Rita work, Ana asks", [0, 0, 0]),
        ("who is Ana's sister", [0, 0, 0]),
        ("who works nights", [0, 0, 0]),  # nobody is asked about
    ],
)
def test_a_fact_of_somebody_else_is_no_answer_about_oneself(
    question: str, others: list[int]
) -> None:
    found = [
        make_candidate()._replace(kind="fact", owner="Ana"),
        make_candidate()._replace(kind="fact", owner="Rita"),
        make_candidate()._replace(kind="turn", speaker="Rita"),
    ]
    assert compute_signals(parse_route(question), found)["others"].tolist() == others
