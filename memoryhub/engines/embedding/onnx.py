"""all-MiniLM-L6-v2 with weights in int8, on ONNX Runtime: no torch, no network.

How it is computed is said in `minilm.onnx` (minilm_graph.py draws it), what with in the package
that carries the weights.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache, cached_property
from pathlib import Path
from threading import Lock

import numpy as np
import onnxruntime as ort
from numpy.typing import NDArray

from memoryhub.background.stopping import stop_if_unwanted
from memoryhub.engines.embedding.model_files import (
    CLS,
    MINILM_MODEL,
    PAD,
    SEP,
    count_tokens,
    encode_texts,
)
from memoryhub.engines.embedding.vectors import normalise_rows

# So many tokens, those that fill up included, go through the model together: what is made of more
# does not fit the processor's nearest cache, and a token takes up to half as long again.
MAX_BATCH_TOKENS = 160
GRAPH_FILE = Path(__file__).with_name("minilm.onnx")
# The same with biases and norms that were learned from questions and what answers them.
QUESTIONS_GRAPH_FILE = Path(__file__).with_name("minilm_questions.onnx")
SCORES = "scores"  # what comes out of a graph that reads pairs
# With it, products of bytes are right on processors of Intel's and AMD's line that cut off the sum
# of two of them, and take more than twice as long on those that do not (with VNNI).
_EXACT_BYTE_SUMS = "session.x64quantprecision"
# One product that says which of both it is.
BYTE_SUMS_FILE = Path(__file__).with_name("byte_sums.onnx")
BYTE_SUMS_SIZE = 32
# Where the places that the graph names are looked up.
_WEIGHTS_FOLDER = "session.model_external_initializers_file_folder_path"


class OnnxMiniLM:
    """The default Embedder. Loads on first use; may be called from several threads.

    What is multiplied by the weights is quantised token by token, so a text's vector does not
    depend on the batch it travels in.
    """

    name = "minilm-l6-v2-int8"
    dimension = 384
    max_tokens = 256

    def __init__(self, threads: int = 1, graph: Path = GRAPH_FILE) -> None:
        self._threads, self._graph = threads, graph
        self._lock = Lock()

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """(len(texts), 384) float32 unit rows; what exceeds 256 tokens is cut."""
        rows = np.empty((len(texts), self.dimension), np.float32)
        ids = [self._frame_ids(each) for each in encode_texts(texts)]
        for batch in batch_by_length([len(each) for each in ids], MAX_BATCH_TOKENS):
            stop_if_unwanted()
            rows[batch] = self._embed_batch([ids[index] for index in batch])
        return normalise_rows(rows)

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        return count_tokens(texts)

    def _frame_ids(self, ids: list[int]) -> list[int]:
        return [CLS, *ids[: self.max_tokens - 2], SEP]

    def _embed_batch(self, ids: list[list[int]]) -> NDArray[np.float32]:
        tokens, mask = pad_batch(ids)
        inputs = {"input_ids": tokens, "attention_mask": mask}
        hidden = self._session.run(["last_hidden_state"], inputs)[0]
        return pool_mean(hidden, mask)

    @property
    def _session(self) -> ort.InferenceSession:
        with self._lock:
            return self._inference_session

    @cached_property
    def _inference_session(self) -> ort.InferenceSession:
        return open_session(self._graph, self._threads)


def open_session(graph: Path, threads: int) -> ort.InferenceSession:
    """A graph of ours with the packaged weights. Raises EngineError where they are missing."""
    options = ort.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    # The arena keeps the largest batch's memory for ever and gains no speed here.
    options.enable_cpu_mem_arena = False
    options.add_session_config_entry(_WEIGHTS_FOLDER, str(MINILM_MODEL.locate().parent))
    if cuts_off_byte_sums():
        options.add_session_config_entry(_EXACT_BYTE_SUMS, "1")
    return ort.InferenceSession(graph.read_bytes(), options, providers=["CPUExecutionProvider"])


@cache
def cuts_off_byte_sums() -> bool:
    """Whether this processor gets sums of the largest products of bytes wrong, left to itself."""
    session = ort.InferenceSession(BYTE_SUMS_FILE, providers=["CPUExecutionProvider"])
    largest = np.full((BYTE_SUMS_SIZE, BYTE_SUMS_SIZE), 255, np.uint8)
    (sums,) = session.run(None, {"bytes": largest})
    return bool((sums != BYTE_SUMS_SIZE * 255 * 127).any())


def batch_by_length(lengths: Sequence[int], most: int) -> Iterator[list[int]]:
    """Indices in batches of at most `most` tokens with padding, or of one text; like lengths
    together, so that little is padding."""
    batch: list[int] = []
    for index in sorted(range(len(lengths)), key=lengths.__getitem__):
        if batch and lengths[index] * (len(batch) + 1) > most:
            yield batch
            batch = []
        batch.append(index)
    if batch:
        yield batch


def pool_mean(hidden: NDArray[np.float32], mask: NDArray[np.int64]) -> NDArray[np.float32]:
    """(n, tokens, d) averaged over the tokens whose mask is 1: (n, d)."""
    weights = mask[:, :, None].astype(np.float32)
    summed: NDArray[np.float32] = (hidden * weights).sum(axis=1)
    mean: NDArray[np.float32] = summed / weights.sum(axis=1)
    return mean


def pad_batch(ids: Sequence[list[int]]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Token ids filled up to the longest, and a mask of those that are meant: (n, longest)."""
    shape = (len(ids), max(map(len, ids)))
    tokens, mask = np.full(shape, PAD, np.int64), np.zeros(shape, np.int64)
    for row, each in enumerate(ids):
        tokens[row, : len(each)] = each
        mask[row, : len(each)] = 1
    return tokens, mask


def get_onnx_minilm(threads: int = 1, graph: Path = GRAPH_FILE) -> OnnxMiniLM:
    """One for all of a process: its weights are held once."""
    return _make_onnx_minilm(threads, graph)


# Apart, for a cache takes "one thread" and "as many as usual" for two questions.
@cache
def _make_onnx_minilm(threads: int, graph: Path) -> OnnxMiniLM:
    return OnnxMiniLM(threads, graph)
