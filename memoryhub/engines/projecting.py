"""Vectors of many dimensions laid out in two, so that what is alike lies near (t-SNE)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

ROUNDS = 4  # of ROUND iterations each: the first pulls groups apart, the others settle them
ROUND = 250
DIMENSIONS = 50  # left by principal components: the rest is noise, and takes time
PERPLEXITY = 30.0
SEED = 7
FEW = 5  # so few have no neighbourhoods: their principal components do
Floats = NDArray[np.float32]


def unheard(done: int) -> None:
    """For those who need not know how far it is."""


def project(vectors: Floats, told: Callable[[int], object] = unheard) -> Floats:
    """(n, d) to (n, 2), between -1 and 1, the same for the same vectors.

    `told` hears after each of `ROUNDS` how many are done; what it raises breaks off. Directions
    are compared, not lengths. van der Maaten and Hinton 2008; started from principal components,
    so that far groups keep their order (Kobak and Berens 2019).
    """
    directions = _directions(vectors)
    if len(vectors) < 2 or not np.ptp(directions, axis=0).any():
        told(ROUNDS)  # what can't be told apart has one place, and no components
        return np.zeros((len(vectors), 2), np.float32)
    reduced = _principal(directions)
    places = _flat(reduced)
    for done in range(1, ROUNDS + 1):
        if len(vectors) >= FEW:
            places = _settled(reduced, places, early=done == 1)
        told(done)
    return _within(places)


def _directions(vectors: Floats) -> Floats:
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    found: Floats = vectors / np.maximum(lengths, 1e-9)
    return found


def _principal(vectors: Floats) -> Floats:
    from sklearn.decomposition import PCA  # takes a second to import

    most = min(DIMENSIONS, *vectors.shape)
    found: Floats = PCA(n_components=most, random_state=SEED).fit_transform(vectors)
    return found.astype(np.float32)


def _flat(reduced: Floats) -> Floats:
    """The first two components, small enough for t-SNE to move them."""
    two = np.zeros((len(reduced), 2), np.float32)
    two[:, : reduced.shape[1]] = reduced[:, :2]
    spread = float(two[:, 0].std()) or 1.0
    found: Floats = two / spread * 1e-4
    return found


def _settled(reduced: Floats, places: Floats, *, early: bool) -> Floats:
    from sklearn.manifold import TSNE

    settings: dict[str, Any] = {"early_exaggeration": 12.0 if early else 1.0, "max_iter": ROUND}
    settings |= {"perplexity": min(PERPLEXITY, (len(reduced) - 1) / 3), "random_state": SEED}
    found: Floats = TSNE(n_components=2, init=places, n_jobs=1, **settings).fit_transform(reduced)
    return found.astype(np.float32)


def _within(places: Floats) -> Floats:
    middle = places - (places.max(axis=0) + places.min(axis=0)) / 2
    widest = float(np.abs(middle).max())
    scaled: Floats = middle / widest if widest else middle
    return scaled
