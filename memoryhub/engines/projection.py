"""Vectors of many dimensions laid out in two, so that what is alike lies near (t-SNE)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

ROUNDS = 4  # of ROUND iterations each: the first pulls groups apart, the others settle them
STATE_ROUNDS = ROUNDS + 2  # with those in which a second state settles
ITERATIONS_PER_ROUND = 250
PRINCIPAL_COMPONENTS = 50  # left by principal components: the rest is noise, and takes time
PERPLEXITY = 30.0
SEED = 7
FEWEST_FOR_TSNE = 5  # so few have no neighbourhoods: their principal components do
FloatArray = NDArray[np.float32]


def ignore_progress(done: int) -> None:
    """For those who need not know how far it is."""


def project_to_plane(
    vectors: FloatArray, told: Callable[[int], object] = ignore_progress
) -> FloatArray:
    """(n, d) to (n, 2), between -1 and 1, the same for the same vectors.

    `told` hears after each of `ROUNDS` how many are done; what it raises breaks off. Directions
    are compared, not lengths. van der Maaten and Hinton 2008; started from principal components,
    so that far groups keep their order (Kobak and Berens 2019).
    """
    return _scale_to_unit(_lay_out(_compute_directions(vectors), told))


def project_both_states(
    before: FloatArray, after: FloatArray, told: Callable[[int], object] = ignore_progress
) -> tuple[FloatArray, FloatArray]:
    """Two states of the same n things, (n, d) each, to (n, 2) in one frame between -1 and 1.

    The second state settles from the places of the first: what has other neighbours goes to them,
    and the rest stays about where it was. `told` hears of `STATE_ROUNDS`.
    """
    first = _lay_out(_compute_directions(before), told)
    second = _turn_towards(first, _lay_out(_compute_directions(after), told, first))
    both = _scale_to_unit(np.vstack([first, second]))
    return both[: len(first)], both[len(first) :]


def _compute_directions(vectors: FloatArray) -> FloatArray:
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    directions: FloatArray = vectors / np.maximum(lengths, 1e-9)
    return directions


def _lay_out(
    directions: FloatArray, told: Callable[[int], object], start: FloatArray | None = None
) -> FloatArray:
    """Places of no particular size. With a `start` only the rounds that settle are done."""
    rounds = range(1, ROUNDS + 1) if start is None else range(ROUNDS + 1, STATE_ROUNDS + 1)
    if len(directions) < 2 or not np.ptp(directions, axis=0).any():
        told(rounds[-1])  # what can't be told apart has one place, and no components
        return np.zeros((len(directions), 2), np.float32)
    reduced = _reduce_dimensions(directions)
    if start is None or not start.any() or len(directions) < FEWEST_FOR_TSNE:
        start = _place_by_components(reduced)
    places = start
    for done in rounds:
        if len(directions) >= FEWEST_FOR_TSNE:
            places = _refine_places(reduced, places, early=done == 1)
        told(done)
    return places


def _reduce_dimensions(vectors: FloatArray) -> FloatArray:
    from sklearn.decomposition import PCA  # takes a second to import

    most = min(PRINCIPAL_COMPONENTS, *vectors.shape)
    found: FloatArray = PCA(n_components=most, random_state=SEED).fit_transform(vectors)
    return found.astype(np.float32)


def _place_by_components(reduced: FloatArray) -> FloatArray:
    """The first two components, small enough for t-SNE to move them."""
    two = np.zeros((len(reduced), 2), np.float32)
    two[:, : reduced.shape[1]] = reduced[:, :2]
    spread = float(two[:, 0].std()) or 1.0
    found: FloatArray = two / spread * 1e-4
    return found


def _refine_places(reduced: FloatArray, places: FloatArray, *, early: bool) -> FloatArray:
    from sklearn.manifold import TSNE

    settings: dict[str, Any] = {
        "early_exaggeration": 12.0 if early else 1.0,
        "max_iter": ITERATIONS_PER_ROUND,
    }
    settings |= {"perplexity": min(PERPLEXITY, (len(reduced) - 1) / 3), "random_state": SEED}
    found: FloatArray = TSNE(n_components=2, init=places, n_jobs=1, **settings).fit_transform(
        reduced
    )
    return found.astype(np.float32)


def _turn_towards(first: FloatArray, second: FloatArray) -> FloatArray:
    """The second, shifted and turned to lie on the first: a map has no direction of its own, and
    what all points do together says nothing (orthogonal Procrustes; Schönemann 1966)."""
    if not len(first):
        return second
    middle, around = first.mean(axis=0), second - second.mean(axis=0)
    left, _, right = np.linalg.svd(around.T @ (first - middle))
    turned: FloatArray = around @ (left @ right) + middle
    return turned


def _scale_to_unit(places: FloatArray) -> FloatArray:
    if not len(places):
        return places
    middle = places - (places.max(axis=0) + places.min(axis=0)) / 2
    widest = float(np.abs(middle).max())
    scaled: FloatArray = middle / widest if widest else middle
    return scaled
