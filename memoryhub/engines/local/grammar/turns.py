"""An utterance made ready for the rules: its parse, its times and who is who."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from memoryhub.engines.local.grammar.parse import ParsedPiece
from memoryhub.engines.local.grammar.scene import Scene
from memoryhub.engines.types import TimeSpan, Utterance

if TYPE_CHECKING:
    from spacy.tokens import Span


@dataclass(frozen=True, slots=True)
class ParsedTurn:
    """`times` are of the whole text; a piece's offset leads from its characters to them."""

    utterance: Utterance
    pieces: tuple[ParsedPiece, ...]
    times: tuple[TimeSpan, ...]
    scene: Scene
    before: tuple[ParsedPiece, ...] = ()  # the utterance before, where "she" may need it

    def iter_sentences(self) -> Iterator[tuple[int, Span]]:
        """(offset of the piece, sentence) in order."""
        for offset, doc in self.pieces:
            for span in doc.sents:
                yield offset, span
