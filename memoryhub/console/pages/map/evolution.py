"""The notes with and without evolution, as two pictures side by side."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from memoryhub.console.frame.lists import Filters, ListPage, build_text_condition, load_page
from memoryhub.console.frame.text.history_rows import FieldChange, list_field_changes
from memoryhub.tenants.models import Space
from notes.links.evolve import DESCRIPTOR_COLUMNS, load_unevolved_notes
from notes.models import Link, Note

SIDE = 400.0  # of a panel
_MARGIN = 12.0
MAX_LINKS = 5000  # drawn, the strongest
Place = tuple[float, float]


@dataclass(frozen=True, slots=True)
class EvolutionPanel:
    """One state. `still` and `links` are SVG paths: of the notes that did not evolve, and of the
    links between all. `evolved`: the places of those that did."""

    still: str
    links: str
    evolved: list[Place]


@dataclass(frozen=True, slots=True)
class EvolutionPicture:
    """`panels`: without evolution, and with it. `evolved`: the notes that did. `linked` and `any`:
    mean cosines, in the same order, of linked notes and of any two."""

    panels: tuple[EvolutionPanel, EvolutionPanel]
    notes: int
    links: int
    evolved: list[UUID]
    linked: Sequence[float | None]
    any: Sequence[float | None]

    @property
    def moves(self) -> list[tuple[Place, Place]]:
        """Of each note that evolved: from where to where."""
        return list(zip(*(panel.evolved for panel in self.panels), strict=True))


def _to_panel(x: float, y: float) -> Place:
    """From between -1 and 1, up being up."""
    half = SIDE / 2 - _MARGIN
    return round(SIDE / 2 + x * half, 1), round(SIDE / 2 - y * half, 1)


def load_evolution_picture(space: Space, evolution: Mapping[str, Any]) -> EvolutionPicture:
    """Of the notes that are still held, with the strongest links between them. Two statements."""
    ids = [point[0] for point in evolution.get("notes", ())]
    held = set(Note.objects.filter(id__in=ids, retired_at=None).values_list("id", flat=True))
    links = Link.objects.filter(space=space, active=True, retired_at=None, a__in=held, b__in=held)
    pairs = links.order_by("-weight", "-id").values_list("a", "b")[:MAX_LINKS]
    return build_evolution_picture(evolution, held, list(pairs))


def build_evolution_picture(
    evolution: Mapping[str, Any], held: Collection[UUID], links: Sequence[tuple[UUID, UUID]]
) -> EvolutionPicture:
    """`links`: pairs of held notes that stand on the map."""
    rows = [(UUID(note), *rest) for note, *rest in evolution.get("notes", ())]
    rows = [row for row in rows if row[0] in held]
    evolved = [note for note, changed, *_ in rows if changed]
    without = {note: _to_panel(x, y) for note, _, x, y, *_ in rows}
    with_it = {note: _to_panel(x, y) for note, *_, x, y in rows}
    return EvolutionPicture(
        panels=(_build_panel(without, evolved, links), _build_panel(with_it, evolved, links)),
        notes=len(rows),
        links=len(links),
        evolved=evolved,
        linked=evolution.get("linked", (None, None)),
        any=evolution.get("any", (None, None)),
    )


def _build_panel(
    places: Mapping[UUID, Place], evolved: Collection[UUID], links: Sequence[tuple[UUID, UUID]]
) -> EvolutionPanel:
    apart = set(evolved)
    return EvolutionPanel(
        still="".join(f"M{x} {y}h0" for note, (x, y) in places.items() if note not in apart),
        links="".join(
            f"M{places[a][0]} {places[a][1]}L{places[b][0]} {places[b][1]}" for a, b in links
        ),
        evolved=[places[note] for note in evolved],
    )


@dataclass(frozen=True, slots=True)
class EvolvedNote:
    """A note with what of its descriptors became something else."""

    note: Note
    fields: list[FieldChange] = field(default_factory=list)


def load_evolved_page(
    space: Space, evolved: Iterable[UUID], filters: Filters
) -> ListPage[EvolvedNote]:
    """The newest first. Four statements."""
    rows = Note.objects.filter(
        build_text_condition(filters.q, "content", "context", "keywords", "tags"),
        space=space,
        id__in=list(evolved),
        retired_at=None,
    )
    found = load_page(rows.order_by("-occurred_at", "-id"), filters.page)
    before = {note.id: note for note in load_unevolved_notes(space, [n.id for n in found.rows])}
    return found.map(lambda note: EvolvedNote(note, _list_changes(before.get(note.id), note)))


def _list_changes(before: Note | None, after: Note) -> list[FieldChange]:
    if before is None:
        return []
    was, is_now = (
        {name: getattr(note, name) for name in DESCRIPTOR_COLUMNS} for note in (before, after)
    )
    return list_field_changes("note", was, is_now, {})
