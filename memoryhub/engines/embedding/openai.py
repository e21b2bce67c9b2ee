"""Embeddings from any OpenAI-compatible /embeddings endpoint."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import openai
from numpy.typing import NDArray

from memoryhub.engines.embedding.model_files import count_tokens
from memoryhub.engines.embedding.vectors import shorten_rows
from memoryhub.engines.llm.client.endpoint import build_client, check_reply, translate_errors
from memoryhub.errors import EngineError

BATCH_SIZE = 64


class OpenAIEmbedder:
    """An Embedder over HTTP. Raises EngineError; `permanent` when a retry cannot help.

    The endpoint is asked for `dimension` components. One that refuses or ignores the wish
    gets its vectors cut to it and renormalised, right only for models trained to be cut.
    """

    def __init__(
        self,
        base_url: str,
        api_key: str,
        model: str,
        dimension: int,
        *,
        timeout: float = 60.0,
        max_tokens: int = 2000,
    ) -> None:
        self.name = f"{model}-{dimension}"
        self.dimension = dimension
        self.max_tokens = max_tokens
        self._model = model
        self._client = build_client(base_url, api_key, timeout)
        self._asks_dimension = True

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """(len(texts), dimension) float32 unit rows."""
        sent = [self._cut_to_limit(text) for text in texts]
        starts = range(0, len(sent), BATCH_SIZE)
        batches = [self._embed_batch(sent[start : start + BATCH_SIZE]) for start in starts]
        return np.concatenate([np.empty((0, self.dimension), np.float32), *batches])

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """By the MiniLM tokenizer, so that budgets mean the same with every embedder."""
        return count_tokens(texts)

    def _cut_to_limit(self, text: str) -> str:
        # Endpoints refuse empty input, and most refuse over-long input instead of cutting it.
        kept = text.strip() or "-"
        if len(kept) <= self.max_tokens:
            return kept
        share = self.max_tokens / max(count_tokens([kept])[0], self.max_tokens)
        return kept[: int(len(kept) * share)]

    def _embed_batch(self, texts: list[str]) -> NDArray[np.float32]:
        with translate_errors():
            reply = self._request_vectors(texts)
        rows = [item.embedding for item in sorted(reply.data, key=lambda item: item.index)]
        return self._check_vectors(rows, len(texts))

    def _request_vectors(self, texts: list[str]) -> openai.types.CreateEmbeddingResponse:
        if self._asks_dimension:
            try:
                return self._send_request(texts, self.dimension)
            except (openai.BadRequestError, openai.UnprocessableEntityError):
                reply = self._send_request(texts, openai.omit)
                self._asks_dimension = False
                return reply
        return self._send_request(texts, openai.omit)

    def _send_request(
        self, texts: list[str], dimensions: int | openai.Omit
    ) -> openai.types.CreateEmbeddingResponse:
        reply = self._client.embeddings.create(
            model=self._model, input=texts, dimensions=dimensions, encoding_format="float"
        )
        return check_reply(reply, "data")

    def _check_vectors(self, rows: list[list[float]], expected: int) -> NDArray[np.float32]:
        if len(rows) != expected:
            raise EngineError(f"The endpoint sent {len(rows)} vectors for {expected} texts")
        width = min(map(len, rows))
        if width < self.dimension or width != max(map(len, rows)):
            raise EngineError(
                f"The model {self._model} gives {width} dimensions, the hub stores "
                f"{self.dimension}: set MEMORYHUB_EMBEDDING_DIMENSION",
                permanent=True,
                code="dimension_mismatch",
            )
        vectors = np.asarray(rows, np.float32)
        if not np.isfinite(vectors).all():
            raise EngineError("The endpoint sent a vector that is not made of numbers")
        return shorten_rows(vectors, self.dimension)
