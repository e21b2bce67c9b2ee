"""One memory and its whole life."""

from __future__ import annotations

from typing import Any
from uuid import UUID
from zoneinfo import ZoneInfo

from django.http import HttpResponse
from django.shortcuts import render
from django.utils import timezone

from memoryhub.console import charts, corrections
from memoryhub.console.access import tenant_page, tenant_view
from memoryhub.console.curves import curve
from memoryhub.console.listing import read_filters
from memoryhub.console.queries import around, memories, notes, recalls
from memoryhub.console.queries.spaces import space_or_404
from memoryhub.console.requests import ConsoleRequest
from memoryhub.console.views import correcting
from memoryhub.console.views.spaces import tab
from memoryhub.policies.services import policy_of
from memoryhub.tenants.scope import tenant_scope
from notes.feedback import words_on
from notes.models import Fact, Note
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
    if _only_the_form(request):
        return _form(request, space, "fact", memories.fact_or_404(space, fact_id))
    life = memories.biography(space, fact_id)
    row = life.row
    turns = [quote.turn for quote in row.sources]
    return tab(
        request,
        space,
        "fact",
        life=life,
        row=row,
        lineage=charts.lineage(life.versions, now),
        around=around.around_fact(space, row.fact, turns, now),
        words=words_on(row.fact)[:WORDS],
        **_common(request, space, "fact", row.fact),
    )


def _only_the_form(request: ConsoleRequest) -> bool:
    """A browser that fetches a page again from its own history wants all of it."""
    return bool(request.htmx) and not request.htmx.history_restore_request


def _form(request: ConsoleRequest, space: Any, kind: str, row: Fact | Note) -> HttpResponse:
    found = correcting.asked(request, space, kind, row, timezone.now())
    return render(request, "parts/act.html", {"space": space, "memory": row, "kind": kind} | found)


def _common(request: ConsoleRequest, space: Any, kind: str, row: Fact | Note) -> dict[str, Any]:
    """What the pages of facts and of notes both tell."""
    now, forget = timezone.now(), policy_of(space).policy.forget
    said = row.asserted_at if isinstance(row, Fact) else row.occurred_at
    today = now.astimezone(ZoneInfo("UTC")).date()
    return {
        "memory": row,
        "kind": kind,
        "actions": corrections.offered(kind, row),
        "standing": standing(row, said, forget, now),
        "curve": curve(row, said, forget, now),
        "recalled": recalls.shown_for(space, row.id),
        "recall_days": charts.daily(around.recalled_by_day(space, row.id, today)),
        **correcting.asked(request, space, kind, row, now),
    }


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
    if _only_the_form(request):
        return _form(request, space, "note", found)
    sources = memories.sources_of("note", [found.id])[found.id]
    return tab(
        request,
        space,
        "note",
        note=found,
        sources=sources,
        neighbours=notes.neighbours(found),
        changes=notes.life_of(found),
        around=around.around_note(space, found, [quote.turn for quote in sources], now),
        **_common(request, space, "note", found),
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
        parts=charts.heat_parts(found, found.heat, weights),
        tau=weights.tau,
        page=memories.segment_pages(found, read_filters(request.GET).page),
        changes=memories.changes_of("segment", [found.id]),
    )
