"""Episodes and summaries of spans; chains, themes and segments are in `segments`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from memoryhub.engines.llm.episodes import Episodic
from memoryhub.engines.llm.replies import SummaryReply
from memoryhub.engines.llm.segments import Segmenting


class Abstracting(Segmenting, Episodic):
    def summarise(self, texts: Sequence[str], *, max_sentences: int = 3) -> str:
        if not texts:
            return ""
        data = {"facts": list(texts), "max_sentences": max_sentences}
        written = self.ask("summarise", data, SummaryReply).summary.strip()
        return _sentences(written, max_sentences)


def _sentences(text: str, most: int) -> str:
    found: Iterable[re.Match[str]] = re.finditer(r".+?(?:[.!?](?=\s|$)|[。！？]|$)", text, re.S)
    return "".join(match[0] for match in list(found)[:most]).strip()
