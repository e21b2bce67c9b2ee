"""Vectors in two dimensions: what is alike lies near, and the same vectors give the same map."""

from __future__ import annotations

import numpy as np
import pytest

from memoryhub.engines.projection import (
    ROUNDS,
    STATE_ROUNDS,
    FloatArray,
    project_both_states,
    project_to_plane,
)


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


def test_of_two_states_what_changed_goes_to_its_new_neighbours_and_the_rest_stays() -> None:
    before, heard = make_groups(), list[int]()
    after = before.copy()
    after[0] = before[12:24].mean(axis=0)  # of the first group, now of the second
    first, second = project_both_states(before, after, heard.append)
    assert heard == list(range(1, STATE_ROUNDS + 1))
    assert np.abs(np.vstack([first, second])).max() == pytest.approx(1)

    def find_group(places: FloatArray) -> int:
        groups = places[1:12].mean(axis=0), places[12:24].mean(axis=0), places[24:].mean(axis=0)
        return int(np.argmin([np.linalg.norm(places[0] - middle) for middle in groups]))

    assert (find_group(first), find_group(second)) == (0, 1)
    moved = np.linalg.norm(second - first, axis=1)
    assert moved[0] > 3 * np.median(moved[1:])


@pytest.mark.filterwarnings("error::RuntimeWarning")
@pytest.mark.parametrize("count", [0, 1, 4, 6])
def test_two_states_of_a_few_have_a_map_as_well(count: int) -> None:
    """Also where the things of one of them can't be told apart."""
    told, untold = make_groups()[:count], np.ones((count, 16), np.float32)
    for before, after in ((told, untold), (untold, told)):
        for places in project_both_states(before, after):
            assert places.shape == (count, 2)
            assert np.isfinite(places).all()
