"""Episodes and summaries of spans; chains, themes and segments are in `segments`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from memoryhub.engines.llm.replies import SummaryReply
from memoryhub.engines.llm.segments import Segmenting
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
        if not texts:
            return ""
        data = {"facts": list(texts), "max_sentences": max_sentences}
        written = self.ask("summarise", data, SummaryReply).summary.strip()
        return _sentences(written, max_sentences)


def _sentences(text: str, most: int) -> str:
    found: Iterable[re.Match[str]] = re.finditer(r".+?(?:[.!?](?=\s|$)|[。！？]|$)", text, re.S)
    return "".join(match[0] for match in list(found)[:most]).strip()
