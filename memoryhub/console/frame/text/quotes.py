"""A turn's text with the words that support a memory set off from the rest. Pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from uuid import UUID

from memoryhub.console.frame.space.moments import SpaceMoment
from memoryhub.dialogues.models import Turn
from notes.models import Derivation

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


def load_sources(
    kind: str, ids: Iterable[UUID], moment: SpaceMoment | None = None
) -> dict[UUID, list[SourceQuote]]:
    """Each row's supporting turns in order, with the words set off: at an earlier moment those
    it had then. One statement."""
    links = Derivation.objects.filter(
        child_type=kind, child_id__in=list(ids), role=Derivation.Role.SUPPORT
    )
    if moment and moment.recorded_by:
        links = links.filter(event__created_at__lte=moment.recorded_by)
    spans: dict[UUID, dict[Turn, list[TextSpan]]] = defaultdict(lambda: defaultdict(list))
    for link in links.select_related("turn__session").order_by("turn__seq"):
        spans[link.child_id][link.turn].append((link.span_start, link.span_end))
    quotes: dict[UUID, list[SourceQuote]] = defaultdict(list)
    for child, turns in spans.items():
        for turn, found in turns.items():
            quotes[child].append(SourceQuote(turn, split_pieces(turn.text, found)))
    return quotes
