"""The notes of a space, and one with its whole life."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from uuid import UUID

from django.db.models import Func, Q, TextField
from django.http import HttpResponse
from django.shortcuts import get_object_or_404
from django.utils import timezone
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext

from memoryhub.console.frame.access import page_at, tenant_page, tenant_view
from memoryhub.console.frame.lists import (
    FilterChoice,
    Filters,
    ListPage,
    build_text_condition,
    load_page,
    load_value_choice,
    read_filters,
)
from memoryhub.console.frame.requests import ConsoleRequest
from memoryhub.console.frame.space.moments import SpaceMoment
from memoryhub.console.frame.space.tabs import get_space_at_moment, get_space_or_404, render_tab
from memoryhub.console.frame.text.quotes import SourceQuote, load_sources
from memoryhub.console.pages.corrections.views import correct_memory
from memoryhub.console.pages.graph.link_graph import GraphEdge, GraphNode
from memoryhub.console.pages.graph.link_picture import LinkPicture, build_link_picture
from memoryhub.console.pages.graph.views import build_node_address
from memoryhub.console.pages.history.row_changes import MemoryChange, load_changes
from memoryhub.console.pages.memories.views import (
    MemorySurroundings,
    build_memory_context,
    load_note_surroundings,
    render_correction_form,
    wants_form_only,
)
from memoryhub.tenants.models import Space
from memoryhub.tenants.scope import tenant_scope
from notes.links.link import filter_links_of_notes
from notes.models import Derivation, EvolutionEvent, Link, Note, Revision

NOTE_SHOW_CHOICE = FilterChoice(
    "show",
    _("Show"),
    (
        ("all", _("All")),
        ("pending", _("Not yet described")),
        ("linked", _("Linked")),
        ("dormant", _("Faded")),
    ),
)
NOTE_SOURCE_CHOICE = FilterChoice(
    "source",
    _("Source"),
    (
        ("", _("Anything")),
        ("page", _("An exchange")),
        ("fact", _("A fact")),
        ("free", _("Added by agents and people")),
    ),
    spare=True,
)
_NOTE_SOURCE_CONDITIONS = {
    "page": Q(page__isnull=False),
    "fact": Q(fact__isnull=False),
    "free": Q(page=None, fact=None),
}
MAX_TAGS = 100


def load_note_choices(space: Space) -> tuple[FilterChoice, ...]:
    """Three statements."""
    rows = Note.objects.filter(space=space)
    return (
        NOTE_SHOW_CHOICE,
        load_note_tag_choice(space),
        NOTE_SOURCE_CHOICE,
        load_value_choice(rows, "category", _("Category"), _("Any")),
        load_value_choice(rows, "engine", _("Engine"), _("Any")),
    )


def load_note_tag_choice(space: Space) -> FilterChoice:
    """The tags in use, by name."""
    tags = Note.objects.filter(space=space, retired_at=None).exclude(tags=[])
    found = tags.annotate(tag=Func("tags", function="unnest", output_field=TextField()))
    names = found.order_by("tag").values_list("tag", flat=True).distinct()[:MAX_TAGS]
    return FilterChoice("tag", _("Tag"), (("", _("Any")), *((name, name) for name in names)))


def load_notes(
    space: Space, filters: Filters, moment: SpaceMoment
) -> ListPage[tuple[Note, list[SourceQuote]]]:
    rows = moment.rows(space, Note).filter(
        build_text_condition(filters.q, "content", "context", "keywords", "tags"),
        _build_note_show_condition(filters["show"], moment),
        _NOTE_SOURCE_CONDITIONS.get(filters["source"], Q()),
        filters.build_days_condition("occurred_at", space.timezone),
        retired_at=None,
        **filters.chosen_values("category", "engine"),
    )
    if filters["tag"]:
        rows = rows.filter(tags__contains=[filters["tag"]])
    found = load_page(rows.order_by("-occurred_at", "-id"), filters.page).map(moment.row)
    quotes = load_sources("note", [note.id for note in found.rows], moment)
    return found.map(lambda note: (note, quotes[note.id]))


def _build_note_show_condition(show: str, moment: SpaceMoment) -> Q:
    on = Link.objects.filter(active=True, retired_at=None)
    if moment.recorded_by:
        on = on.filter(created_at__lte=moment.recorded_by)
    own = "row_id" if moment.is_rewound else "id"
    linked = on.values("a").union(on.values("b"))
    return {
        "pending": Q(enrichment=Note.Enrichment.PENDING),
        "linked": Q(**{f"{own}__in": linked}),
        "dormant": Q(visibility=Note.Visibility.DORMANT),
    }.get(show, Q())


def get_note_or_404(space: Space, note_id: UUID) -> Note:
    return get_object_or_404(Note.objects.filter(space=space, id=note_id))


@dataclass(frozen=True, slots=True)
class LinkedNote:
    """A note at the other end of a link, and the event that made the link, if one is recorded."""

    link: Link
    note: Note
    event: EvolutionEvent | None


def load_linked_notes(note: Note) -> list[LinkedNote]:
    """Links in and out as one list, the newest first. Two statements."""
    links = filter_links_of_notes([note.id]).select_related("a", "b")
    rows = list(links.order_by("-created_at", "-id"))
    ids = [row.id for row in rows]
    made = Revision.objects.filter(row_type="link", row_id__in=ids, before__isnull=True)
    events = {revision.row_id: revision.event for revision in made.select_related("event")}
    return [
        LinkedNote(row, row.b if row.a_id == note.id else row.a, events.get(row.id)) for row in rows
    ]


def load_note_changes(note: Note) -> list[MemoryChange]:
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
        replace(change, lessons=[teachers[t] for t in taught[change.event.id] if t in teachers])
        for change in load_changes("note", [note.id])
    ]


def select_evolution_steps(changes: Sequence[MemoryChange]) -> list[MemoryChange]:
    """Those that changed what describes the note, the first one first."""
    return [change for change in reversed(changes) if _changes_description(change.revision)]


def _changes_description(revision: Revision) -> bool:
    before, after = revision.before, revision.after
    if not before or not after:
        return False
    return any(before.get(name) != after.get(name) for name in ("keywords", "tags", "context"))


def build_note_picture(
    space: Space, note: Note, neighbours: Sequence[LinkedNote], around: MemorySurroundings
) -> LinkPicture | None:
    """The linked notes, the facts of the same words and the topics around it."""
    own = str(note.id)
    found = [
        (
            GraphEdge(own, str(each.note.id), "link", each.link.weight, _name_link(each.link)),
            GraphNode(str(each.note.id), "note", each.note.context or each.note.content, 0.0),
        )
        for each in neighbours
    ]
    for kind, link, rows in (
        ("fact", "support", around.same_words),
        ("segment", "about", around.segments),
    ):
        for row in rows:
            node = GraphNode(str(row.id), kind, str(getattr(row, _WORDS[kind]) or row), 0.0)
            found.append((GraphEdge(own, node.id, link), node))
    return build_link_picture(found, partial(build_node_address, space))


_WORDS = {"fact": "text", "segment": "summary"}


def _name_link(link: Link) -> str:
    return "" if link.kind == Link.Kind.RELATED else link.kind


@page_at("spaces/<uuid:space_id>/notes/<uuid:note_id>/", "space-note")
@tenant_view()
def note_page(request: ConsoleRequest, space_id: UUID, note_id: UUID) -> HttpResponse:
    """Sent, it is put right: see `corrections`."""
    if request.method == "POST":
        with tenant_scope(request.tenant.id):
            get_note_or_404(get_space_or_404(space_id, timezone.now()), note_id)
        if corrected := correct_memory(request, space_id, "note", note_id):
            return corrected
    with tenant_scope(request.tenant.id):
        return _render_note(request, space_id, note_id)


def _render_note(request: ConsoleRequest, space_id: UUID, note_id: UUID) -> HttpResponse:
    now = timezone.now()
    space = get_space_or_404(space_id, now)
    found = get_note_or_404(space, note_id)
    if wants_form_only(request):
        return render_correction_form(request, space, "note", found)
    sources = load_sources("note", [found.id])[found.id]
    neighbours, changes = load_linked_notes(found), load_note_changes(found)
    around = load_note_surroundings(space, found, [quote.turn for quote in sources], now)
    return render_tab(
        request,
        space,
        "note",
        "notes/note.html",
        note=found,
        sources=sources,
        neighbours=neighbours,
        links=build_note_picture(space, found, neighbours, around),
        changes=changes,
        steps=select_evolution_steps(changes),
        around=around,
        **build_memory_context(request, space, "note", found),
    )


@page_at("spaces/<uuid:space_id>/notes/", "space-notes")
@tenant_page()
def note_list_page(request: ConsoleRequest, space_id: UUID) -> HttpResponse:
    space, moment = get_space_at_moment(request, space_id)
    filters = read_filters(
        request.GET, load_note_choices(space), dated=pgettext("on days", "Date mentioned")
    )
    page = load_notes(space, filters, moment)
    return render_tab(
        request, space, "notes", "notes/list.html", filters=filters, page=page, moment=moment
    )
