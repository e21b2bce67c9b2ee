"""How likely a message asks for something told to be forgotten, whatever the rules say.

A logistic regression over its words and pairs of them (of Chinese one to three characters) and, in
English, MiniLM's vector of it. `lab train-wishes` learns it from wishes as people put them and from
what only sounds like one (memoryhub/lab/training/wishes.py), and writes `wish_decider.json` with
its scores.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from memoryhub.engines.embedding.onnx import get_onnx_minilm
from memoryhub.engines.local.language import list_word_pairs
from memoryhub.engines.local.logistic import Logistic

WISHES_FILE = Path(__file__).with_name("wish_decider.json")
MAX_CHARACTERS = 200  # of a message, the last: what is asked comes late
# How much the vector weighs beside words, which are there or not.
VECTOR_SCALE = 3.0
_UNLIKELY = 0.1
_MOST_HAN = 3  # characters together


@dataclass(frozen=True, slots=True)
class WishDecider:
    """`words`: what each is worth, and from which chance on it is a wish; `vector`: a weight for
    each of the 384 values, or for none."""

    words: Logistic
    vector: NDArray[np.float32]

    def estimate(self, text: str, language: str) -> float:
        """The chance that it is a wish."""
        more = 0.0
        if len(self.vector):
            more = VECTOR_SCALE * float(self.vector @ embed_messages([text])[0])
        return self.words.estimate(dict.fromkeys(list_words(text, language), 1.0), more)


@cache
def _load_decider(language: str) -> WishDecider:
    given = json.loads(WISHES_FILE.read_text(encoding="utf-8"))[language]
    words = Logistic(given["bias"], given["bar"], given["words"])
    return WishDecider(words, np.asarray(given["vector"], np.float32))


def is_likely_wish(text: str, language: str) -> bool:
    """Whether a message, "en" or "zh", likely asks for something told to be forgotten."""
    return _estimate(text, language) >= _load_decider(language).words.bar


def is_unlikely_wish(text: str, language: str) -> bool:
    """Whether it hardly does, though it may have the words of one."""
    return _estimate(text, language) < _UNLIKELY


@lru_cache(maxsize=256)
def _estimate(text: str, language: str) -> float:
    return _load_decider(language).estimate(text, language)


def embed_messages(texts: Sequence[str]) -> NDArray[np.float32]:
    """(n, 384): MiniLM's vectors of the ends of `texts`."""
    return np.asarray(get_onnx_minilm().embed([text[-MAX_CHARACTERS:] for text in texts]))


def list_words(text: str, language: str) -> frozenset[str]:
    """The words and pairs of neighbours of an English message; of a Chinese one all of its
    characters, two and three of them together."""
    text = text[-MAX_CHARACTERS:]
    if language == "zh":
        han = re.sub(r"\s", "", text)
        sizes = range(1, _MOST_HAN + 1)
        return frozenset(han[at : at + n] for n in sizes for at in range(len(han) - n + 1))
    return list_word_pairs(text)
