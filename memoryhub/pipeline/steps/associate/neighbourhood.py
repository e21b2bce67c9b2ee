"""What an engine is shown of new notes and those near them, and what its answer means."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from uuid import UUID

import numpy as np

from memoryhub.engines.ledger import get_current_ledger
from memoryhub.engines.local.language import (
    can_embed_language,
    choose_floor,
    detect_language,
)
from memoryhub.engines.types import Association, Engine, Neighbourhood, NoteEvolution, NoteState
from memoryhub.pipeline.steps.context import StepContext
from memoryhub.policies.schema import Policy
from memoryhub.tenants.scope import tenant_scope
from notes.index import indexer
from notes.links.evolve import DescriptorChange, compute_new_descriptors, is_owned_by_author
from notes.links.link import NotePair
from notes.links.nearest import NearNote, find_nearest_notes
from notes.models import Note


@dataclass(frozen=True, slots=True)
class NoteAssociations:
    """Links and new descriptors, by rows instead of handles. `refused`: of protected notes."""

    pairs: tuple[NotePair, ...] = ()
    changes: tuple[DescriptorChange, ...] = ()
    refused: tuple[DescriptorChange, ...] = ()


@dataclass
class NoteNeighbourhood:
    """New notes under handles, each with those near it: `n1` is new, `m1` held already."""

    near: list[tuple[Note, list[NearNote]]]
    model: str = ""  # that made the vectors
    handles: dict[UUID, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        new = [note for note, _ in self.near]
        self.handles = {note.id: f"n{at}" for at, note in enumerate(new, 1)}
        held = dict.fromkeys(n.note.id for _, near in self.near for n in near)
        others = [note for note in held if note not in self.handles]
        self.handles |= {note: f"m{at}" for at, note in enumerate(others, 1)}

    @property
    def notes(self) -> dict[str, Note]:
        """By handle."""
        rows = [*(note for note, _ in self.near), *(n.note for _, near in self.near for n in near)]
        return {self.handles[note.id]: note for note in rows}

    def build_neighbourhoods(self) -> list[Neighbourhood]:
        """What the engine sees; notes with nothing near them are left out (AM9)."""
        return [
            Neighbourhood(
                self.build_view(note),
                [self.build_view(n.note) for n in near],
                self._list_scores(note, near),
            )
            for note, near in self.near
            if near
        ]

    def _list_scores(self, note: Note, near: Sequence[NearNote]) -> list[float]:
        """None where the vectors mean nothing: the order of the neighbours is all they tell."""
        readable = can_embed_language(self.model, detect_language(note.content))
        return [n.score for n in near] if readable else []

    def build_view(self, note: Note) -> NoteState:
        return NoteState(
            self.handles[note.id],
            note.content,
            tuple(note.keywords),
            tuple(note.tags),
            note.context,
            note.occurred_at,
        )


def load_neighbourhood(
    at: StepContext, notes: Sequence[Note], index: indexer.EmbeddedEntries
) -> NoteNeighbourhood:
    """The notes with their nearest: of the space, and of those made before them in the batch.

    Opens its own scope.
    """
    k, model = at.policy.notes.k, at.embedder.name
    least = at.policy.notes.floor
    floor = min((choose_floor(model, note.content, least) for note in notes), default=least)
    with tenant_scope(at.space.tenant_id):
        held = find_nearest_notes(at.space, model, index, k=k, floor=floor)
    beside = _compare_within_batch(notes, index, floor)
    near = [(note, [*held.get(note.id, []), *beside[note.id]]) for note in notes]
    return NoteNeighbourhood(
        [(note, sorted(found, key=lambda n: (-n.score, n.note.id))[:k]) for note, found in near],
        model,
    )


def _compare_within_batch(
    notes: Sequence[Note], index: indexer.EmbeddedEntries, floor: float
) -> dict[UUID, list[NearNote]]:
    """Each note's likeness to those before it in the batch."""
    assert index.vectors is not None
    length = np.linalg.norm(index.vectors, axis=1, keepdims=True)
    unit = index.vectors / np.where(length == 0, 1, length)
    rows: dict[UUID, list[int]] = defaultdict(list)
    for at, entry in enumerate(index.entries):
        rows[entry.owner_id].append(at)
    found: dict[UUID, list[NearNote]] = {}
    for at, note in enumerate(notes):
        likeness = [
            NearNote(other, round(float((unit[rows[note.id]] @ unit[rows[other.id]].T).max()), 6))
            for other in notes[:at]
        ]
        found[note.id] = [near for near in likeness if near.score >= floor]
    return found


def ask_associations(circle: NoteNeighbourhood, policy: Policy, engine: Engine) -> NoteAssociations:
    """One call for all new notes; two where calls are not combined, none without neighbours.

    Raises EngineError.
    """
    offered = circle.build_neighbourhoods()
    links, evolve = policy.notes.links, policy.notes.evolution
    if not offered or not (links or evolve):
        return NoteAssociations()
    calls = [(links, evolve)]
    if links and evolve and not policy.llm.combine_calls:
        calls = [(True, False), (False, True)]
    answers = [
        engine.link_and_evolve(offered, links=linking, evolve=evolving)
        for linking, evolving in calls
    ]
    return _build_associations(circle, answers, policy, engine)


def _build_associations(
    circle: NoteNeighbourhood, answers: Sequence[Association], policy: Policy, engine: Engine
) -> NoteAssociations:
    """The answers by rows. An agent's own notes stay as they are (C20)."""
    notes = circle.notes
    pairs = [
        NotePair(notes[d.a].id, notes[d.b].id, d.kind, d.reason, d.weight)
        for answer in answers
        for d in answer.links
    ]
    evolutions = [evolution for answer in answers for evolution in answer.evolutions]
    built = [_build_change(circle, notes[each.handle], each, pairs, engine) for each in evolutions]
    if dropped := sum(count for _, count in built):
        get_current_ledger().count_rejected_items("link_evolve", dropped)
    evolves_all = policy.notes.evolve_agent_notes
    changes = [
        change
        for change, _ in built
        if change.values and (evolves_all or not is_owned_by_author(change.note))
    ]
    return NoteAssociations(
        pairs=tuple(pairs),
        changes=tuple(change for change in changes if not change.note.is_protected),
        refused=tuple(change for change in changes if change.note.is_protected),
    )


def _build_change(
    circle: NoteNeighbourhood,
    note: Note,
    evolution: NoteEvolution,
    pairs: Sequence[NotePair],
    engine: Engine,
) -> tuple[DescriptorChange, int]:
    """(what becomes of the note, how many words were dropped). Rules add no theme of their own:
    theirs would be false too often."""
    teachers = _find_teachers(circle, note, pairs)
    rows = [each for each in circle.notes.values() if each.id in teachers]
    values, dropped = compute_new_descriptors(
        note, evolution, rows, broadens=not engine.reads_by_rules
    )
    return DescriptorChange(note, values, note.version, evolution.why, teachers), dropped


def _find_teachers(
    circle: NoteNeighbourhood, note: Note, pairs: Sequence[NotePair]
) -> tuple[UUID, ...]:
    """The notes that a note learnt from: those it was linked with, else the nearest to it."""
    linked = {
        pair.second if pair.first == note.id else pair.first
        for pair in pairs
        if note.id in (pair.first, pair.second)
    }
    if linked:
        return tuple(sorted(linked))
    around = [(n.score, n.note.id) for new, found in circle.near for n in found if new == note]
    around += [(n.score, new.id) for new, found in circle.near for n in found if n.note == note]
    return (max(around)[1],) if around else ()
