"""The default embedder: MiniLM for what is not Chinese, vectors of words for what is.

A question is read otherwise than a statement: as what would answer it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from memoryhub.engines.embedding.chinese import get_chinese_words
from memoryhub.engines.embedding.onnx import (
    QUESTIONS_GRAPH_FILE,
    OnnxMiniLM,
    get_onnx_minilm,
)
from memoryhub.engines.local.language import CHINESE_WORDS_SUFFIX, detect_language

FloatArray = NDArray[np.float32]


class PackagedEmbedder:
    """A Chinese text's vector has the words' numbers and then zeros: it is compared with other
    Chinese ones, and is about as near to one text of another language as to the next."""

    name = OnnxMiniLM.name + CHINESE_WORDS_SUFFIX

    def __init__(self, minilm: OnnxMiniLM, asking: OnnxMiniLM) -> None:
        self._minilm, self._asking = minilm, asking
        self.dimension, self.max_tokens = minilm.dimension, minilm.max_tokens

    def embed(self, texts: Sequence[str]) -> FloatArray:
        """(len(texts), 384) float32 rows of length 1, or 0 for Chinese of unknown words alone."""
        return _embed_by_language(texts, self._minilm, get_chinese_words().embed_statements)

    def embed_questions(self, texts: Sequence[str]) -> FloatArray:
        """As `embed`, each drawn to what would answer it."""
        return _embed_by_language(texts, self._asking, get_chinese_words().embed_questions)

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        return self._minilm.count_tokens(texts)


def _embed_by_language(
    texts: Sequence[str],
    minilm: OnnxMiniLM,
    embed_chinese: Callable[[Sequence[str]], FloatArray],
) -> FloatArray:
    chinese = np.array([detect_language(text) == "zh" for text in texts], dtype=bool)
    if not chinese.any():
        return minilm.embed(texts)
    rows = np.zeros((len(texts), minilm.dimension), np.float32)
    made = embed_chinese([text for text, own in zip(texts, chinese, strict=True) if own])
    rows[chinese, : made.shape[1]] = made
    others = [text for text, own in zip(texts, chinese, strict=True) if not own]
    if others:
        rows[~chinese] = minilm.embed(others)
    return rows


def get_packaged_embedder(threads: int = 1) -> PackagedEmbedder:
    """One for all of a process."""
    return PackagedEmbedder(
        get_onnx_minilm(threads), get_onnx_minilm(threads, QUESTIONS_GRAPH_FILE)
    )
