"""Pages, the short-term queue and F, as functions of plain values."""

from __future__ import annotations

import numpy as np
import pytest

from notes.topics.segments import (
    PageReadState,
    Topic,
    compute_affinity,
    compute_jaccard,
    find_best_segment,
    merge_keywords,
    merge_summaries,
    select_leaving_pages,
)

R, P, F = PageReadState.READ, PageReadState.PENDING, PageReadState.FAILED


@pytest.mark.parametrize(
    ("queue", "gone"),
    [
        ([R] * 8, [0]),
        ([R] * 7, []),
        ([P, *[R] * 9], []),
        ([R, P, *[R] * 8], [0]),
        ([F, *[R] * 9], [1, 2, 3]),
        ([R] * 7 + [P], [0]),
    ],
)
def test_MO1_who_leaves_the_queue(queue: list[PageReadState], gone: list[int]) -> None:
    assert select_leaving_pages(queue, 7) == gone


def test_MO3_jaccard_of_keywords() -> None:
    assert compute_jaccard("abc", "bcd") == 0.5
    assert compute_jaccard([], []) == 0
    assert compute_jaccard(["Oak"], ["oak"]) == 1.0
    assert compute_jaccard(["成都"], ["成都", "上海"]) == 0.5


def make_topic(*vector: float, keywords: tuple[str, ...] = ()) -> Topic:
    return Topic(np.asarray(vector, dtype=np.float32), keywords)


def test_MO2_thresholds_compare_rounded_and_strictly() -> None:
    assert compute_affinity(0.55, 0.05) == 0.60
    assert find_best_segment(make_topic(0.55, 0.835), [make_topic(1, 0)], 0.55) is None
    assert find_best_segment(make_topic(0.55, 0.835), [make_topic(1, 0)], 0.5499) == (0, 0.55)
    assert find_best_segment(make_topic(1, 0), [], 0.6) is None


def test_O13_keywords_decide_between_segments_as_like() -> None:
    segments = [
        make_topic(1, 0),
        make_topic(1, 0, keywords=("oak",)),
        make_topic(0, 1, keywords=("oak",)),
    ]
    assert find_best_segment(make_topic(1, 0, keywords=("oak",)), segments, 0.6) == (1, 2.0)


def test_a_segment_without_a_vector_may_still_share_keywords() -> None:
    bare = Topic(None, ("oak",))
    assert find_best_segment(make_topic(1, 0, keywords=("oak",)), [bare], 0.6) == (0, 1.0)


def test_without_vectors_of_its_language_a_theme_is_compared_by_words() -> None:
    theme = Topic(None, ("攀岩", "膝盖"))
    climbing = Topic(np.ones(2, dtype=np.float32), ("岩馆",), "林晓雨开始学攀岩了，膝盖好多了。")
    assert find_best_segment(theme, [Topic(None, ("花店",)), climbing], 0.6) == (1, 1.0)


def test_keywords_of_both_come_first_and_neither_side_is_crowded_out() -> None:
    held = [f"h{n}" for n in range(12)]
    merged = merge_keywords(held, ["n1", "H3", "n2"])
    assert merged[:3] == ["h3", "n1", "h0"]
    assert len(merged) == 12
    assert "n2" in merged


def test_summaries_are_joined_without_saying_anything_twice() -> None:
    assert merge_summaries("Tea. Cake.", "Cake. Dogs.") == "Tea. Cake. Dogs."
    assert merge_summaries("", "Tea.") == "Tea."
    assert merge_summaries("她喝茶。", "她喝茶。她养狗。") == "她喝茶。她养狗。"
