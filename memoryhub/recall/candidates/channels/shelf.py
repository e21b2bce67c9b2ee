"""What is kept at hand: of each shelf the ten facts most alike (MemoryOS' knowledge base)."""

from __future__ import annotations

from collections import Counter

from memoryhub.recall.candidates.channels.hits import ChannelHit, clamp_score
from memoryhub.recall.candidates.channels.statements import (
    build_cosine_sql,
    build_current_sql,
    load_rows,
)
from memoryhub.recall.question.prepare import PreparedQuestion

MAX_PER_SHELF = 10

# The shelf is the newest `cap`, pinned ones beside; what fell off it is found by other channels.
_SHELF_SQL = """
SELECT s.id, s.shelf, {near} AS near FROM (
  SELECT f.id, f.shelf, f.pinned, row_number() OVER (
    PARTITION BY f.shelf, f.pinned ORDER BY f.shelved_at DESC NULLS LAST, f.id DESC) AS place
  FROM notes_fact f WHERE f.space_id = %(space)s AND f.shelf <> '' AND {current}
) s WHERE s.pinned OR s.place <= %(cap)s
ORDER BY near DESC NULLS LAST, s.pinned DESC, s.place
"""


def find_hits(ask: PreparedQuestion) -> list[ChannelHit]:
    """Nothing is too far: what is shelved is always considered."""
    statement = _SHELF_SQL.format(
        near=build_cosine_sql(ask, "fact", "s.id"), current=build_current_sql(ask, "f")
    )
    taken: Counter[str] = Counter()
    found = []
    for at, shelf, near in load_rows(ask, statement, cap=ask.policy.shelf.cap):
        taken[shelf] += 1
        if taken[shelf] <= MAX_PER_SHELF:
            found.append(ChannelHit("fact", at, clamp_score(near or 0.0), "kept at hand"))
    return found
