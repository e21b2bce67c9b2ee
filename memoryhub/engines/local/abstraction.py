"""Chains, themes, segments and episodes: extractive, in the words that were said."""

from __future__ import annotations

from collections.abc import Sequence

from memoryhub.engines.local import summaries
from memoryhub.engines.types import (
    ChainJudgement,
    DigestKind,
    DigestText,
    EpisodeText,
    Gate,
    Passage,
    SegmentText,
    Theme,
    Utterance,
)


class Abstracting:
    def chain(
        self, pages: Sequence[Passage], previous: Passage | None = None, summary: str = ""
    ) -> ChainJudgement:
        raise NotImplementedError

    def themes(self, pages: Sequence[Passage]) -> list[Theme]:
        raise NotImplementedError

    def segment_refresh(
        self, summary: str, keywords: Sequence[str], pages: Sequence[Passage]
    ) -> SegmentText:
        raise NotImplementedError

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
