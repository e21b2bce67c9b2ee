"""MiniLM reads a question and a text in one, and says how sure it is that the text answers it.

What it takes beyond the embedder's own weights was learned by `manage.py lab train-reader` from
questions that people ask of what they once said: a correction of low rank to each matrix (Hu et al.
2021, LoRA), biases, norms and a head. Chinese is read by its words' English glosses.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from functools import cache, cached_property
from pathlib import Path
from threading import Lock

import numpy as np
import onnxruntime as ort

from memoryhub.background.stopping import stop_if_unwanted
from memoryhub.engines.embedding.model_files import CLS, SEP, encode_texts
from memoryhub.engines.embedding.onnx import SCORES, batch_by_length, open_session, pad_batch
from memoryhub.engines.local.chinese.glosses import gloss_text

PAIRS_GRAPH_FILE = Path(__file__).with_name("minilm_pairs.onnx")
# What is read of a question, and of both together, as it was learned.
_MOST_QUESTION_TOKENS, MOST_TOKENS = 40, 96
# Tokens that go through the model together, those that fill up included.
_MAX_BATCH_TOKENS = 512
# Scores kept: an answer reads again some of what its search has read.
_MAX_SCORES = 4096


class PackagedReranker:
    """A Reranker of every installation. Loads on first use; may be called from several threads."""

    name = "minilm-l6-v2-pairs"
    tells_odds = True

    def __init__(
        self,
        threads: int = 1,
        graph: Path = PAIRS_GRAPH_FILE,
        most_question_tokens: int = _MOST_QUESTION_TOKENS,
    ) -> None:
        self._threads, self._graph = threads, graph
        self._most_question_tokens = most_question_tokens
        self._lock = Lock()
        self._known: OrderedDict[tuple[str, str], float] = OrderedDict()

    def score_texts(self, question: str, texts: Sequence[str]) -> list[float]:
        """The logarithm of how much likelier each text answers the question than that nothing
        does. A text's score does not depend on the others, and is remembered for a while. Raises
        EngineError where the model is not installed."""
        keys = [(question, text) for text in texts]
        with self._lock:
            known = {key: self._known[key] for key in keys if key in self._known}
        missing = [key for key in dict.fromkeys(keys) if key not in known]
        if missing:
            read = self._read_pairs(question, [text for _, text in missing])
            known |= zip(missing, read, strict=True)
            with self._lock:
                self._known |= known
                while len(self._known) > _MAX_SCORES:
                    self._known.popitem(last=False)
        return [known[key] for key in keys]

    def _read_pairs(self, question: str, texts: Sequence[str]) -> list[float]:
        asked = encode_texts([gloss_text(question)])[0][: self._most_question_tokens]
        pairs = [
            [CLS, *asked, SEP, *told[: MOST_TOKENS - len(asked) - 3], SEP]
            for told in encode_texts(map(gloss_text, texts))
        ]
        scores = np.empty(len(pairs))
        for batch in batch_by_length([len(each) for each in pairs], _MAX_BATCH_TOKENS):
            stop_if_unwanted()
            tokens, mask = pad_batch([pairs[index] for index in batch])
            inputs = {"input_ids": tokens, "attention_mask": mask}
            scores[batch] = self._session.run([SCORES], inputs)[0]
        return scores.tolist()

    @property
    def _session(self) -> ort.InferenceSession:
        with self._lock:
            return self._opened

    @cached_property
    def _opened(self) -> ort.InferenceSession:
        return open_session(self._graph, self._threads)


@cache
def get_packaged_reranker(threads: int) -> PackagedReranker:
    """One for all of a process."""
    return PackagedReranker(threads)
