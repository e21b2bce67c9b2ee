"""The list of spaces, and the tabs of one."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone

from memoryhub.console import charts
from memoryhub.console.access import tenant_page
from memoryhub.console.listing import read_filters
from memoryhub.console.queries import memories
from memoryhub.console.queries import notes as note_rows
from memoryhub.console.queries import spaces as queries
from memoryhub.console.requests import ConsoleRequest
from memoryhub.dialogues.models import Turn
from memoryhub.policies.services import policy_of


@tenant_page()
def spaces(request: ConsoleRequest) -> HttpResponse:
    filters = read_filters(request.GET, (queries.SORT, queries.WORK))
    page = queries.spaces(filters, timezone.now())
    return render(request, "spaces.html", {"filters": filters, "page": page})


def tab(request: ConsoleRequest, space: Any, name: str, **context: Any) -> HttpResponse:
    """A tab of a space, in its frame."""
    frame = {"space": space, "tab": name, "now": timezone.now()}
    return render(request, f"space/{name}.html", frame | context)


@tenant_page()
def timeline(request: ConsoleRequest, space_id: UUID) -> HttpResponse:
    space = queries.space_or_404(space_id, timezone.now())
    filters = read_filters(request.GET, (queries.ROLE,))
    page = queries.timeline(space, filters)
    return tab(request, space, "timeline", filters=filters, page=page)


@tenant_page()
def turn(request: ConsoleRequest, space_id: UUID, turn_id: UUID) -> HttpResponse:
    """To the turn in its conversation."""
    found = Turn.objects.filter(space=space_id, id=turn_id).first()
    if found is None:
        raise Http404
    address = reverse("space-timeline", args=[space_id])
    return redirect(f"{address}?page={queries.page_holding(found)}#turn-{found.id}")


@tenant_page()
def facts(request: ConsoleRequest, space_id: UUID) -> HttpResponse:
    now = timezone.now()
    space = queries.space_or_404(space_id, now)
    filters = read_filters(request.GET, (memories.STATUS, memories.owner_choice(space)))
    page = memories.facts(space, filters, now)
    return tab(request, space, "facts", filters=filters, page=page)


@tenant_page()
def notes(request: ConsoleRequest, space_id: UUID) -> HttpResponse:
    space = queries.space_or_404(space_id, timezone.now())
    filters = read_filters(request.GET, (note_rows.SHOW, note_rows.tag_choice(space)))
    return tab(request, space, "notes", filters=filters, page=note_rows.notes(space, filters))


@tenant_page()
def segments(request: ConsoleRequest, space_id: UUID) -> HttpResponse:
    now = timezone.now()
    space = queries.space_or_404(space_id, now)
    filters = read_filters(request.GET, (memories.HEAT_SORT, memories.TIER))
    weights = policy_of(space).policy.heat
    page = memories.segments(space, filters, weights, now)
    hottest = max((segment.heat for segment in page), default=0.0)
    hot = page.map(lambda segment: (segment, charts.heat_parts(segment, hottest)))
    return tab(request, space, "segments", filters=filters, page=hot, tau=weights.tau)


@tenant_page()
def entities(request: ConsoleRequest, space_id: UUID) -> HttpResponse:
    space = queries.space_or_404(space_id, timezone.now())
    filters = read_filters(request.GET)
    page = memories.entities(space, filters)
    return tab(request, space, "entities", filters=filters, page=page)


@tenant_page()
def history(request: ConsoleRequest, space_id: UUID) -> HttpResponse:
    space = queries.space_or_404(space_id, timezone.now())
    filters = read_filters(request.GET, (memories.KIND,))
    return tab(request, space, "history", filters=filters, page=memories.history(space, filters))
