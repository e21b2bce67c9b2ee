"""Vectors of many dimensions laid out in two, so that what is alike lies near (t-SNE)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

ROUNDS = 4  # of ROUND iterations each: the first pulls groups apart, the others settle them
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
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    directions: FloatArray = vectors / np.maximum(lengths, 1e-9)
    if len(vectors) < 2 or not np.ptp(directions, axis=0).any():
        told(ROUNDS)  # what can't be told apart has one place, and no components
        return np.zeros((len(vectors), 2), np.float32)
    reduced = _reduce_dimensions(directions)
    places = _place_by_components(reduced)
    for done in range(1, ROUNDS + 1):
        if len(vectors) >= FEWEST_FOR_TSNE:
            places = _refine_places(reduced, places, early=done == 1)
        told(done)
    return _scale_to_unit(places)


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


def _scale_to_unit(places: FloatArray) -> FloatArray:
    middle = places - (places.max(axis=0) + places.min(axis=0)) / 2
    widest = float(np.abs(middle).max())
    scaled: FloatArray = middle / widest if widest else middle
    return scaled
