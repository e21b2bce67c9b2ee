"""The notes nearest to new ones: exact search over the vectors of the space (spec §4.2)."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from uuid import UUID

from memoryhub.tenants.models import Space
from notes.index.indexer import EmbeddedEntries
from notes.index.nearest import find_nearest_owners
from notes.models import Note

# Read on, since notes that were withdrawn or are asked about themselves still have vectors.
_SPARE_ROWS = 10


@dataclass(frozen=True, slots=True)
class NearNote:
    """A note of the space, and its cosine with the one asked about, rounded (spec §0.1)."""

    note: Note
    score: float


def find_nearest_notes(
    space: Space, model: str, index: EmbeddedEntries, *, k: int, floor: float
) -> dict[UUID, list[NearNote]]:
    """By owner of the entries: at most `k` other notes of cosine `floor` or more, nearest first.

    Two statements, however many are asked about. Call inside the tenant's scope.
    """
    owners = list(dict.fromkeys(entry.owner_id for entry in index.entries))
    asked = [("", vector) for vector in index.vectors] if index.vectors is not None else []
    rows = find_nearest_owners(space, "note", model, asked, k + len(owners) + _SPARE_ROWS)
    scores: dict[UUID, dict[UUID, float]] = {owner: {} for owner in owners}
    for entry, found in zip(index.entries, rows, strict=True):
        near = scores[entry.owner_id]
        near |= {note: max(cosine, near.get(note, -1.0)) for note, cosine in found}
    ids = {note for near in scores.values() for note in near} - set(owners)
    known = _load_visible_notes(space, ids)
    return {owner: _select_best(scores[owner], known, k, floor) for owner in owners}


def _load_visible_notes(space: Space, ids: Collection[UUID]) -> dict[UUID, Note]:
    """Neither withdrawn nor faded: what was forgotten does not come back by association."""
    rows = Note.objects.filter(space=space, retired_at=None, visibility=Note.Visibility.ACTIVE)
    found: dict[UUID, Note] = rows.in_bulk(ids)
    return found


def _select_best(
    scores: dict[UUID, float], known: dict[UUID, Note], k: int, floor: float
) -> list[NearNote]:
    near = [
        NearNote(known[note], score)
        for note, score in scores.items()
        if note in known and score >= floor
    ]
    return sorted(near, key=lambda each: (-each.score, each.note.id))[:k]
