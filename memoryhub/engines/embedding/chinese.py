"""Vectors of Chinese texts: the sum of what their words are worth, with no model to run.

MiniLM reads no Chinese. Each of 26,000 words and characters has a vector here; a statement's is
the sum of its words', a question's is the same sum with other weights, turned towards what
statements say that answer such questions. They are learned by `manage.py lab train-words`, from a
multilingual embedder's vectors of the words and from questions that people ask of what they once
said (docs/explanation/embeddings.md).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
import rjieba
from numpy.typing import NDArray

from memoryhub.engines.embedding.vectors import normalise_rows
from memoryhub.engines.local.language import HAN

WORDS_FILE = Path(__file__).with_name("chinese.npz")
# Words that stand for all of their kind.
NUMBER, LATIN = "<number>", "<latin>"
MAX_WORDS = 256  # of a text; the rest is cut
_HAN_WORD = re.compile(f"[{HAN}]+")
_NUMBER = re.compile(r"\d+(?:[.:]\d+)?")
_LATIN_WORD = re.compile(r"[A-Za-z]")


class ChineseWords(NamedTuple):
    """`places`: row of each word. `vectors`: (words, d) int8, to be multiplied by what a word
    counts in a statement, `stated`, or in a question, `asked`. `turn`: (d, d), from a question's
    sum to where what answers it lies."""

    places: dict[str, int]
    vectors: NDArray[np.int8]
    stated: NDArray[np.float32]
    asked: NDArray[np.float32]
    turn: NDArray[np.float32]

    @property
    def dimension(self) -> int:
        return int(self.vectors.shape[1])

    def embed_statements(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """(len(texts), d) unit rows; zeros for a text of which no word is known."""
        return normalise_rows(self._sum_words(texts, self.stated))

    def embed_questions(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """(len(texts), d) unit rows, to be compared with those of statements."""
        return normalise_rows(self._sum_words(texts, self.asked) @ self.turn)

    def _sum_words(self, texts: Sequence[str], counts: NDArray[np.float32]) -> NDArray[np.float32]:
        rows = np.zeros((len(texts), self.dimension), np.float32)
        for row, text in zip(rows, texts, strict=True):
            found = list_known_words(text, self.places)
            row[:] = counts[found] @ self.vectors[found].astype(np.float32)
        return rows


def list_known_words(text: str, places: dict[str, int]) -> list[int]:
    """The rows of a text's words; of a word that is not known those of its characters."""
    return [places[word] for word in _split_text(text, places) if word in places][:MAX_WORDS]


def _split_text(text: str, places: dict[str, int]) -> Iterator[str]:
    for word in rjieba.cut(text):
        if _HAN_WORD.fullmatch(word):
            yield from (word,) if word in places else word
        elif _NUMBER.fullmatch(word):
            yield NUMBER
        elif _LATIN_WORD.match(word):
            yield LATIN


@cache
def get_chinese_words() -> ChineseWords:
    """Those that are shipped, read once: 4 MB."""
    return read_words(WORDS_FILE)


def read_words(path: Path) -> ChineseWords:
    with np.load(path) as held:
        words = bytes(held["words"]).decode("utf-8").split("\n")
        return ChineseWords(
            {word: row for row, word in enumerate(words)},
            held["vectors"],
            held["stated"].astype(np.float32),
            held["asked"].astype(np.float32),
            held["turn"].astype(np.float32),
        )


def write_words(path: Path, made: ChineseWords) -> None:
    np.savez_compressed(
        path,
        words=np.frombuffer("\n".join(made.places).encode("utf-8"), np.uint8),
        vectors=made.vectors,
        stated=made.stated.astype(np.float16),
        asked=made.asked.astype(np.float16),
        turn=made.turn.astype(np.float16),
    )
