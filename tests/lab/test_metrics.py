from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoryhub.lab.metrics.rankings import (
    RankingOutcome,
    compute_hit_at,
    compute_means,
    compute_ndcg_at,
    compute_percentile,
    compute_recall_at,
    compute_recall_within,
    compute_session_recall_at,
    count_tokens_at,
    group_by_key,
)


def make_ranking(
    ranked: list[str], evidence: set[str], tokens: int = 100, category: int = 4
) -> RankingOutcome:
    refs = [frozenset(names.split("+")) for names in ranked]
    return RankingOutcome(category, frozenset(evidence), refs, [tokens] * len(ranked))


def test_recall_is_the_share_of_the_evidence_found() -> None:
    found = make_ranking(["a", "x", "b"], {"a", "b"})
    assert [compute_recall_at(found, cut) for cut in (1, 2, 3)] == [0.5, 0.5, 1.0]


def test_a_fact_stands_for_all_its_turns() -> None:
    assert compute_recall_at(make_ranking(["a+b"], {"a", "b"}), 1) == 1.0


def test_the_token_budget_is_filled_in_order() -> None:
    found = make_ranking(["x", "a", "b"], {"a", "b"}, tokens=200)
    assert [compute_recall_within(found, budget) for budget in (199, 250, 400, 1000)] == [
        0,
        0,
        0.5,
        1,
    ]


def test_a_session_is_found_by_any_turn_of_it() -> None:
    found = make_ranking(["D1:9", "D7:1", "D2:3+D3:4"], {"D1:2", "D1:5", "D3:1"})
    assert [compute_session_recall_at(found, cut) for cut in (1, 2, 3)] == [0.5, 0.5, 1.0]
    assert compute_recall_at(found, 3) == 0


def test_a_hit_is_any_of_the_evidence() -> None:
    found = make_ranking(["x", "a", "y", "b"], {"a", "b"})
    assert [compute_hit_at(found, cut) for cut in (1, 3, 5)] == [0, 1, 1]


def test_tokens_are_those_of_the_first_results() -> None:
    assert count_tokens_at(make_ranking(["x"] * 12, {"a"}), 10) == 1000
    assert count_tokens_at(make_ranking(["x"], {"a"}), 10) == 100


def test_ndcg_rewards_the_top_and_counts_evidence_once() -> None:
    assert compute_ndcg_at(make_ranking(["a", "x"], {"a"}), 10) == 1.0
    assert compute_ndcg_at(make_ranking(["x", "a"], {"a"}), 10) == pytest.approx(0.6309, abs=1e-4)
    assert compute_ndcg_at(make_ranking(["a", "a"], {"a"}), 10) == 1.0


@given(
    st.lists(st.sampled_from("abcdefgh"), unique=True),
    st.sets(st.sampled_from("abcxyz"), min_size=1),
)
def test_every_measure_lies_between_none_and_all(ranked: list[str], evidence: set[str]) -> None:
    values = compute_means([make_ranking(ranked, evidence)])
    assert values.pop("tokens@10") == 100 * len(ranked)
    assert all(0 <= value <= 1 for value in values.values())


@given(
    st.lists(st.sampled_from("abcdefgh"), unique=True),
    st.sets(st.sampled_from("abcxyz"), min_size=1),
)
def test_recall_grows_with_the_cut(ranked: list[str], evidence: set[str]) -> None:
    found = make_ranking(ranked, evidence)
    shares = [compute_recall_at(found, cut) for cut in range(1, 10)]
    assert shares == sorted(shares)


def test_the_summary_is_the_mean_over_questions() -> None:
    both = [make_ranking(["a"], {"a"}), make_ranking(["x"], {"a"})]
    assert compute_means(both)["recall@1"] == 0.5
    assert compute_means([])["recall@1"] == 0.0


def test_categories_come_in_order() -> None:
    groups = group_by_key(
        [make_ranking([], {"a"}, category=n) for n in (4, 1, 4)], lambda outcome: outcome.category
    )
    assert {number: len(rows) for number, rows in groups.items()} == {1: 1, 4: 2}
    assert list(groups) == [1, 4]


def test_percentiles() -> None:
    assert compute_percentile([1, 2, 3], 50) == 2
    assert compute_percentile([], 95) == 0
