"""What an engine is shown of new notes and those near them, and what its answer means."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

import numpy as np

from memoryhub.engines.local.language import language_of, reads
from memoryhub.engines.types import Association, Engine, Evolution, Neighbourhood, NoteView
from memoryhub.policies.schema import Policy
from memoryhub.tenants.models import Space
from memoryhub.tenants.scope import tenant_scope
from notes import indexing
from notes.evolving import Change, changed_by, is_owned
from notes.linking import Pair
from notes.models import Note
from notes.nearness import Near, nearest


@dataclass(frozen=True, slots=True)
class Found:
    """Links and new descriptors, by rows instead of handles. `refused`: of protected notes."""

    pairs: tuple[Pair, ...] = ()
    changes: tuple[Change, ...] = ()
    refused: tuple[Change, ...] = ()


@dataclass
class Circle:
    """New notes under handles, each with those near it: `n1` is new, `m1` held already."""

    near: list[tuple[Note, list[Near]]]
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

    def offered(self) -> list[Neighbourhood]:
        """What the engine sees; notes with nothing near them are left out (AM9)."""
        return [
            Neighbourhood(
                self.view(note), [self.view(n.note) for n in near], self._likeness(note, near)
            )
            for note, near in self.near
            if near
        ]

    def _likeness(self, note: Note, near: Sequence[Near]) -> list[float]:
        """None where the vectors mean nothing: the order of the neighbours is all they tell."""
        readable = reads(self.model, language_of(note.content))
        return [n.score for n in near] if readable else []

    def view(self, note: Note) -> NoteView:
        return NoteView(
            self.handles[note.id],
            note.content,
            tuple(note.keywords),
            tuple(note.tags),
            note.context,
            note.occurred_at,
        )


def circle(
    space: Space,
    policy: Policy,
    notes: Sequence[Note],
    entries: Sequence[indexing.Entry],
    vectors: indexing.Vectors,
    model: str,
) -> Circle:
    """The notes with their nearest: of the space, and of those made before them in the batch.

    Opens its own scope.
    """
    k, floor = policy.notes.k, policy.notes.floor
    with tenant_scope(space.tenant_id):
        held = nearest(space, model, entries, vectors, k=k, floor=floor)
    beside = _beside(notes, entries, vectors, floor)
    near = [(note, [*held.get(note.id, []), *beside[note.id]]) for note in notes]
    return Circle([(note, sorted(found, key=_nearness)[:k]) for note, found in near], model)


def _nearness(near: Near) -> tuple[float, UUID]:
    return -near.score, near.note.id


def _beside(
    notes: Sequence[Note],
    entries: Sequence[indexing.Entry],
    vectors: indexing.Vectors,
    floor: float,
) -> dict[UUID, list[Near]]:
    """Each note's likeness to those before it in the batch."""
    length = np.linalg.norm(vectors, axis=1, keepdims=True)
    unit = vectors / np.where(length == 0, 1, length)
    rows: dict[UUID, list[int]] = defaultdict(list)
    for at, entry in enumerate(entries):
        rows[entry.owner_id].append(at)
    found: dict[UUID, list[Near]] = {}
    for at, note in enumerate(notes):
        likeness = [
            Near(other, round(float((unit[rows[note.id]] @ unit[rows[other.id]].T).max()), 6))
            for other in notes[:at]
        ]
        found[note.id] = [near for near in likeness if near.score >= floor]
    return found


def asked(circle: Circle, policy: Policy, engine: Engine) -> Found:
    """One call for all new notes; two where calls are not combined, none without neighbours.

    Raises EngineError.
    """
    offered = circle.offered()
    links, evolve = policy.notes.links, policy.notes.evolution
    if not offered or not (links or evolve):
        return Found()
    calls = [(links, evolve)]
    if links and evolve and not policy.llm.combine_calls:
        calls = [(True, False), (False, True)]
    answers = [
        engine.link_evolve(offered, links=linking, evolve=evolving) for linking, evolving in calls
    ]
    return found(circle, answers, may_evolve=_may_evolve(policy))


def _may_evolve(policy: Policy) -> Callable[[Note], bool]:
    return lambda note: policy.notes.evolve_agent_notes or not is_owned(note)


def found(
    circle: Circle, answers: Sequence[Association], may_evolve: Callable[[Note], bool]
) -> Found:
    """The answers by rows. An agent's own notes stay as they are (C20)."""
    notes = circle.notes
    pairs = [
        Pair(notes[d.a].id, notes[d.b].id, d.kind, d.reason, d.weight)
        for answer in answers
        for d in answer.links
    ]
    changes = [
        change
        for answer in answers
        for evolution in answer.evolutions
        if (change := _change(circle, notes, evolution, pairs)) and may_evolve(change.note)
    ]
    return Found(
        pairs=tuple(pairs),
        changes=tuple(change for change in changes if not change.note.is_protected),
        refused=tuple(change for change in changes if change.note.is_protected),
    )


def _change(
    circle: Circle, notes: dict[str, Note], evolution: Evolution, pairs: Sequence[Pair]
) -> Change | None:
    note = notes[evolution.handle]
    values: dict[str, Any] = changed_by(note, evolution)
    if not values:
        return None
    return Change(note, values, note.version, evolution.why, _teachers(circle, note, pairs))


def _teachers(circle: Circle, note: Note, pairs: Sequence[Pair]) -> tuple[UUID, ...]:
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
