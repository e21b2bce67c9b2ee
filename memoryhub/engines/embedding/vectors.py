"""Arithmetic on embedding vectors."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def normalise_rows(rows: NDArray[np.float32]) -> NDArray[np.float32]:
    """Each row scaled to length 1; a zero row stays zero (similarity 0, spec §0.1)."""
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    scaled: NDArray[np.float32] = (rows / np.where(lengths > 0, lengths, 1)).astype(np.float32)
    return scaled


def shorten_rows(rows: NDArray[np.float32], dimension: int) -> NDArray[np.float32]:
    """The first `dimension` components, renormalised (for Matryoshka-trained models)."""
    return normalise_rows(rows[:, :dimension])
