"""Themes of pages that leave the short-term queue, and the segments they join: a part of PLACE.

Models are asked here and nothing is held open; `placing` writes what comes out.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memoryhub.engines.local.engine import LocalEngine
from memoryhub.engines.local.language import language_of, reads
from memoryhub.engines.types import Embedder, Engine, Passage, SegmentText, Theme
from memoryhub.policies.schema import Policy
from memoryhub.tenants.models import Space
from notes import indexing
from notes.models import IndexEntry, Page, Segment
from notes.placing import Topic, best_match, merged_keywords, merged_summary
from notes.tiers import in_reach

# Of pages that rewrite a segment, the last so many are read.
MOST_REREAD = 20
# A summary of more bytes (Chinese says in 200 characters what English does in 600) is written anew
# instead of being added to.
LONGEST_SUMMARY = 600
# F of a theme with the segment that was made of it: cosine 1 and all keywords shared.
ITSELF = 2.0


@dataclass(frozen=True, slots=True)
class Held:
    """A segment that pages may join, and what it is about."""

    segment: Segment
    topic: Topic


@dataclass
class Joining:
    """Pages that join a segment, theme by theme, and how it is to read then."""

    segment: Segment
    is_new: bool
    text: SegmentText
    members: dict[Any, tuple[Page, str, float]] = field(default_factory=dict)
    passages: dict[str, Passage] = field(default_factory=dict)


@dataclass
class Renewal:
    """A stale segment with the pages that are left of it."""

    segment: Segment
    pages: list[Page]
    passages: list[Passage]
    text: SegmentText | None = None


@dataclass(frozen=True, slots=True)
class Leaver:
    page: Page
    passage: Passage


def held_segments(space: Space, model: str) -> list[Held]:
    """All segments in reach with their vectors of this model: F is worked out over all (O13).

    Two statements. Call inside the tenant's scope.
    """
    rows = list(in_reach(Segment.objects.filter(space=space)).order_by("id"))
    entries = IndexEntry.objects.filter(
        space=space, kind=IndexEntry.Kind.SEGMENT, model=model, owner_id__in=[r.id for r in rows]
    )
    vectors = dict(entries.values_list("owner_id", "embedding"))
    return [
        Held(row, Topic(_unit(vectors.get(row.id)), tuple(row.keywords), row.summary))
        for row in rows
    ]


def _unit(vector: Any) -> NDArray[np.float32] | None:
    """Of length 1, which stored vectors need not be."""
    if vector is None:
        return None
    found = np.asarray(vector, dtype=np.float32)
    length = float(np.linalg.norm(found))
    return found / length if length else found


def themes_of(
    engine: Engine, leavers: Sequence[Leaver], a_call: int
) -> list[tuple[Theme, list[Leaver]]]:
    """Every page under at least one theme; pages none claims are put under one by rules (O9)."""
    found: list[tuple[Theme, list[Leaver]]] = []
    for at in range(0, len(leavers), a_call):
        some = leavers[at : at + a_call]
        by_handle = {each.passage.handle: each for each in some}
        themes = engine.themes([each.passage for each in some])
        claimed = {handle for theme in themes for handle in theme.pages}
        left = [each.passage for each in some if each.passage.handle not in claimed]
        for theme in [*themes, *(_by_rules(left) if left else [])]:
            found.append((_told(theme, by_handle), [by_handle[h] for h in theme.pages]))
    return found


def _by_rules(passages: Sequence[Passage]) -> list[Theme]:
    return LocalEngine().themes(passages)


def _told(theme: Theme, by_handle: dict[str, Leaver]) -> Theme:
    """A theme without a text gets one by rules, out of its pages."""
    if theme.text and theme.keywords:
        return theme
    drawn = _by_rules([by_handle[handle].passage for handle in theme.pages])[0]
    return Theme(
        theme.name or drawn.name,
        theme.keywords or drawn.keywords,
        theme.text or drawn.text,
        theme.pages,
    )


def join(
    space: Space,
    themed: Sequence[tuple[Theme, list[Leaver]]],
    held: Sequence[Held],
    embedder: Embedder,
    theta: float,
) -> list[Joining]:
    """Each theme to the segment of highest F, if that is over theta, else to one of its own."""
    known, found = list(held), dict[Any, Joining]()
    topics = _topics([theme for theme, _ in themed], embedder)
    for (theme, leavers), topic in zip(themed, topics, strict=True):
        match = best_match(topic, [each.topic for each in known], theta)
        if match is None:
            known.append(Held(_begun(space, leavers), topic))
            match = len(known) - 1, ITSELF
        segment = known[match[0]].segment
        is_new = match[0] >= len(held)
        joining = found.setdefault(segment.id, Joining(segment, is_new, _text_of(segment)))
        _add(joining, theme, leavers, match[1])
    return list(found.values())


def _topics(themes: Sequence[Theme], embedder: Embedder) -> list[Topic]:
    texts = [indexing.segment_text(theme.text, theme.keywords) for theme in themes]
    vectors = list(embedder.embed(texts)) if texts else []
    return [
        Topic(vector if _reads(embedder, theme.text) else None, theme.keywords, theme.text)
        for theme, vector in zip(themes, vectors, strict=True)
    ]


def _reads(embedder: Embedder, text: str) -> bool:
    return reads(embedder.name, language_of(text))


def _begun(space: Space, leavers: Sequence[Leaver]) -> Segment:
    at = min(each.passage.at for each in leavers)
    return Segment(
        tenant_id=space.tenant_id, space=space, started_at=at, ended_at=at, last_visited_at=at
    )


def _text_of(segment: Segment) -> SegmentText:
    return SegmentText(segment.summary, tuple(segment.keywords))


def _add(joining: Joining, theme: Theme, leavers: Sequence[Leaver], score: float) -> None:
    for each in leavers:
        joining.members.setdefault(each.page.id, (each.page, theme.name[:120], score))
        joining.passages[each.passage.handle] = each.passage
    text, keywords = joining.text.text, joining.text.keywords
    joining.text = SegmentText(
        merged_summary(text, theme.text), tuple(merged_keywords(keywords, theme.keywords))
    )


def reword(
    engine: Engine, joinings: Iterable[Joining], renewals: Iterable[Renewal], policy: Policy
) -> None:
    """Summaries and keywords as they are to be: one call a segment at most, and none where calls
    are combined and the themes' own words suffice."""
    for joining in joinings:
        if _needs_words(joining, combine=policy.llm.combine_calls):
            segment = joining.segment
            joining.text = engine.segment_refresh(
                segment.summary, segment.keywords, list(joining.passages.values())
            )
    for renewal in renewals:
        if renewal.passages:
            renewal.text = engine.segment_refresh("", (), renewal.passages[-MOST_REREAD:])


def _needs_words(joining: Joining, *, combine: bool) -> bool:
    if joining.segment.is_protected:
        return False
    if combine:
        return len(joining.text.text.encode()) > LONGEST_SUMMARY
    return not joining.is_new


def spans(pages: Iterable[Passage]) -> tuple[datetime, datetime]:
    """When the first and the last of them began."""
    times = [page.at for page in pages]
    return min(times), max(times)
