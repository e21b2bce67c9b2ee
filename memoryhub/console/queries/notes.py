"""Notes, what they are linked with, and from which others they learnt."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from uuid import UUID

from django.db.models import Q
from django.http import Http404

from memoryhub.console.listing import Choice, Filters, Page, containing, page_of
from memoryhub.console.queries.memories import Change, changes_of, sources_of
from memoryhub.console.quoting import SourceQuote
from memoryhub.tenants.models import Space
from notes.linking import links_of
from notes.models import Derivation, EvolutionEvent, Link, Note, Revision

SHOW = Choice(
    "show",
    "Show",
    (
        ("all", "All"),
        ("pending", "Not yet described"),
        ("linked", "With links"),
        ("free", "Kept by agents and people"),
    ),
)
MOST_TAGS = 100


def tag_choice(space: Space) -> Choice:
    """The tags in use, by name."""
    lists = Note.objects.filter(space=space, retired_at=None).exclude(tags=[])
    found: set[str] = set().union(*lists.order_by().values_list("tags", flat=True))
    return Choice("tag", "Tag", (("", "Any"), *((t, t) for t in sorted(found)[:MOST_TAGS])))


def notes(space: Space, filters: Filters) -> Page[tuple[Note, list[SourceQuote]]]:
    rows = Note.objects.filter(
        containing(filters.q, "content", "context", "keywords", "tags"),
        _shown(filters["show"]),
        space=space,
        retired_at=None,
    )
    if filters["tag"]:
        rows = rows.filter(tags__contains=[filters["tag"]])
    found = page_of(rows, filters.page)
    quotes = sources_of("note", [note.id for note in found.rows])
    return found.map(lambda note: (note, quotes[note.id]))


def _shown(show: str) -> Q:
    on = Link.objects.filter(active=True, retired_at=None)
    return {
        "pending": Q(enrichment=Note.Enrichment.PENDING),
        "linked": Q(id__in=on.values("a")) | Q(id__in=on.values("b")),
        "free": Q(page=None, fact=None),
    }.get(show, Q())


def note_or_404(space: Space, note_id: UUID) -> Note:
    note: Note | None = Note.objects.filter(space=space, id=note_id).first()
    if note is None:
        raise Http404
    return note


@dataclass(frozen=True, slots=True)
class Neighbour:
    """A note at the other end of a link, and the event that made the link, if one is recorded."""

    link: Link
    note: Note
    event: EvolutionEvent | None


def neighbours(note: Note) -> list[Neighbour]:
    """Links in and out as one list, the newest first. Two statements."""
    rows = list(links_of([note.id]).select_related("a", "b").order_by("-created_at", "-id"))
    events = _made_by(row.id for row in rows)
    return [
        Neighbour(row, row.b if row.a_id == note.id else row.a, events.get(row.id)) for row in rows
    ]


def _made_by(links: Iterable[UUID]) -> dict[UUID, EvolutionEvent]:
    made = Revision.objects.filter(row_type="link", row_id__in=list(links), before__isnull=True)
    return {revision.row_id: revision.event for revision in made.select_related("event")}


@dataclass(frozen=True, slots=True)
class Learnt(Change):
    """A change of a note, with the notes it came from."""

    lessons: Sequence[Note] = ()


def life_of(note: Note) -> list[Learnt]:
    """The note's changes, newest first, with what taught it. Three statements."""
    taught: dict[UUID, list[UUID]] = defaultdict(list)
    context = Derivation.objects.filter(
        child_type="note", child_id=note.id, role=Derivation.Role.CONTEXT, via_type="note"
    )
    for event, teacher in context.order_by("id").values_list("event_id", "via_id"):
        if teacher is not None and teacher not in taught[event]:
            taught[event].append(teacher)
    teachers = Note.objects.in_bulk([t for found in taught.values() for t in found])
    return [
        Learnt(
            change.event,
            change.revision,
            change.fields,
            change.words,
            change.asked,
            [teachers[t] for t in taught[change.event.id] if t in teachers],
        )
        for change in changes_of("note", [note.id])
    ]
