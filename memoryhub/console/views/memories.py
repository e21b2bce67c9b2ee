"""One memory and its whole life."""

from __future__ import annotations

from uuid import UUID

from django.http import HttpResponse
from django.utils import timezone

from memoryhub.console import charts
from memoryhub.console.access import tenant_page, tenant_view
from memoryhub.console.listing import read_filters
from memoryhub.console.queries import memories, notes, recalls
from memoryhub.console.queries.spaces import space_or_404
from memoryhub.console.requests import ConsoleRequest
from memoryhub.console.views import correcting
from memoryhub.console.views.spaces import tab
from memoryhub.policies.services import policy_of
from memoryhub.tenants.scope import tenant_scope
from notes.feedback import words_on
from notes.retention import standing

# Of what was said of a fact, the latest.
WORDS = 10


@tenant_view()
def fact(request: ConsoleRequest, space_id: UUID, fact_id: UUID) -> HttpResponse:
    """Sent, it is put right: see `correcting`."""
    with tenant_scope(request.tenant.id):
        if request.method != "POST":
            return _fact(request, space_id, fact_id)
        memories.fact_or_404(space_or_404(space_id, timezone.now()), fact_id)
    return correcting.act(request, space_id, "fact", fact_id)


def _fact(request: ConsoleRequest, space_id: UUID, fact_id: UUID) -> HttpResponse:
    now = timezone.now()
    space = space_or_404(space_id, now)
    life = memories.biography(space, fact_id)
    start = min(row.fact.valid_from for row in life.versions)
    intervals = [(row, charts.interval(row.fact, start, now)) for row in life.versions]
    row = life.row
    left = standing(row.fact, row.fact.asserted_at, policy_of(space).policy.forget, now)
    return tab(
        request,
        space,
        "fact",
        life=life,
        row=row,
        start=start,
        intervals=intervals,
        standing=left,
        recalled=recalls.shown_for(space, fact_id),
        words=words_on(row.fact)[:WORDS],
    )


@tenant_view()
def note(request: ConsoleRequest, space_id: UUID, note_id: UUID) -> HttpResponse:
    """Sent, it is put right: see `correcting`."""
    with tenant_scope(request.tenant.id):
        if request.method != "POST":
            return _note(request, space_id, note_id)
        notes.note_or_404(space_or_404(space_id, timezone.now()), note_id)
    return correcting.act(request, space_id, "note", note_id)


def _note(request: ConsoleRequest, space_id: UUID, note_id: UUID) -> HttpResponse:
    now = timezone.now()
    space = space_or_404(space_id, now)
    found = notes.note_or_404(space, note_id)
    return tab(
        request,
        space,
        "note",
        note=found,
        sources=memories.sources_of("note", [found.id])[found.id],
        neighbours=notes.neighbours(found),
        changes=notes.life_of(found),
        recalled=recalls.shown_for(space, note_id),
        standing=standing(found, found.occurred_at, policy_of(space).policy.forget, now),
    )


@tenant_page()
def segment(request: ConsoleRequest, space_id: UUID, segment_id: UUID) -> HttpResponse:
    now = timezone.now()
    space = space_or_404(space_id, now)
    weights = policy_of(space).policy.heat
    found = memories.segment_or_404(space, segment_id, weights, now)
    return tab(
        request,
        space,
        "segment",
        segment=found,
        parts=charts.heat_parts(found, found.heat),
        tau=weights.tau,
        page=memories.segment_pages(found, read_filters(request.GET).page),
        changes=memories.changes_of("segment", [found.id]),
    )
