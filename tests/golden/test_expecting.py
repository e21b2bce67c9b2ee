"""When an expectation is met, and which of two settings did better."""

from __future__ import annotations

from datetime import UTC, datetime
from uuid import UUID, uuid4

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoryhub.golden.expectations import (
    Expectation,
    QuestionOutcome,
    compare_outcomes,
    compute_overlap,
    find_rank,
    summarise_outcomes,
)
from memoryhub.recall.render.results import ItemKind, MemoryItem, TurnSource

AT = datetime(2026, 5, 12, tzinfo=UTC)
RANKS = st.lists(st.none() | st.integers(1, 10), min_size=1, max_size=5).map(tuple)


def make_found_item(
    kind: ItemKind = "fact", *, own: UUID | None = None, turn: UUID | None = None
) -> MemoryItem:
    sources = [TurnSource(turn, "D1:1", "Ana", "…", AT)] if turn else []
    return MemoryItem(kind, own or uuid4(), "words", 1.0, {}, AT, sources=sources)


def test_it_is_met_by_itself_at_its_place() -> None:
    wanted = uuid4()
    expected = Expectation("note", str(wanted))
    assert find_rank(expected, [make_found_item(), make_found_item("note", own=wanted)], {}) == 2
    assert find_rank(expected, [make_found_item(), make_found_item()], {}) is None


def test_a_fact_is_met_by_a_later_version_of_it() -> None:
    lineage, newer = str(uuid4()), make_found_item()
    expected = Expectation("fact", str(uuid4()), lineage)
    assert find_rank(expected, [newer], {str(newer.id): lineage}) == 1
    assert find_rank(expected, [newer], {str(newer.id): str(uuid4())}) is None
    # A fact of no known lineage is no successor of a note, which has none.
    assert find_rank(Expectation("note", str(uuid4())), [newer], {}) is None


def test_derived_anew_it_is_met_by_what_rests_on_its_turn_and_by_the_turn_itself() -> None:
    turn = uuid4()
    expected = Expectation("fact", str(uuid4()), str(uuid4()), (str(turn),))
    assert find_rank(expected, [make_found_item(), make_found_item(turn=turn)], {}) == 2
    assert find_rank(expected, [make_found_item("turn", own=turn)], {}) == 1
    assert find_rank(expected, [make_found_item(turn=uuid4())], {}) is None


def test_more_found_is_better_and_with_as_much_what_stands_higher() -> None:
    tenth, second, nothing = QuestionOutcome((10,)), QuestionOutcome((2,)), QuestionOutcome((None,))
    assert compare_outcomes(nothing, tenth) == "better"
    assert compare_outcomes(tenth, second) == "better"
    assert compare_outcomes(second, nothing) == "worse"
    assert compare_outcomes(second, QuestionOutcome((2,), milliseconds=900)) == "same"
    # Both of two, low, is more than one of them first.
    assert compare_outcomes(QuestionOutcome((1, None)), QuestionOutcome((9, 10))) == "better"


@given(RANKS, RANKS)
def test_what_is_better_one_way_is_worse_the_other(
    one: tuple[int | None, ...], other: tuple[int | None, ...]
) -> None:
    turned = {"better": "worse", "worse": "better", "same": "same"}
    assert (
        compare_outcomes(QuestionOutcome(other), QuestionOutcome(one))
        == turned[compare_outcomes(QuestionOutcome(one), QuestionOutcome(other))]
    )


def test_a_summary_counts_shares_and_sums() -> None:
    told = summarise_outcomes(
        [
            QuestionOutcome((1, 6), milliseconds=10, tokens=5, calls=1, handed=40),
            QuestionOutcome(
                (None,), insufficient=True, degraded=("judge",), milliseconds=30, handed=20
            ),
        ]
    )
    assert told.recall == pytest.approx({1: 0.25, 5: 0.25, 10: 0.5})
    assert (told.insufficient, told.degraded, told.tokens, told.calls) == (1, 1, 5, 1)
    assert (told.p50, told.p95, told.handed) == (10, 30, 30)


def test_a_summary_of_nothing_divides_by_nothing() -> None:
    assert summarise_outcomes([]).recall == {1: 0, 5: 0, 10: 0}


def test_overlap_is_of_the_longer_list() -> None:
    assert compute_overlap("abcd", "abxy") == 0.5
    assert compute_overlap("ab", "abcd") == 0.5
    assert compute_overlap("", "") == 1.0
    assert compute_overlap("a", "") == 0.0
