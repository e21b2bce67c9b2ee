"""A turn's text with the words that support a memory set off from the rest. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from memoryhub.dialogues.models import Turn

TextSpan = tuple[int | None, int | None]


@dataclass(frozen=True, slots=True)
class QuotePiece:
    text: str
    marked: bool


@dataclass(frozen=True, slots=True)
class SourceQuote:
    turn: Turn
    pieces: list[QuotePiece]


def split_pieces(text: str, spans: Iterable[TextSpan]) -> list[QuotePiece]:
    """Cut the text at the spans. Overlapping spans join; those without bounds mark nothing."""
    found: list[QuotePiece] = []
    at = 0
    for start, end in _merge_spans(spans, len(text)):
        found += [QuotePiece(text[at:start], False), QuotePiece(text[start:end], True)]
        at = end
    return [piece for piece in [*found, QuotePiece(text[at:], False)] if piece.text]


def _merge_spans(spans: Iterable[TextSpan], length: int) -> list[tuple[int, int]]:
    """In order, within [0, length), none touching another."""
    bounded = sorted(
        (max(0, start), min(end, length))
        for start, end in spans
        if start is not None and end is not None
    )
    joined: list[tuple[int, int]] = []
    for start, end in bounded:
        if start >= end:
            continue
        if joined and start <= joined[-1][1]:
            start, end = joined[-1][0], max(end, joined.pop()[1])
        joined.append((start, end))
    return joined
