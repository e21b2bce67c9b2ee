"""Any cross-encoder of sentence-transformers on torch; needs the extra of that name."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

import numpy as np

from memoryhub.engines.embedding.sentence_transformers import check_extra_installed
from memoryhub.errors import EngineError

if TYPE_CHECKING:
    from sentence_transformers import CrossEncoder

# Few at a time: between two batches it is seen whether there is time for another.
BATCH_SIZE = 8


class CrossEncoderReranker:
    """A Reranker on torch, with the GPU when there is one.

    `model` is a folder or a model's name in the local cache; nothing is downloaded. A question
    that takes longer than `timeout` seconds is given up.
    """

    tells_odds = False

    def __init__(self, model: str, *, timeout: float = 5.0) -> None:
        self.name = Path(model).name
        self._model = _load_model(model)
        self._timeout = timeout
        self._lock = Lock()

    def score_texts(self, question: str, texts: Sequence[str]) -> list[float]:
        """One score a text, the higher the better. Raises EngineError."""
        until = time.monotonic() + self._timeout
        scores: list[float] = []
        # The tokenizer keeps state while it pads, so callers take turns.
        if not self._lock.acquire(timeout=self._timeout):
            raise _build_timeout_error()
        try:
            for start in range(0, len(texts), BATCH_SIZE):
                if time.monotonic() > until:
                    raise _build_timeout_error()
                pairs = [(question, text) for text in texts[start : start + BATCH_SIZE]]
                made = self._model.predict(pairs, batch_size=BATCH_SIZE, show_progress_bar=False)
                scores += np.asarray(made, dtype=float).tolist()
        finally:
            self._lock.release()
        if not np.isfinite(scores).all():
            raise EngineError("The reranker gave a score that is no number")
        return scores


def _build_timeout_error() -> EngineError:
    return EngineError("The reranker was not done in time", code="timeout")


def _load_model(path: str) -> CrossEncoder:
    check_extra_installed()
    from sentence_transformers import CrossEncoder

    try:
        model: CrossEncoder = CrossEncoder(path, local_files_only=True)
    except (OSError, ValueError) as error:
        raise EngineError(
            f"The model {path} cannot be loaded from this machine: {error}",
            permanent=True,
            code="model_missing",
        ) from error
    if model.num_labels != 1:
        raise EngineError(
            f"The model {path} gives {model.num_labels} scores a pair and is no reranker",
            permanent=True,
            code="engine_not_configured",
        )
    return model
