"""Themes of pages that leave the short-term queue, and the segments they join: a part of PLACE.

Models are asked here and nothing is held open; `placing` writes what comes out.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memoryhub.engines.local.engine import LocalEngine
from memoryhub.engines.local.language import can_embed_language, detect_language
from memoryhub.engines.types import Embedder, Engine, Passage, SegmentText, Theme
from memoryhub.policies.schema import Policy, SegmentsPolicy
from memoryhub.tenants.models import Space
from notes.index import indexer
from notes.models import Page, Segment
from notes.topics.membership import SegmentJoin, SegmentMember
from notes.topics.segments import Topic, find_best_segment, merge_keywords, merge_summaries
from notes.topics.tiers import filter_in_reach

# Of pages that rewrite a segment, the last so many are read.
MAX_REREAD_PAGES = 20
# A summary of more bytes (Chinese says in 200 characters what English does in 600) is written anew
# instead of being added to.
MAX_SUMMARY_BYTES = 600
# F of a theme with the segment that was made of it: cosine 1 and all keywords shared.
SELF_SCORE = 2.0


@dataclass(frozen=True, slots=True)
class ReachableSegment:
    """A segment that pages may join, and what it is about."""

    segment: Segment
    topic: Topic


@dataclass
class SegmentDraft(SegmentJoin):
    """With what the pages say that join it, theme by theme."""

    passages: dict[str, Passage] = field(default_factory=dict)


@dataclass
class SegmentRenewal:
    """A stale segment with the pages that are left of it."""

    segment: Segment
    pages: list[Page]
    passages: list[Passage]
    text: SegmentText | None = None


@dataclass(frozen=True, slots=True)
class LeavingPage:
    page: Page
    passage: Passage


def load_reachable_segments(space: Space, model: str) -> list[ReachableSegment]:
    """All segments in reach with their vectors of this model: F is worked out over all (O13).

    Two statements. Call inside the tenant's scope.
    """
    rows = list(filter_in_reach(Segment.objects.filter(space=space)).order_by("id"))
    vectors = indexer.load_vectors(space, "segment", model, [row.id for row in rows])
    return [
        ReachableSegment(
            row, Topic(_normalise_vector(vectors.get(row.id)), tuple(row.keywords), row.summary)
        )
        for row in rows
    ]


def _normalise_vector(vector: NDArray[np.float32] | None) -> NDArray[np.float32] | None:
    """Of length 1, which stored vectors need not be."""
    if vector is None:
        return None
    length = float(np.linalg.norm(vector))
    return vector / length if length else vector


def find_themes(
    engine: Engine, leavers: Sequence[LeavingPage], a_call: int
) -> list[tuple[Theme, list[LeavingPage]]]:
    """Every page under at least one theme; pages none claims are put under one by rules (O9)."""
    found: list[tuple[Theme, list[LeavingPage]]] = []
    for at in range(0, len(leavers), a_call):
        some = leavers[at : at + a_call]
        by_handle = {each.passage.handle: each for each in some}
        themes = engine.extract_themes([each.passage for each in some])
        claimed = {handle for theme in themes for handle in theme.pages}
        left = [each.passage for each in some if each.passage.handle not in claimed]
        for theme in [*themes, *(_find_themes_by_rules(left) if left else [])]:
            found.append((_complete_theme(theme, by_handle), [by_handle[h] for h in theme.pages]))
    return found


def _find_themes_by_rules(passages: Sequence[Passage]) -> list[Theme]:
    return LocalEngine().extract_themes(passages)


def _complete_theme(theme: Theme, by_handle: dict[str, LeavingPage]) -> Theme:
    """A theme without a text gets one by rules, out of its pages."""
    if theme.text and theme.keywords:
        return theme
    drawn = _find_themes_by_rules([by_handle[handle].passage for handle in theme.pages])[0]
    return Theme(
        theme.name or drawn.name,
        theme.keywords or drawn.keywords,
        theme.text or drawn.text,
        theme.pages,
    )


def join_segments(
    space: Space,
    themed: Sequence[tuple[Theme, list[LeavingPage]]],
    held: Sequence[ReachableSegment],
    embedder: Embedder,
    policy: SegmentsPolicy,
) -> list[SegmentDraft]:
    """Each theme to the segment of highest F, if that is over theta, else to one of its own.

    The vector is that of the theme, or with `compare` "page" that of each of its pages (e_p of
    spec §8.2); the keywords are the theme's either way, which are those of its pages.
    """
    if policy.compare == "page":
        themed = [(theme, [each]) for theme, leavers in themed for each in leavers]
    known, found = list(held), dict[Any, SegmentDraft]()
    topics = _build_topics([theme for theme, _ in themed], embedder)
    compared = topics
    if policy.compare == "page":
        vectors = _embed_readable([leaver.passage.text for _, (leaver,) in themed], embedder)
        compared = [replace(t, vector=v) for t, v in zip(topics, vectors, strict=True)]
    for (theme, leavers), topic, own in zip(themed, topics, compared, strict=True):
        match = find_best_segment(own, [each.topic for each in known], policy.theta)
        if match is None:
            known.append(ReachableSegment(_begin_segment(space, leavers), topic))
            match = len(known) - 1, SELF_SCORE
        segment = known[match[0]].segment
        is_new = match[0] >= len(held)
        text = SegmentText(segment.summary, tuple(segment.keywords))
        joining = found.setdefault(segment.id, SegmentDraft(segment, is_new, text))
        _add_pages(joining, theme, leavers, match[1])
    return list(found.values())


def _build_topics(themes: Sequence[Theme], embedder: Embedder) -> list[Topic]:
    texts = [indexer.format_segment_text(theme.text, theme.keywords) for theme in themes]
    return [
        Topic(vector, theme.keywords, theme.text)
        for theme, vector in zip(themes, _embed_readable(texts, embedder), strict=True)
    ]


def _embed_readable(texts: Sequence[str], embedder: Embedder) -> list[NDArray[np.float32] | None]:
    """Unit vectors; None for texts in a language that the embedder can't read."""
    vectors = list(embedder.embed(texts)) if texts else []
    return [
        vector if can_embed_language(embedder.name, detect_language(text)) else None
        for text, vector in zip(texts, vectors, strict=True)
    ]


