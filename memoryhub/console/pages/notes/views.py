"""The notes of a space, and one with its whole life."""

from __future__ import annotations

from uuid import UUID

from django.http import HttpResponse
from django.utils import timezone
from django.utils.translation import pgettext

from memoryhub.console.frame.access import page_at, tenant_page, tenant_view
from memoryhub.console.frame.lists import read_filters
from memoryhub.console.frame.requests import ConsoleRequest
from memoryhub.console.frame.space.tabs import get_space_at_moment, get_space_or_404, render_tab
from memoryhub.console.frame.text.quotes import load_sources
from memoryhub.console.pages.corrections.views import correct_memory
from memoryhub.console.pages.memories import neighbourhood
from memoryhub.console.pages.memories.views import (
    build_memory_context,
    render_correction_form,
    wants_form_only,
)
from memoryhub.console.pages.notes import queries
from memoryhub.tenants.scope import tenant_scope


@page_at("spaces/<uuid:space_id>/notes/<uuid:note_id>/", "space-note")
@tenant_view()
def note_page(request: ConsoleRequest, space_id: UUID, note_id: UUID) -> HttpResponse:
    """Sent, it is put right: see `corrections`."""
    with tenant_scope(request.tenant.id):
        if request.method != "POST":
            return _render_note(request, space_id, note_id)
        queries.get_note_or_404(get_space_or_404(space_id, timezone.now()), note_id)
    return correct_memory(request, space_id, "note", note_id)


def _render_note(request: ConsoleRequest, space_id: UUID, note_id: UUID) -> HttpResponse:
    now = timezone.now()
    space = get_space_or_404(space_id, now)
    found = queries.get_note_or_404(space, note_id)
    if wants_form_only(request):
        return render_correction_form(request, space, "note", found)
    sources = load_sources("note", [found.id])[found.id]
    return render_tab(
        request,
        space,
        "note",
        "notes/note.html",
        note=found,
        sources=sources,
        neighbours=queries.load_linked_notes(found),
        changes=queries.load_note_changes(found),
        around=neighbourhood.load_note_surroundings(
            space, found, [quote.turn for quote in sources], now
        ),
        **build_memory_context(request, space, "note", found),
    )


@page_at("spaces/<uuid:space_id>/notes/", "space-notes")
@tenant_page()
def note_list_page(request: ConsoleRequest, space_id: UUID) -> HttpResponse:
    space, moment = get_space_at_moment(request, space_id)
    filters = read_filters(
        request.GET, queries.load_note_choices(space), dated=pgettext("on days", "Said")
    )
    page = queries.load_notes(space, filters, moment)
    return render_tab(
        request, space, "notes", "notes/list.html", filters=filters, page=page, moment=moment
    )
