"""Exchanges by way of their topics: first the segments, then the pages in them (MemoryOS, §8.2).

Segments are chosen by the F that pages are placed by, with the question's own keywords counted
(O13). What of them is visited is only counted where a page made it into the answer (O14).
"""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

from memoryhub.engines.local.summaries import tokens_of
from memoryhub.recall.asking import Ask
from memoryhub.recall.channels.hits import Hit, share
from memoryhub.recall.channels.statements import cosine, rows, visible
from notes.placing import affinity, jaccard

# Below this cosine a page has nothing to do with the question, whatever its topic.
FLOOR = 0.1

_SEGMENTS = """
SELECT s.id, s.keywords, {near} FROM notes_segment s
WHERE s.space_id = %(space)s AND s.retired_at IS NULL AND NOT s.stale AND {tier}
  AND (%(as_of)s::timestamptz IS NULL OR s.started_at <= %(as_of)s)
"""
# A page without an entry of its own is as near as the nearest of its turns.
_PAGES = """
SELECT p.id, near FROM notes_page p CROSS JOIN LATERAL (
  SELECT COALESCE({near}, (
    SELECT max({turn}) FROM dialogues_turn t
    WHERE t.session_id = p.session_id AND t.seq BETWEEN p.first_seq AND p.last_seq
      AND t.state <> 'redacted')) AS near
) alike
WHERE p.id IN (SELECT page_id FROM notes_segmentpage WHERE segment_id = ANY(%(segments)s))
  AND p.retired_at IS NULL AND {visible} AND near >= %(floor)s
  AND (%(as_of)s::timestamptz IS NULL OR EXISTS (
    SELECT 1 FROM dialogues_turn t WHERE t.space_id = p.space_id AND t.seq = p.last_seq
      AND t.occurred_at <= %(as_of)s))
ORDER BY near DESC, p.first_seq LIMIT %(most)s
"""


def find(ask: Ask) -> list[Hit]:
    """At most `recall.pages` of the `recall.segments` topics nearest to the question."""
    chosen = topics(ask)
    if not chosen or ask.vector is None:
        return []
    statement = _PAGES.format(
        near=cosine(ask, "page", "p.id"),
        turn=cosine(ask, "turn", "t.id"),
        visible=visible(ask, "p"),
    )
    most = ask.policy.recall.pages
    found = rows(ask, statement, segments=chosen, floor=FLOOR, most=most)
    return [Hit("page", at, share(near), f"alike {near:.2f}, topic near") for at, near in found]


def topics(ask: Ask) -> list[UUID]:
    """The segments of highest F, best first. Cold ones only where the search is deep."""
    tier = "TRUE" if ask.visibility.deep else "s.tier = 'mid'"
    statement = _SEGMENTS.format(near=cosine(ask, "segment", "s.id"), tier=tier)
    words = list(tokens_of(ask.asked.query))
    scored = [
        (affinity(near or 0.0, jaccard(words, _words(keywords))), at)
        for at, keywords, near in rows(ask, statement)
    ]
    scored.sort(key=lambda pair: (-pair[0], str(pair[1])))
    return [at for _, at in scored[: ask.policy.recall.segments]]


def _words(keywords: Sequence[str]) -> list[str]:
    """A keyword may be several words; a question is split into single ones."""
    return [word for keyword in keywords for word in tokens_of(keyword)]