def _begin_segment(space: Space, leavers: Sequence[LeavingPage]) -> Segment:
    at = min(each.passage.at for each in leavers)
    return Segment(
        tenant_id=space.tenant_id, space=space, started_at=at, ended_at=at, last_visited_at=at
    )


def _add_pages(
    joining: SegmentDraft, theme: Theme, leavers: Sequence[LeavingPage], score: float
) -> None:
    for each in leavers:
        member = SegmentMember(each.page, theme.name[:120], score)
        joining.members.setdefault(each.page.id, member)
        joining.passages[each.passage.handle] = each.passage
    text, keywords = joining.text.text, joining.text.keywords
    joining.text = SegmentText(
        merge_summaries(text, theme.text), tuple(merge_keywords(keywords, theme.keywords))
    )


def rewrite_segment_texts(
    engine: Engine,
    joinings: Iterable[SegmentDraft],
    renewals: Iterable[SegmentRenewal],
    policy: Policy,
) -> None:
    """Summaries and keywords as they are to be: one call a segment at most, and none where calls
    are combined and the themes' own words suffice."""
    for joining in joinings:
        if _needs_rewrite(joining, combine=policy.llm.combine_calls):
            segment = joining.segment
            joining.text = engine.refresh_segment(
                segment.summary, segment.keywords, list(joining.passages.values())
            )
    for renewal in renewals:
        if renewal.passages:
            renewal.text = engine.refresh_segment("", (), renewal.passages[-MAX_REREAD_PAGES:])


def _needs_rewrite(joining: SegmentDraft, *, combine: bool) -> bool:
    if joining.segment.is_protected:
        return False
    if combine:
        return len(joining.text.text.encode()) > MAX_SUMMARY_BYTES
    return not joining.is_new
