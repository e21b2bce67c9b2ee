"""The torch embedder agrees with the ONNX one; needs the sentence-transformers extra."""

from __future__ import annotations

from importlib.util import find_spec
from itertools import product

import numpy as np
import pytest

from memoryhub.engines.embedding.onnx import OnnxMiniLM
from memoryhub.engines.embedding.sentence_transformers import SentenceTransformerEmbedder
from memoryhub.errors import EngineError

# Looked for, not imported: torch takes seconds, which every worker would spend.
pytestmark = pytest.mark.skipif(
    find_spec("sentence_transformers") is None,
    reason="the sentence-transformers extra is missing",
)

WHO = ["My neighbour Ines", "The new apprentice", "Our choir", "Grandfather", "A nurse I met"]
WHAT = [
    "repaired the old lighthouse clock before the storm.",
    "is moving to Trondheim in spring, isn't that something?",
    "cannot eat walnuts any more!",
    "sold 14 jars of quince jelly at the fair",
    "keeps bees behind the railway station",
    "says the concert on 3 March was cancelled.",
    "wants to learn Portuguese and the accordion",
    "had surgery; the knee is healing well now.",
    "lost a wallet on the night train to Lviv",
    "thinks the bakery's rye bread is too sour — I disagree.",
]
SENTENCES = [f"{who} {what}" for who, what in product(WHO, WHAT)]


@pytest.fixture(scope="module")
def torch_embedder() -> SentenceTransformerEmbedder:
    return SentenceTransformerEmbedder()


def test_vectors_agree_with_onnx(torch_embedder: SentenceTransformerEmbedder) -> None:
    cosines = (torch_embedder.embed(SENTENCES) * OnnxMiniLM().embed(SENTENCES)).sum(axis=1)
    assert len(cosines) == 50
    assert cosines.min() >= 0.998


def test_shape_and_token_counts(torch_embedder: SentenceTransformerEmbedder) -> None:
    assert (torch_embedder.dimension, torch_embedder.max_tokens) == (384, 256)
    assert torch_embedder.embed([]).shape == (0, 384)
    assert torch_embedder.count_tokens(["two words"]) == [2]


def test_a_smaller_dimension_is_cut_and_renormalised() -> None:
    small = SentenceTransformerEmbedder(dimension=64)
    rows = small.embed(SENTENCES[:2])
    assert rows.shape == (2, 64)
    assert np.allclose(np.linalg.norm(rows, axis=1), 1, atol=1e-5)


def test_an_unknown_model_is_not_looked_for_elsewhere() -> None:
    with pytest.raises(EngineError, match="cannot be loaded from this machine") as raised:
        SentenceTransformerEmbedder("nobody/no-such-model")
    assert raised.value.permanent
