"""What was said in a space, and a turn in its place."""

from __future__ import annotations

from uuid import UUID

from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse
from django.utils.translation import pgettext

from memoryhub.console.frame.access import page_at, tenant_page
from memoryhub.console.frame.lists import read_filters
from memoryhub.console.frame.requests import ConsoleRequest
from memoryhub.console.frame.space.tabs import get_space_at_moment, render_tab
from memoryhub.console.pages.timeline import queries
from memoryhub.dialogues.models import Turn


@page_at("spaces/<uuid:space_id>/", "space-timeline")
@tenant_page()
def timeline_page(request: ConsoleRequest, space_id: UUID) -> HttpResponse:
    space, moment = get_space_at_moment(request, space_id)
    filters = read_filters(
        request.GET, queries.load_turn_choices(space), dated=pgettext("on days", "Said")
    )
    page = queries.load_timeline(space, filters, moment)
    return render_tab(
        request,
        space,
        "timeline",
        "timeline/timeline.html",
        filters=filters,
        page=page,
        moment=moment,
    )


@page_at("spaces/<uuid:space_id>/turns/<uuid:turn_id>/", "space-turn")
@tenant_page()
def redirect_to_turn(request: ConsoleRequest, space_id: UUID, turn_id: UUID) -> HttpResponse:
    """To the turn in its conversation."""
    turn = get_object_or_404(Turn.objects.filter(space=space_id, id=turn_id))
    address = reverse("space-timeline", args=[space_id])
    return redirect(f"{address}?page={queries.find_turn_page(turn)}#turn-{turn.id}")
