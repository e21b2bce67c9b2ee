"""Episodes and summaries: extractive, in the words that were said."""

from __future__ import annotations

from collections.abc import Sequence

from memoryhub.engines.local import summaries
from memoryhub.engines.local.segments import Segmenting
from memoryhub.engines.types import (
    DigestKind,
    DigestText,
    EpisodeText,
    Gate,
    Passage,
    Utterance,
)


class Abstracting(Segmenting):
    def episode_gate(self, window: Sequence[Passage], newest: Passage) -> Gate:
        raise NotImplementedError

    def episode_write(self, span: Sequence[Passage]) -> EpisodeText:
        raise NotImplementedError

    def fold_summary(
        self, previous: str, said: Sequence[Utterance], *, max_words: int = 100
    ) -> str:
        raise NotImplementedError

    def digest(self, kind: DigestKind, parts: Sequence[Passage]) -> DigestText:
        raise NotImplementedError

    def summarise(self, texts: Sequence[str], *, max_sentences: int = 3) -> str:
        """The texts nearest to their common centre, word by word, in their order."""
        return summaries.summarise(texts, max_sentences)
