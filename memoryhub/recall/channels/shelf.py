"""What is kept at hand: of each shelf the ten facts most alike (MemoryOS' knowledge base)."""

from __future__ import annotations

from collections import Counter

from memoryhub.recall.asking import Ask
from memoryhub.recall.channels.hits import Hit, share
from memoryhub.recall.channels.statements import cosine, current, rows

MOST = 10

# The shelf is the newest `cap`, pinned ones beside; what fell off it is found by other channels.
_SHELVED = """
SELECT s.id, s.shelf, {near} AS near FROM (
  SELECT f.id, f.shelf, f.pinned, row_number() OVER (
    PARTITION BY f.shelf, f.pinned ORDER BY f.shelved_at DESC NULLS LAST, f.id DESC) AS place
  FROM notes_fact f WHERE f.space_id = %(space)s AND f.shelf <> '' AND {current}
) s WHERE s.pinned OR s.place <= %(cap)s
ORDER BY near DESC NULLS LAST, s.pinned DESC, s.place
"""


def find(ask: Ask) -> list[Hit]:
    """Nothing is too far: what is shelved is always considered."""
    statement = _SHELVED.format(near=cosine(ask, "fact", "s.id"), current=current(ask, "f"))
    taken: Counter[str] = Counter()
    found = []
    for at, shelf, near in rows(ask, statement, cap=ask.policy.shelf.cap):
        taken[shelf] += 1
        if taken[shelf] <= MOST:
            found.append(Hit("fact", at, share(near or 0.0), "kept at hand"))
    return found
