"""The notes nearest to new ones: exact search over the vectors of the space (spec §4.2)."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db import connection
from pgvector import HalfVector

from memoryhub.tenants.models import Space
from notes.index.indexer import EntryDraft, Vectors
from notes.models import Note

# Read on, since notes that were withdrawn or are asked about themselves still have vectors.
_SPARE_ROWS = 10

# The vectors are parsed once, not once a row; a note of several chunks is as near as its nearest.
_NEAREST_NOTES_SQL = """
WITH asked AS MATERIALIZED (
  SELECT number, vector::halfvec AS vector
  FROM unnest(%(numbers)s::int[], %(vectors)s::text[]) AS a(number, vector)
)
SELECT asked.number, near.owner_id, near.score FROM asked CROSS JOIN LATERAL (
  SELECT e.owner_id, max(1 - (e.embedding <=> asked.vector)) AS score
  FROM notes_indexentry e
  WHERE e.tenant_id = %(tenant)s AND e.space_id = %(space)s AND e.kind = 'note'
    AND e.model = %(model)s AND e.embedding IS NOT NULL
  GROUP BY e.owner_id ORDER BY score DESC, e.owner_id LIMIT %(most)s
) near
"""


@dataclass(frozen=True, slots=True)
class NearNote:
    """A note of the space, and its cosine with the one asked about, rounded (spec §0.1)."""

    note: Note
    score: float


def find_nearest_notes(
    space: Space,
    model: str,
    entries: Sequence[EntryDraft],
    vectors: Vectors,
    *,
    k: int,
    floor: float,
) -> dict[UUID, list[NearNote]]:
    """By owner of the entries: at most `k` other notes of cosine `floor` or more, nearest first.

    Two statements, however many are asked about. Call inside the tenant's scope.
    """
    owners = list(dict.fromkeys(entry.owner_id for entry in entries))
    scores = _load_scores(space, model, entries, vectors, k + len(owners) + _SPARE_ROWS)
    ids = {note for near in scores.values() for note in near} - set(owners)
    known = _load_visible_notes(space, ids)
    return {
        owner: _select_best(scores.get(owner, {}), known, k, floor)  # owners are not in `known`
        for owner in owners
    }


def _load_scores(
    space: Space, model: str, entries: Sequence[EntryDraft], vectors: Vectors, most: int
) -> dict[UUID, dict[UUID, float]]:
    if not entries:
        return {}
    values: dict[str, Any] = {
        "tenant": space.tenant_id,
        "space": space.id,
        "model": model,
        "numbers": list(range(len(entries))),
        "vectors": [HalfVector(vector).to_text() for vector in vectors],
        "most": most,
    }
    with connection.cursor() as cursor:
        cursor.execute(_NEAREST_NOTES_SQL, values)
        rows = cursor.fetchall()
    found: dict[UUID, dict[UUID, float]] = {}
    for number, note, score in rows:
        near = found.setdefault(entries[number].owner_id, {})
        near[note] = max(near.get(note, -1.0), round(float(score), 6))
    return found


def _load_visible_notes(space: Space, ids: Collection[UUID]) -> dict[UUID, Note]:
    """Neither withdrawn nor faded: what was forgotten does not come back by association."""
    rows = Note.objects.filter(
        space=space, id__in=ids, retired_at=None, visibility=Note.Visibility.ACTIVE
    )
    return {note.id: note for note in rows}


def _select_best(
    scores: dict[UUID, float], known: dict[UUID, Note], k: int, floor: float
) -> list[NearNote]:
    near = [
        NearNote(known[note], score)
        for note, score in scores.items()
        if note in known and score >= floor
    ]
    return sorted(near, key=lambda each: (-each.score, each.note.id))[:k]
