"""Episodes and summaries: extractive, in the words that were said."""

from __future__ import annotations

from collections.abc import Sequence

from memoryhub.engines.local import summaries
from memoryhub.engines.local.episodes import Episodic
from memoryhub.engines.local.segments import Segmenting


class Abstracting(Segmenting, Episodic):
    def summarise(self, texts: Sequence[str], *, max_sentences: int = 3) -> str:
        """The texts nearest to their common centre, word by word, in their order."""
        return summaries.summarise(texts, max_sentences)
