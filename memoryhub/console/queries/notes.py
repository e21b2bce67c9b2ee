"""Notes, what they are linked with, and from which others they learnt."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from uuid import UUID

from django.db.models import Func, Q, TextField
from django.http import Http404
from django.utils.translation import gettext_lazy as _

from memoryhub.console.listing import Choice, Filters, Page, containing, page_of, values_in
from memoryhub.console.moments import Moment
from memoryhub.console.queries.memories import Change, changes_of, sources_of
from memoryhub.console.quoting import SourceQuote
from memoryhub.tenants.models import Space
from notes.linking import links_of
from notes.models import Derivation, EvolutionEvent, Link, Note, Revision

SHOW = Choice(
    "show",
    _("Show"),
    (
        ("all", _("All")),
        ("pending", _("Not yet described")),
        ("linked", _("With links")),
        ("dormant", _("Faded")),
    ),
)
SOURCE = Choice(
    "source",
    _("Made of"),
    (
        ("", _("Anything")),
        ("page", _("An exchange")),
        ("fact", _("A fact")),
        ("free", _("Kept by agents and people")),
    ),
    spare=True,
)
_SOURCES = {
    "page": Q(page__isnull=False),
    "fact": Q(fact__isnull=False),
    "free": Q(page=None, fact=None),
}
MOST_TAGS = 100


def note_choices(space: Space) -> tuple[Choice, ...]:
    """Three statements."""
    rows = Note.objects.filter(space=space)
    return (
        SHOW,
        tag_choice(space),
        SOURCE,
        values_in(rows, "category", "category", _("Category"), _("Any")),
        values_in(rows, "engine", "engine", _("Engine"), _("Any")),
    )


def tag_choice(space: Space) -> Choice:
    """The tags in use, by name."""
    tags = Note.objects.filter(space=space, retired_at=None).exclude(tags=[])
    found = tags.annotate(tag=Func("tags", function="unnest", output_field=TextField()))
    names = found.order_by("tag").values_list("tag", flat=True).distinct()[:MOST_TAGS]
    return Choice("tag", _("Tag"), (("", _("Any")), *((name, name) for name in names)))


def notes(space: Space, filters: Filters, moment: Moment) -> Page[tuple[Note, list[SourceQuote]]]:
    rows = moment.rows(space, Note).filter(
        containing(filters.q, "content", "context", "keywords", "tags"),
        _shown(filters["show"], moment),
        _SOURCES.get(filters["source"], Q()),
        filters.on_days("occurred_at", space.timezone),
        retired_at=None,
        **filters.chosen("category", "engine"),
    )
    if filters["tag"]:
        rows = rows.filter(tags__contains=[filters["tag"]])
    found = page_of(rows.order_by("-occurred_at", "-id"), filters.page).map(moment.row)
    quotes = sources_of("note", [note.id for note in found.rows], moment)
    return found.map(lambda note: (note, quotes[note.id]))


def _shown(show: str, moment: Moment) -> Q:
    on = Link.objects.filter(active=True, retired_at=None)
    if moment.recorded_by:
        on = on.filter(created_at__lte=moment.recorded_by)
    own = "row_id" if moment.rewinds else "id"
    linked = on.values("a").union(on.values("b"))
    return {
        "pending": Q(enrichment=Note.Enrichment.PENDING),
        "linked": Q(**{f"{own}__in": linked}),
        "dormant": Q(visibility=Note.Visibility.DORMANT),
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
