"""One memory and its whole life."""

from __future__ import annotations

from typing import Any
from uuid import UUID
from zoneinfo import ZoneInfo

from django.http import HttpResponse
from django.shortcuts import render
from django.utils import timezone

from memoryhub.console.frame import charts
from memoryhub.console.frame.access import tenant_page, tenant_view
from memoryhub.console.frame.forgetting_curves import build_curve
from memoryhub.console.frame.lists import read_filters
from memoryhub.console.frame.requests import ConsoleRequest
from memoryhub.console.pages.corrections import actions, views
from memoryhub.console.pages.memories import neighbourhood, note_queries, queries
from memoryhub.console.pages.recalls import queries as recalls_queries
from memoryhub.console.pages.spaces.queries import get_space_or_404
from memoryhub.console.pages.spaces.views import render_tab
from memoryhub.policies.services import load_effective_policy
from memoryhub.tenants.scope import tenant_scope
from notes.models import Fact, Note
from notes.quality.feedback import filter_feedback_on
from notes.retention.decay import compute_retention_state

# Of what was said of a fact, the latest.
MAX_SHOWN_FEEDBACK = 10


@tenant_view()
def fact_page(request: ConsoleRequest, space_id: UUID, fact_id: UUID) -> HttpResponse:
    """Sent, it is put right: see `correcting`."""
    with tenant_scope(request.tenant.id):
        if request.method != "POST":
            return _render_fact(request, space_id, fact_id)
        queries.get_fact_or_404(get_space_or_404(space_id, timezone.now()), fact_id)
    return views.correct_memory(request, space_id, "fact", fact_id)


def _render_fact(request: ConsoleRequest, space_id: UUID, fact_id: UUID) -> HttpResponse:
    now = timezone.now()
    space = get_space_or_404(space_id, now)
    if _wants_form_only(request):
        return _render_correction_form(
            request, space, "fact", queries.get_fact_or_404(space, fact_id)
        )
    life = queries.load_biography(space, fact_id)
    row = life.row
    turns = [quote.turn for quote in row.sources]
    return render_tab(
        request,
        space,
        "fact",
        life=life,
        row=row,
        lineage=charts.build_lineage_chart(life.versions, now),
        around=neighbourhood.load_fact_surroundings(space, row.fact, turns, now),
        words=filter_feedback_on(row.fact)[:MAX_SHOWN_FEEDBACK],
        **_build_memory_context(request, space, "fact", row.fact),
    )


def _wants_form_only(request: ConsoleRequest) -> bool:
    """A browser that fetches a page again from its own history wants all of it."""
    return bool(request.htmx) and not request.htmx.history_restore_request


def _render_correction_form(
    request: ConsoleRequest, space: Any, kind: str, row: Fact | Note
) -> HttpResponse:
    found = views.build_correction_form(request, space, kind, row, timezone.now())
    return render(
        request, "corrections/_form.html", {"space": space, "memory": row, "kind": kind} | found
    )


def _build_memory_context(
    request: ConsoleRequest, space: Any, kind: str, row: Fact | Note
) -> dict[str, Any]:
    """What the pages of facts and of notes both tell."""
    now, forget = timezone.now(), load_effective_policy(space).policy.forget
    said = row.asserted_at if isinstance(row, Fact) else row.occurred_at
    today = now.astimezone(ZoneInfo("UTC")).date()
    return {
        "memory": row,
        "kind": kind,
        "actions": actions.list_offered_actions(kind, row),
        "standing": compute_retention_state(row, said, forget, now),
        "curve": build_curve(row, said, forget, now),
        "recalled": recalls_queries.load_recalls_showing(space, row.id),
        "recall_days": charts.build_daily_bars(
            neighbourhood.count_recalls_by_day(space, row.id, today)
        ),
        **views.build_correction_form(request, space, kind, row, now),
    }


@tenant_view()
def note_page(request: ConsoleRequest, space_id: UUID, note_id: UUID) -> HttpResponse:
    """Sent, it is put right: see `correcting`."""
    with tenant_scope(request.tenant.id):
        if request.method != "POST":
            return _render_note(request, space_id, note_id)
        note_queries.get_note_or_404(get_space_or_404(space_id, timezone.now()), note_id)
    return views.correct_memory(request, space_id, "note", note_id)


def _render_note(request: ConsoleRequest, space_id: UUID, note_id: UUID) -> HttpResponse:
    now = timezone.now()
    space = get_space_or_404(space_id, now)
    found = note_queries.get_note_or_404(space, note_id)
    if _wants_form_only(request):
        return _render_correction_form(request, space, "note", found)
    sources = queries.load_sources("note", [found.id])[found.id]
    return render_tab(
        request,
        space,
        "note",
        note=found,
        sources=sources,
        neighbours=note_queries.load_linked_notes(found),
        changes=note_queries.load_note_changes(found),
        around=neighbourhood.load_note_surroundings(
            space, found, [quote.turn for quote in sources], now
        ),
        **_build_memory_context(request, space, "note", found),
    )


@tenant_page()
def segment_page(request: ConsoleRequest, space_id: UUID, segment_id: UUID) -> HttpResponse:
    now = timezone.now()
    space = get_space_or_404(space_id, now)
    weights = load_effective_policy(space).policy.heat
    found = queries.get_segment_or_404(space, segment_id, weights, now)
    return render_tab(
        request,
        space,
        "segment",
        segment=found,
        parts=charts.build_heat_parts(found, found.heat, weights),
        tau=weights.tau,
        page=queries.load_segment_pages(found, read_filters(request.GET).page),
        changes=queries.load_changes("segment", [found.id]),
    )
