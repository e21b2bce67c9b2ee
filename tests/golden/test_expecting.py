"""When an expectation is met, and which of two settings did better."""

from __future__ import annotations

from datetime import UTC, datetime
from uuid import UUID, uuid4

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoryhub.golden.expecting import Expectation, Outcome, overlap, rank_of, summary, verdict
from memoryhub.recall.results import Item, ItemKind, Source

AT = datetime(2026, 5, 12, tzinfo=UTC)
RANKS = st.lists(st.none() | st.integers(1, 10), min_size=1, max_size=5).map(tuple)


def item(kind: ItemKind = "fact", *, own: UUID | None = None, turn: UUID | None = None) -> Item:
    sources = [Source(turn, "D1:1", "Ana", "…", AT)] if turn else []
    return Item(kind, own or uuid4(), "words", 1.0, {}, AT, sources=sources)


def test_it_is_met_by_itself_at_its_place() -> None:
    wanted = uuid4()
    expected = Expectation("note", str(wanted))
    assert rank_of(expected, [item(), item("note", own=wanted)], {}) == 2
    assert rank_of(expected, [item(), item()], {}) is None


def test_a_fact_is_met_by_a_later_version_of_it() -> None:
    lineage, newer = str(uuid4()), item()
    expected = Expectation("fact", str(uuid4()), lineage)
    assert rank_of(expected, [newer], {str(newer.id): lineage}) == 1
    assert rank_of(expected, [newer], {str(newer.id): str(uuid4())}) is None
    # A fact of no known lineage is no successor of a note, which has none.
    assert rank_of(Expectation("note", str(uuid4())), [newer], {}) is None


def test_derived_anew_it_is_met_by_what_rests_on_its_turn_and_by_the_turn_itself() -> None:
    turn = uuid4()
    expected = Expectation("fact", str(uuid4()), str(uuid4()), (str(turn),))
    assert rank_of(expected, [item(), item(turn=turn)], {}) == 2
    assert rank_of(expected, [item("turn", own=turn)], {}) == 1
    assert rank_of(expected, [item(turn=uuid4())], {}) is None


def test_more_found_is_better_and_with_as_much_what_stands_higher() -> None:
    tenth, second, nothing = Outcome((10,)), Outcome((2,)), Outcome((None,))
    assert verdict(nothing, tenth) == "better"
    assert verdict(tenth, second) == "better"
    assert verdict(second, nothing) == "worse"
    assert verdict(second, Outcome((2,), milliseconds=900)) == "same"
    # Both of two, low, is more than one of them first.
    assert verdict(Outcome((1, None)), Outcome((9, 10))) == "better"


@given(RANKS, RANKS)
def test_what_is_better_one_way_is_worse_the_other(
    one: tuple[int | None, ...], other: tuple[int | None, ...]
) -> None:
    turned = {"better": "worse", "worse": "better", "same": "same"}
    assert verdict(Outcome(other), Outcome(one)) == turned[verdict(Outcome(one), Outcome(other))]


def test_a_summary_counts_shares_and_sums() -> None:
    told = summary(
        [
            Outcome((1, 6), milliseconds=10, tokens=5, calls=1, handed=40),
            Outcome((None,), insufficient=True, degraded=("judge",), milliseconds=30, handed=20),
        ]
    )
    assert told.recall == pytest.approx({1: 0.25, 5: 0.25, 10: 0.5})
    assert (told.insufficient, told.degraded, told.tokens, told.calls) == (1, 1, 5, 1)
    assert (told.p50, told.p95, told.handed) == (10, 30, 30)


def test_a_summary_of_nothing_divides_by_nothing() -> None:
    assert summary([]).recall == {1: 0, 5: 0, 10: 0}


def test_overlap_is_of_the_longer_list() -> None:
    assert overlap("abcd", "abxy") == 0.5
    assert overlap("ab", "abcd") == 0.5
    assert overlap("", "") == 1.0
    assert overlap("a", "") == 0.0
