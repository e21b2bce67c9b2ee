"""The notes of a space in two dimensions, as they are and as they would be had none evolved.

The map that A-Mem's paper shows of its memories (spec §4), of the same notes twice. Descriptors
from before are in the history, and are embedded again for the map: no second vector is stored.
The notes as they are settle from the places they would have, so that what moves is what evolved.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID
from zoneinfo import ZoneInfo

import numpy as np
from numpy.typing import NDArray

from memoryhub.engines.projection import project_both_states
from memoryhub.engines.types import Embedder
from memoryhub.inference.selection import find_embedder
from memoryhub.policies.services import load_effective_policy
from memoryhub.tenants.models import Space
from notes.index import indexer
from notes.links.evolve import load_unevolved_notes
from notes.models import IndexEntry, Link

MAX_NOTES = 2000  # the newest: more could not be told apart
DECIMAL_PLACES = 4  # of a coordinate between -1 and 1
Vectors = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class EvolvedNotes:
    """What the map is made of. `vectors`: (n, d), of the notes as they are. `before`: what is to be
    embedded of those that evolved. `pairs`: places of linked notes in `ids`."""

    ids: list[UUID] = field(default_factory=list)
    vectors: Vectors = field(default_factory=lambda: np.zeros((0, 0), np.float32))
    before: list[indexer.EntryDraft] = field(default_factory=list)
    pairs: list[tuple[int, int]] = field(default_factory=list)
    embedder: Embedder | None = None


def load_evolved_notes(space: Space) -> EvolvedNotes:
    """Five statements. Call inside the tenant's scope."""
    rows = IndexEntry.objects.filter(space=space, model=space.embedding_model, kind="note", chunk=0)
    found = rows.exclude(embedding=None).order_by("-owner_id")[:MAX_NOTES]
    known = dict(found.values_list("owner_id", "embedding"))
    form, zone = load_effective_policy(space).policy.notes.vector, ZoneInfo(space.timezone)
    entries = indexer.build_note_entries(load_unevolved_notes(space, list(known)), zone, form)
    places = {note: at for at, note in enumerate(known)}
    links = Link.objects.filter(space=space, active=True, retired_at=None, a__in=known, b__in=known)
    return EvolvedNotes(
        ids=list(known),
        vectors=np.array(list(known.values()), np.float32),
        before=[entry for entry in entries if entry.chunk == 0],
        pairs=[(places[a], places[b]) for a, b in links.order_by("id").values_list("a", "b")],
        embedder=find_embedder(space.embedding_model),
    )


def draw_evolution_map(work: EvolvedNotes, told: Callable[[int], object]) -> dict[str, Any]:
    """`notes`: [id, whether it evolved, x and y without evolution, x and y with it]. `linked` and
    `any`: the mean cosine of linked notes and of any two, without and with.

    Nothing where none evolved, or the embedder is down or gone: its vectors alone compare.
    """
    model = work.embedder
    before = indexer.embed_entries_or_none(work.before, model) if model else None
    if before is None:
        return {}
    at = {note: place for place, note in enumerate(work.ids)}
    evolved = [at[entry.owner_id] for entry in work.before]
    states = [work.vectors.copy(), work.vectors]
    states[0][evolved] = before
    places = np.hstack(project_both_states(states[0], states[1], told)).round(DECIMAL_PLACES)
    changed = set(evolved)
    return {
        "notes": [
            [str(note), place in changed, *map(float, places[place])]
            for place, note in enumerate(work.ids)
        ],
        "linked": [_compute_mean_cosine(state, work.pairs) for state in states],
        "any": [_compute_mean_cosine(state, None) for state in states],
    }


def _compute_mean_cosine(vectors: Vectors, pairs: Sequence[tuple[int, int]] | None) -> float | None:
    """Of these pairs of rows, or of all there are; None for no pair."""
    unit = vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-9)
    count = len(unit)
    if pairs is None:
        if count < 2:
            return None
        # All products are those of the sum with itself; n of them are of a row with itself.
        whole = float(np.square(unit.sum(axis=0)).sum())
        return round((whole - count) / (count * (count - 1)), DECIMAL_PLACES)
    if not pairs:
        return None
    a, b = (unit[list(side)] for side in zip(*pairs, strict=True))
    return round(float((a * b).sum(axis=1).mean()), DECIMAL_PLACES)
