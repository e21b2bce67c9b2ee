"""A turn's text with the words that support a memory set off from the rest. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from memoryhub.dialogues.models import Turn

Span = tuple[int | None, int | None]


@dataclass(frozen=True, slots=True)
class Piece:
    text: str
    marked: bool


@dataclass(frozen=True, slots=True)
class SourceQuote:
    turn: Turn
    pieces: list[Piece]


def pieces(text: str, spans: Iterable[Span]) -> list[Piece]:
    """Cut the text at the spans. Overlapping spans join; those without bounds mark nothing."""
    found: list[Piece] = []
    at = 0
    for start, end in _joined(spans, len(text)):
        found += [Piece(text[at:start], False), Piece(text[start:end], True)]
        at = end
    return [piece for piece in [*found, Piece(text[at:], False)] if piece.text]


def _joined(spans: Iterable[Span], length: int) -> list[tuple[int, int]]:
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
