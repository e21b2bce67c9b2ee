"""Vectors in two dimensions: what is alike lies near, and the same vectors give the same map."""

from __future__ import annotations

import numpy as np
import pytest

from memoryhub.engines.projection import ROUNDS, FloatArray, project_to_plane


def make_groups(each: int = 12, dimensions: int = 16) -> FloatArray:
    """Three groups of like vectors."""
    noise = np.random.default_rng(3).normal(0, 0.05, (3 * each, dimensions))
    noise[np.arange(3 * each), np.repeat([0, 5, 10], each)] += 1
    return noise.astype(np.float32)


def test_what_is_alike_lies_near() -> None:
    places = project_to_plane(make_groups()).reshape(3, 12, 2)
    middles = places.mean(axis=1)
    within = np.linalg.norm(places - middles[:, None], axis=2).mean()
    between = np.linalg.norm(middles - middles.mean(axis=0), axis=1).mean()
    assert between > 3 * within


def test_the_map_is_the_same_each_time_and_fits_its_frame() -> None:
    first, second = project_to_plane(make_groups()), project_to_plane(make_groups())
    assert np.array_equal(first, second)
    assert np.abs(first).max() == pytest.approx(1)


def test_lengths_of_vectors_mean_nothing() -> None:
    vectors = make_groups()
    longer = vectors * np.exp2(np.arange(len(vectors)) % 5)[:, None].astype(np.float32)
    assert np.array_equal(project_to_plane(vectors), project_to_plane(longer))


@pytest.mark.parametrize("count", [0, 1, 2, 3, 4, 5, 6])
def test_a_few_memories_have_a_map_as_well(count: int) -> None:
    places = project_to_plane(make_groups()[:count])
    assert places.shape == (count, 2)
    assert np.isfinite(places).all()


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("one", [0.0, 1.0])
def test_memories_that_say_the_same_have_one_place(one: float) -> None:
    heard: list[int] = []
    assert not project_to_plane(np.full((9, 4), one, np.float32), heard.append).any()
    assert heard == [ROUNDS]


@pytest.mark.filterwarnings("error")
def test_one_that_says_something_else_stands_apart() -> None:
    vectors = np.ones((9, 4), np.float32)
    vectors[3, 0] = -1
    places = project_to_plane(vectors)
    assert np.isfinite(places).all()
    apart = np.linalg.norm(places - places[3], axis=1)
    assert np.delete(apart, 3).min() > 0


def test_it_tells_how_far_it_is_and_can_be_broken_off() -> None:
    heard: list[int] = []
    project_to_plane(make_groups(each=4), heard.append)
    assert heard == list(range(1, ROUNDS + 1))

    def enough(done: int) -> None:
        raise InterruptedError(done)

    with pytest.raises(InterruptedError):
        project_to_plane(make_groups(each=4), enough)
