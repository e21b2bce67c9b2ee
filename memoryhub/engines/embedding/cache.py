"""An embedder that remembers: one text is embedded several times on its way through the hub.

A page's words are its note's, a note is embedded again when it learns a keyword, a question is
asked again with another filter. Vectors depend on nothing but the text and the model.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from threading import Lock

import numpy as np
from numpy.typing import NDArray

from memoryhub.engines.types import Embedder

MAX_VECTORS = 4096  # vectors: 6 MiB at 384 dimensions


class CachedEmbedder:
    """Implements `Embedder` with the vectors of the texts seen last kept in memory."""

    def __init__(self, inner: Embedder, most: int = MAX_VECTORS) -> None:
        self._inner = inner
        self._most = most
        self._known: OrderedDict[str, NDArray[np.float32]] = OrderedDict()
        self._lock = Lock()
        self.name, self.dimension, self.max_tokens = inner.name, inner.dimension, inner.max_tokens

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Those not known are embedded together. Raises EngineError."""
        found = self._find_cached(texts)
        missing = [text for text in dict.fromkeys(texts) if text not in found]
        if missing:
            made = dict(zip(missing, self._inner.embed(missing), strict=True))
            self._cache_vectors(made)
            found |= made
        rows = np.empty((len(texts), self.dimension), dtype=np.float32)
        for row, text in zip(rows, texts, strict=True):
            row[:] = found[text]
        return rows

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        return self._inner.count_tokens(texts)

    def _find_cached(self, texts: Sequence[str]) -> dict[str, NDArray[np.float32]]:
        with self._lock:
            found = {text: self._known[text] for text in texts if text in self._known}
            for text in found:
                self._known.move_to_end(text)
        return found

    def _cache_vectors(self, made: dict[str, NDArray[np.float32]]) -> None:
        with self._lock:
            # Copies: a row would keep the whole batch alive.
            self._known |= {text: vector.copy() for text, vector in made.items()}
            while len(self._known) > self._most:
                self._known.popitem(last=False)
