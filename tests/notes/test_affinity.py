"""Pages, the short-term queue and F, as functions of plain values."""

from __future__ import annotations

import numpy as np
import pytest

from notes.placing import (
    Topic,
    Waiting,
    affinity,
    best_match,
    jaccard,
    leaving,
    merged_keywords,
    merged_summary,
)

R, P, F = Waiting.READ, Waiting.PENDING, Waiting.FAILED


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
def test_MO1_who_leaves_the_queue(queue: list[Waiting], gone: list[int]) -> None:
    assert leaving(queue, 7) == gone


def test_MO3_jaccard_of_keywords() -> None:
    assert jaccard("abc", "bcd") == 0.5
    assert jaccard([], []) == 0
    assert jaccard(["Oak"], ["oak"]) == 1.0
    assert jaccard(["成都"], ["成都", "上海"]) == 0.5


def topic(*vector: float, keywords: tuple[str, ...] = ()) -> Topic:
    return Topic(np.asarray(vector, dtype=np.float32), keywords)


def test_MO2_thresholds_compare_rounded_and_strictly() -> None:
    assert affinity(0.55, 0.05) == 0.60
    assert best_match(topic(0.55, 0.835), [topic(1, 0)], 0.55) is None
    assert best_match(topic(0.55, 0.835), [topic(1, 0)], 0.5499) == (0, 0.55)
    assert best_match(topic(1, 0), [], 0.6) is None


def test_O13_keywords_decide_between_segments_as_like() -> None:
    segments = [topic(1, 0), topic(1, 0, keywords=("oak",)), topic(0, 1, keywords=("oak",))]
    assert best_match(topic(1, 0, keywords=("oak",)), segments, 0.6) == (1, 2.0)


def test_a_segment_without_a_vector_may_still_share_keywords() -> None:
    bare = Topic(None, ("oak",))
    assert best_match(topic(1, 0, keywords=("oak",)), [bare], 0.6) == (0, 1.0)


def test_without_vectors_of_its_language_a_theme_is_compared_by_words() -> None:
    theme = Topic(None, ("攀岩", "膝盖"))
    climbing = Topic(np.ones(2, dtype=np.float32), ("岩馆",), "林晓雨开始学攀岩了，膝盖好多了。")
    assert best_match(theme, [Topic(None, ("花店",)), climbing], 0.6) == (1, 1.0)


def test_keywords_of_both_come_first_and_neither_side_is_crowded_out() -> None:
    held = [f"h{n}" for n in range(12)]
    merged = merged_keywords(held, ["n1", "H3", "n2"])
    assert merged[:3] == ["h3", "n1", "h0"]
    assert len(merged) == 12
    assert "n2" in merged


def test_summaries_are_joined_without_saying_anything_twice() -> None:
    assert merged_summary("Tea. Cake.", "Cake. Dogs.") == "Tea. Cake. Dogs."
    assert merged_summary("", "Tea.") == "Tea."
    assert merged_summary("她喝茶。", "她喝茶。她养狗。") == "她喝茶。她养狗。"
