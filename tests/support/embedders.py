"""Models that answer at once and always alike (spec §15.1)."""

from __future__ import annotations

import zlib
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from memoryhub.dialogues.messages import normalise_text


class BagOfWords:
    """The spec's TableEmbedder without a table: a hashed bag of normalised words."""

    name, dimension, max_tokens = "bag-of-words", 64, 256

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        made = np.zeros((len(texts), self.dimension), dtype=np.float32)
        for row, text in zip(made, texts, strict=True):
            for word in normalise_text(text).split():
                row[zlib.crc32(word.encode()) % self.dimension] += 1
        norms = np.linalg.norm(made, axis=1, keepdims=True)
        return (made / np.where(norms == 0, 1, norms)).astype(np.float32)

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        return [len(text.split()) for text in texts]
