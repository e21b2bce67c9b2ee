"""A cross-encoder on torch, with weights made here; needs the sentence-transformers extra."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from memoryhub.engines.registry import EngineSettings, get_reranker
from memoryhub.engines.reranking.cross_encoder import CrossEncoderReranker
from memoryhub.errors import EngineError

# Looked for, not imported: torch takes seconds, which every worker would spend.
pytestmark = pytest.mark.skipif(
    find_spec("sentence_transformers") is None,
    reason="the sentence-transformers extra is missing",
)

SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
WORDS = (
    "when",
    "does",
    "the",
    "ferry",
    "leave",
    "at",
    "noon",
    "dough",
    "rises",
    "harbour",
    "bread",
)
TEXTS = ["the ferry does leave at noon", "the dough rises", "the harbour", "bread"]


def save_small_model(folder: Path, labels: int = 1) -> Path:
    """A BERT of two layers with weights drawn by chance, always the same."""
    import torch
    from transformers import BertConfig, BertForSequenceClassification, BertTokenizer

    vocabulary = {word: at for at, word in enumerate((*SPECIAL, *WORDS))}
    torch.manual_seed(7)
    config = BertConfig(
        vocab_size=len(vocabulary),
        hidden_size=16,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=32,
        max_position_embeddings=64,
        initializer_range=1.0,
    )
    config.num_labels = labels
    made = folder / f"small-{labels}"
    BertForSequenceClassification(config).save_pretrained(made)
    BertTokenizer(vocab=vocabulary).save_pretrained(made)
    return made


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_small_model(tmp_path_factory.mktemp("weights"))


def test_each_text_has_its_own_score_whatever_stands_beside_it(model: Path) -> None:
    reranker = CrossEncoderReranker(str(model))
    together = reranker.score_texts("when does the ferry leave", TEXTS * 5)
    alone = [reranker.score_texts("when does the ferry leave", [text])[0] for text in TEXTS]
    assert len(together) == 20
    assert np.allclose(together[:4], alone, atol=1e-5)
    assert len({round(score, 4) for score in alone}) == len(TEXTS)
    assert reranker.score_texts("when", []) == []
    assert reranker.name == model.name


def test_the_question_counts(model: Path) -> None:
    reranker = CrossEncoderReranker(str(model))
    one, other = (reranker.score_texts(asked, TEXTS) for asked in ("the ferry", "dough rises"))
    assert not np.allclose(one, other, atol=1e-3)


def test_what_takes_too_long_is_given_up(model: Path) -> None:
    reranker = CrossEncoderReranker(str(model), timeout=0.0)
    with pytest.raises(EngineError) as raised:
        reranker.score_texts("when", TEXTS * 5)
    assert raised.value.code == "timeout"


def test_the_settings_name_it(model: Path) -> None:
    settings = EngineSettings(reranker="cross-encoder", reranker_model=str(model))
    assert get_reranker(settings) is get_reranker(settings)
    assert get_reranker(settings).name == model.name


def test_a_classifier_of_several_labels_is_no_reranker(tmp_path: Path) -> None:
    with pytest.raises(EngineError, match="3 scores a pair") as raised:
        CrossEncoderReranker(str(save_small_model(tmp_path, labels=3)))
    assert raised.value.permanent


def test_an_unknown_model_is_not_looked_for_elsewhere() -> None:
    with pytest.raises(EngineError, match="cannot be loaded from this machine") as raised:
        CrossEncoderReranker("nobody/no-such-model")
    assert raised.value.permanent
