from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memoryhub.lab.training.learn import CandidateGroup, FloatArray, learn_weights

START = np.array([1.0, 0.0])


def make_group(values: list[tuple[float, float]], right: list[bool]) -> CandidateGroup:
    return CandidateGroup(np.array(values, dtype=float), np.array(right))


def make_examples(count: int) -> list[CandidateGroup]:
    """The second number tells the right one, the first nothing."""
    return [
        make_group([(1, 1), (at % 3, 0), (2, 0)], [True, False, False])
        for at in range(1, count + 1)
    ]


def test_what_tells_the_right_ones_apart_gains_weight() -> None:
    weights = learn_weights(make_examples(40), START, pull=1.0)
    assert weights[1] > 1
    assert weights[1] > weights[0]


def test_the_same_examples_give_the_same_weights() -> None:
    first, second = (learn_weights(make_examples(20), START, pull=5.0) for _ in range(2))
    assert first.tolist() == second.tolist()


def test_a_strong_pull_keeps_to_the_start_s_proportions() -> None:
    free, held = (learn_weights(make_examples(20), START, pull) for pull in (0.1, 1e6))
    assert abs(held[1]) < 0.01 < abs(free[1])
    assert held[0] > 0


def test_groups_without_right_or_without_wrong_ones_change_nothing() -> None:
    idle = [
        make_group([(1, 5), (0, 3)], [True, True]),
        make_group([(1, 5), (0, 3)], [False, False]),
    ]
    assert learn_weights(make_examples(10) + idle, START, 5.0) == pytest.approx(
        learn_weights(make_examples(10), START, 5.0)
    )
    with pytest.raises(ValueError, match="need at least one array"):
        learn_weights(idle, START, 5.0)


@settings(max_examples=25)
@given(st.lists(st.tuples(st.floats(-5, 5), st.floats(-5, 5)), min_size=2, max_size=6))
def test_the_right_one_is_never_likelier_before_than_after(
    values: list[tuple[float, float]],
) -> None:
    one = make_group(values, [True] + [False] * (len(values) - 1))
    learned = learn_weights([one], START, pull=0.001)

    def chance(weights: FloatArray) -> float:
        scores = np.exp(one.values @ weights - (one.values @ weights).max())
        return float(scores[0] / scores.sum())

    assert chance(learned) >= chance(START) - 0.02
