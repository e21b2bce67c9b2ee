"""The facts of a space, and one with its whole life."""

from __future__ import annotations

from uuid import UUID

from django.http import HttpResponse
from django.utils import timezone
from django.utils.translation import pgettext

from memoryhub.console.frame.access import page_at, tenant_page, tenant_view
from memoryhub.console.frame.lists import read_filters
from memoryhub.console.frame.requests import ConsoleRequest
from memoryhub.console.frame.space.tabs import get_space_at_moment, get_space_or_404, render_tab
from memoryhub.console.pages.corrections.views import correct_memory
from memoryhub.console.pages.facts.lineage_chart import build_lineage_chart
from memoryhub.console.pages.facts.queries import (
    get_fact_or_404,
    load_biography,
    load_fact_choices,
    load_facts,
)
from memoryhub.console.pages.memories import neighbourhood
from memoryhub.console.pages.memories.views import (
    build_memory_context,
    render_correction_form,
    wants_form_only,
)
from memoryhub.tenants.scope import tenant_scope
from notes.quality.feedback import filter_feedback_on

# Of what was said of a fact, the latest.
MAX_SHOWN_FEEDBACK = 10


@page_at("spaces/<uuid:space_id>/facts/<uuid:fact_id>/", "space-fact")
@tenant_view()
def fact_page(request: ConsoleRequest, space_id: UUID, fact_id: UUID) -> HttpResponse:
    """Sent, it is put right: see `corrections`."""
    with tenant_scope(request.tenant.id):
        if request.method != "POST":
            return _render_fact(request, space_id, fact_id)
        get_fact_or_404(get_space_or_404(space_id, timezone.now()), fact_id)
    return correct_memory(request, space_id, "fact", fact_id)


def _render_fact(request: ConsoleRequest, space_id: UUID, fact_id: UUID) -> HttpResponse:
    now = timezone.now()
    space = get_space_or_404(space_id, now)
    if wants_form_only(request):
        return render_correction_form(request, space, "fact", get_fact_or_404(space, fact_id))
    life = load_biography(space, fact_id)
    row = life.row
    turns = [quote.turn for quote in row.sources]
    return render_tab(
        request,
        space,
        "fact",
        "facts/fact.html",
        life=life,
        row=row,
        lineage=build_lineage_chart(life.versions, now),
        around=neighbourhood.load_fact_surroundings(space, row.fact, turns, now),
        words=filter_feedback_on(row.fact)[:MAX_SHOWN_FEEDBACK],
        **build_memory_context(request, space, "fact", row.fact),
    )


@page_at("spaces/<uuid:space_id>/facts/", "space-facts")
@tenant_page()
def fact_list_page(request: ConsoleRequest, space_id: UUID) -> HttpResponse:
    space, moment = get_space_at_moment(request, space_id)
    filters = read_filters(request.GET, load_fact_choices(space), dated=pgettext("on days", "Said"))
    page = load_facts(space, filters, moment)
    return render_tab(
        request, space, "facts", "facts/list.html", filters=filters, page=page, moment=moment
    )
