"""Chains of pages, their themes, and the segments they join (MemoryOS, spec §8.4)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from memoryhub.engines.llm.asking import Asking, halved
from memoryhub.engines.llm.replies_segments import (
    ChainReply,
    SegmentReply,
    ThemeReply,
    ThemesReply,
)
from memoryhub.engines.types import ChainJudgement, Passage, SegmentText, Theme

# Caps of spec §16, and of a page's share of a prompt.
_KEYWORDS, _THEMES, _TEXT, _PAGE = 12, 2, 500, 1500


class Segmenting(Asking):
    def chain(
        self, pages: Sequence[Passage], previous: Passage | None = None, summary: str = ""
    ) -> ChainJudgement:
        """Fewer pages a call when the model can't take them: each part goes on from the last."""
        read: list[ChainJudgement] = []

        def ask(part: Sequence[Passage]) -> ChainJudgement:
            at = sum(len(each.continues) for each in read)
            told = [said for each in read for said in each.summaries if said]
            before, so_far = (
                (pages[at - 1], told[-1] if told else "") if at else (previous, summary)
            )
            read.append(self._chained(part, before, so_far))
            return read[-1]

        parts = halved(ask, pages) if pages else []
        return ChainJudgement(
            tuple(flag for part in parts for flag in part.continues),
            tuple(said for part in parts for said in part.summaries),
        )

    def _chained(
        self, pages: Sequence[Passage], previous: Passage | None, summary: str
    ) -> ChainJudgement:
        data = {
            "previous": _shown(previous) if previous else None,
            "summary": summary,
            "pages": [_shown(page) for page in pages],
        }
        reply = self.ask("chain", data, ChainReply)
        offered = {page.handle for page in pages}
        judged = {page.handle: page for page in reply.pages if page.handle in offered}
        self.reject("chain", sum(page.handle not in offered for page in reply.pages))
        found = [judged.get(page.handle) for page in pages]
        return ChainJudgement(
            tuple(page.continues if page else None for page in found),
            tuple(page.summary.strip()[:_TEXT] if page else "" for page in found),
        )

    def themes(self, pages: Sequence[Passage]) -> list[Theme]:
        """Two a call at most; fewer pages a call when the model can't take them."""
        parts = halved(self._themed, pages) if pages else []
        return [theme for part in parts for theme in part]

    def _themed(self, pages: Sequence[Passage]) -> list[Theme]:
        reply = self.ask("themes", {"pages": [_shown(page) for page in pages]}, ThemesReply)
        offered = {page.handle for page in pages}
        found = [_theme(theme, offered) for theme in reply.themes]
        claimed = [handle for theme in reply.themes for handle in theme.pages]
        kept = [theme for theme in found if theme.pages][:_THEMES]
        invented = sum(handle not in offered for handle in claimed)
        self.reject("themes", invented + len(found) - len(kept))
        return kept

    def segment_refresh(
        self, summary: str, keywords: Sequence[str], pages: Sequence[Passage]
    ) -> SegmentText:
        """With fewer pages a call when the model can't take them, one after the other."""
        texts = [SegmentText(summary, tuple(keywords))]

        def ask(part: Sequence[Passage]) -> None:
            texts.append(self._refreshed(texts[-1], part))

        halved(ask, pages)
        return texts[-1]

    def _refreshed(self, known: SegmentText, pages: Sequence[Passage]) -> SegmentText:
        data = {
            "summary": known.text,
            "keywords": list(known.keywords),
            "pages": [_shown(page) for page in pages],
        }
        reply = self.ask("segment_refresh", data, SegmentReply)
        return SegmentText(reply.text.strip()[:_TEXT], _words(reply.keywords))


def _shown(page: Passage) -> dict[str, Any]:
    at = page.at.isoformat(timespec="minutes")
    return {"handle": page.handle, "at": at, "text": page.text[:_PAGE]}


def _theme(theme: ThemeReply, offered: set[str]) -> Theme:
    pages = tuple(dict.fromkeys(handle for handle in theme.pages if handle in offered))
    text = theme.text.strip()[:_TEXT]
    return Theme(theme.name.strip()[:120], _words(theme.keywords), text, pages)


def _words(keywords: Sequence[str]) -> tuple[str, ...]:
    kept = (keyword.strip()[:120] for keyword in keywords)
    return tuple(dict.fromkeys(keyword for keyword in kept if keyword))[:_KEYWORDS]
