"""An embedder that remembers: one text is embedded several times on its way through the hub.

A page's words are its note's, a note is embedded again when it learns a keyword, a question is
asked again with another filter. Vectors depend on nothing but the text and the model.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Sequence
from threading import Lock

import numpy as np
from numpy.typing import NDArray

from memoryhub.engines.types import Embedder, embed_questions

MAX_VECTORS = 4096  # vectors: 6 MiB at 384 dimensions
# Whether it is asked, and the text: a question's vector may be another than a statement's.
_Key = tuple[bool, str]
_Embed = Callable[[Sequence[str]], NDArray[np.float32]]


class CachedEmbedder:
    """Implements `Embedder` with the vectors of the texts seen last kept in memory."""

    def __init__(self, inner: Embedder, most: int = MAX_VECTORS) -> None:
        self._inner = inner
        self._most = most
        self._known: OrderedDict[_Key, NDArray[np.float32]] = OrderedDict()
        self._lock = Lock()
        self.name, self.dimension, self.max_tokens = inner.name, inner.dimension, inner.max_tokens

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Those not known are embedded together. Raises EngineError."""
        return self._embed_unknown(texts, self._inner.embed, asked=False)

    def embed_questions(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """As `embed`."""
        return self._embed_unknown(texts, self._ask_inner, asked=True)

    def _ask_inner(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return embed_questions(self._inner, texts)

    def _embed_unknown(
        self, texts: Sequence[str], embed: _Embed, *, asked: bool
    ) -> NDArray[np.float32]:
        keys = [(asked, text) for text in texts]
        found = self._find_cached(keys)
        missing = [key for key in dict.fromkeys(keys) if key not in found]
        if missing:
            made = dict(zip(missing, embed([text for _, text in missing]), strict=True))
            self._cache_vectors(made)
            found |= made
        rows = np.empty((len(texts), self.dimension), dtype=np.float32)
        for row, key in zip(rows, keys, strict=True):
            row[:] = found[key]
        return rows

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        return self._inner.count_tokens(texts)

    def _find_cached(self, keys: Sequence[_Key]) -> dict[_Key, NDArray[np.float32]]:
        with self._lock:
            found = {key: self._known[key] for key in keys if key in self._known}
            for key in found:
                self._known.move_to_end(key)
        return found

    def _cache_vectors(self, made: dict[_Key, NDArray[np.float32]]) -> None:
        with self._lock:
            # Copies: a row would keep the whole batch alive.
            self._known |= {key: vector.copy() for key, vector in made.items()}
            while len(self._known) > self._most:
                self._known.popitem(last=False)
