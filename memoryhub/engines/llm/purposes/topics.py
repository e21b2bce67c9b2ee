"""Chains of pages, their themes, and the segments they join (MemoryOS, spec §8.4)."""

from __future__ import annotations

from collections.abc import Sequence

from memoryhub.engines.llm.purposes.base import (
    MOST_CHARACTERS,
    ModelPurposes,
    ask_in_halves,
    clean_words,
    render_pages,
    select_offered,
)
from memoryhub.engines.llm.replies import ChainReply, SegmentReply, ThemeReply, ThemesReply
from memoryhub.engines.types import ChainJudgement, Passage, SegmentText, Theme

_MAX_PAGE, _MAX_KEYWORD = 1500, 120  # characters of a page shown, of a keyword


class TopicPurposes(ModelPurposes):
    def chain_pages(
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
            read.append(self._ask_about_chain(part, before, so_far))
            return read[-1]

        parts = ask_in_halves(ask, pages) if pages else []
        return ChainJudgement(
            tuple(flag for part in parts for flag in part.continues),
            tuple(said for part in parts for said in part.summaries),
        )

    def _ask_about_chain(
        self, pages: Sequence[Passage], previous: Passage | None, summary: str
    ) -> ChainJudgement:
        data = {
            "previous": render_pages([previous], _MAX_PAGE)[0] if previous else None,
            "summary": summary,
            "pages": render_pages(pages, _MAX_PAGE),
        }
        reply = self.ask_purpose("chain", data, ChainReply)
        offered = {page.handle for page in pages}
        judged = {page.handle: page for page in reply.pages if page.handle in offered}
        self.count_rejected_items("chain", sum(page.handle not in offered for page in reply.pages))
        found = [judged.get(page.handle) for page in pages]
        return ChainJudgement(
            tuple(page.continues if page else None for page in found),
            tuple(page.summary.strip()[:MOST_CHARACTERS] if page else "" for page in found),
        )

    def extract_themes(self, pages: Sequence[Passage]) -> list[Theme]:
        """As many as pages at most; fewer pages a call when the model can't take them."""
        parts = ask_in_halves(self._ask_for_themes, pages) if pages else []
        return [theme for part in parts for theme in part]

    def _ask_for_themes(self, pages: Sequence[Passage]) -> list[Theme]:
        data = {"pages": render_pages(pages, _MAX_PAGE)}
        reply = self.ask_purpose("themes", data, ThemesReply)
        offered = {page.handle for page in pages}
        found = [_build_theme(theme, offered) for theme in reply.themes]
        claimed = [handle for theme in reply.themes for handle in theme.pages]
        kept = [theme for theme in found if theme.pages][: len(pages)]
        invented = sum(handle not in offered for handle in claimed)
        self.count_rejected_items("themes", invented + len(found) - len(kept))
        return kept

    def refresh_segment(
        self, summary: str, keywords: Sequence[str], pages: Sequence[Passage]
    ) -> SegmentText:
        """With fewer pages a call when the model can't take them, one after the other."""
        texts = [SegmentText(summary, tuple(keywords))]

        def ask(part: Sequence[Passage]) -> None:
            texts.append(self._ask_for_segment(texts[-1], part))

        ask_in_halves(ask, pages)
        return texts[-1]

    def _ask_for_segment(self, known: SegmentText, pages: Sequence[Passage]) -> SegmentText:
        data = {
            "summary": known.text,
            "keywords": list(known.keywords),
            "pages": render_pages(pages, _MAX_PAGE),
        }
        reply = self.ask_purpose("segment_refresh", data, SegmentReply)
        keywords = clean_words(reply.keywords, _MAX_KEYWORD)
        return SegmentText(reply.text.strip()[:MOST_CHARACTERS], keywords)


def _build_theme(theme: ThemeReply, offered: set[str]) -> Theme:
    keywords, text = clean_words(theme.keywords, _MAX_KEYWORD), theme.text.strip()
    pages = select_offered(theme.pages, offered)
    return Theme(theme.name.strip()[:120], keywords, text[:MOST_CHARACTERS], pages)
