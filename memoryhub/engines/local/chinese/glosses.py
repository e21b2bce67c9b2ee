"""A Chinese text word by word in English, so that a model that reads no Chinese can read it.

`glosses.tsv` has a word and its gloss a line. Those of the commonest words in talk were written for
this project; the others are the English word whose vector is nearest by a multilingual embedder
(docs/explanation/chinese.md). What no person would call a translation is enough for a model that
was taught with it: it is the same for a question and for what answers it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path

import rjieba

from memoryhub.engines.local.language import HAN

GLOSSES_FILE = Path(__file__).with_name("glosses.tsv")
_HAN_WORD = re.compile(f"[{HAN}]+")
_LONGEST_PART = 4  # characters
_PUNCTUATION = str.maketrans("，。？！：；（）、", ",.?!:;(),")


def gloss_text(text: str) -> str:
    """The English of its Chinese words, in their order; all else stays as it is."""
    if not _HAN_WORD.search(text):
        return text
    return " ".join(filter(str.strip, _gloss_words(text, get_glosses())))


def _gloss_words(text: str, glosses: Mapping[str, str]) -> Iterator[str]:
    for word in rjieba.cut(text):
        if _HAN_WORD.fullmatch(word):
            yield from (glosses.get(part, "") for part in split_word(word, glosses))
        else:
            yield word.translate(_PUNCTUATION)


def split_word(word: str, known: Mapping[str, str]) -> Iterator[str]:
    """Itself, or the longest parts that are known from the left; of others each character."""
    at = 0 if word not in known else len(word)
    if at:
        yield word
    while at < len(word):
        ends = range(min(len(word), at + _LONGEST_PART), at, -1)
        end = next((end for end in ends if word[at:end] in known), at + 1)
        yield word[at:end]
        at = end


@cache
def get_glosses() -> Mapping[str, str]:
    """By word: those that are shipped, read once."""
    return read_glosses(GLOSSES_FILE)


def read_glosses(path: Path) -> Mapping[str, str]:
    lines = path.read_text(encoding="utf-8").splitlines()
    return dict(line.split("\t", 1) for line in lines)
