"""Exchanges by way of their topics: first the segments, then the pages in them (spec §8.2).

Segments are chosen by the F that pages are placed by, with the question's own keywords counted
(O13). What of them is visited is only counted where a page made it into the answer (O14).
"""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

from memoryhub.engines.local.summarise import count_terms
from memoryhub.recall.candidates.channels.hits import ChannelHit, clamp_score
from memoryhub.recall.candidates.channels.statements import (
    build_cosine_sql,
    build_visible_sql,
    load_rows,
)
from memoryhub.recall.question.prepare import PreparedQuestion
from notes.topics.segments import compute_affinity, compute_jaccard

# Below this cosine a page has nothing to do with the question, whatever its topic.
PAGE_FLOOR = 0.1

_SEGMENTS_SQL = """
SELECT s.id, s.keywords, {near} FROM notes_segment s
WHERE s.space_id = %(space)s AND s.retired_at IS NULL AND NOT s.stale AND {tier}
  AND s.started_at <= %(said_by)s
"""
# A page without an entry of its own is as near as the nearest of its turns.
_PAGES_SQL = """
SELECT p.id, near FROM notes_page p CROSS JOIN LATERAL (
  SELECT COALESCE({near}, (
    SELECT max({turn}) FROM dialogues_turn t
    WHERE t.session_id = p.session_id AND t.seq BETWEEN p.first_seq AND p.last_seq
      AND t.state <> 'redacted')) AS near
) alike
WHERE p.id IN (SELECT page_id FROM notes_segmentpage WHERE segment_id = ANY(%(segments)s))
  AND p.retired_at IS NULL AND {visible} AND near >= %(floor)s
  AND EXISTS (
    SELECT 1 FROM dialogues_turn t WHERE t.space_id = p.space_id AND t.seq = p.last_seq
      AND t.occurred_at <= %(said_by)s)
ORDER BY near DESC, p.first_seq LIMIT %(most)s
"""


def find_hits(ask: PreparedQuestion) -> list[ChannelHit]:
    """At most `recall.pages` of the `recall.segments` topics nearest to the question."""
    chosen = select_segments(ask)
    if not chosen or ask.vector is None:
        return []
    statement = _PAGES_SQL.format(
        near=build_cosine_sql(ask, "page", "p.id"),
        turn=build_cosine_sql(ask, "turn", "t.id"),
        visible=build_visible_sql(ask, "p"),
    )
    most = ask.policy.recall.pages
    found = load_rows(ask, statement, segments=chosen, floor=PAGE_FLOOR, most=most)
    return [
        ChannelHit("page", at, clamp_score(near), f"alike {near:.2f}, topic near")
        for at, near in found
    ]


def select_segments(ask: PreparedQuestion) -> list[UUID]:
    """The segments of highest F, best first. Cold ones only where the search is deep."""
    tier = "TRUE" if ask.visibility.deep else "s.tier = 'mid'"
    statement = _SEGMENTS_SQL.format(near=build_cosine_sql(ask, "segment", "s.id"), tier=tier)
    words = list(count_terms(ask.routed_question.query))
    scored = [
        (compute_affinity(near or 0.0, compute_jaccard(words, _split_keywords(keywords))), at)
        for at, keywords, near in load_rows(ask, statement)
    ]
    scored.sort(key=lambda pair: (-pair[0], str(pair[1])))
    return [at for _, at in scored[: ask.policy.recall.segments]]


def _split_keywords(keywords: Sequence[str]) -> list[str]:
    """A keyword may be several words; a question is split into single ones."""
    return [word for keyword in keywords for word in count_terms(keyword)]
