"""The segments of a space, and one with its exchanges."""

from __future__ import annotations

from uuid import UUID

from django.http import HttpResponse
from django.utils import timezone
from django.utils.translation import gettext

from memoryhub.console.frame import charts
from memoryhub.console.frame.access import page_at, tenant_page
from memoryhub.console.frame.lists import read_filters
from memoryhub.console.frame.requests import ConsoleRequest
from memoryhub.console.frame.space.tabs import get_space_at_moment, get_space_or_404, render_tab
from memoryhub.console.pages.history.row_changes import load_changes
from memoryhub.console.pages.segments.queries import (
    SEGMENT_SORT_CHOICE,
    SEGMENT_TIER_CHOICE,
    get_segment_or_404,
    load_segment_pages,
    load_segments,
)
from memoryhub.policies.services import load_effective_policy


@page_at("spaces/<uuid:space_id>/segments/<uuid:segment_id>/", "space-segment")
@tenant_page()
def segment_page(request: ConsoleRequest, space_id: UUID, segment_id: UUID) -> HttpResponse:
    now = timezone.now()
    space = get_space_or_404(space_id, now)
    weights = load_effective_policy(space).policy.heat
    found = get_segment_or_404(space, segment_id, weights, now)
    return render_tab(
        request,
        space,
        "segment",
        "segments/segment.html",
        segment=found,
        parts=charts.build_heat_parts(found, found.heat, weights),
        tau=weights.tau,
        page=load_segment_pages(found, read_filters(request.GET).page),
        changes=load_changes("segment", [found.id]),
    )


@page_at("spaces/<uuid:space_id>/segments/", "space-segments")
@tenant_page()
def segment_list_page(request: ConsoleRequest, space_id: UUID) -> HttpResponse:
    space, moment = get_space_at_moment(request, space_id)
    filters = read_filters(
        request.GET, (SEGMENT_SORT_CHOICE, SEGMENT_TIER_CHOICE), dated=gettext("Last spoken of")
    )
    weights = load_effective_policy(space).policy.heat
    page = load_segments(space, filters, weights, moment)
    if not moment.is_past:
        hottest = max((segment.heat for segment in page), default=0.0)
        page = page.map(
            lambda segment: (segment, charts.build_heat_parts(segment, hottest, weights))
        )
    else:
        page = page.map(lambda segment: (segment, None))
    return render_tab(
        request,
        space,
        "segments",
        "segments/list.html",
        filters=filters,
        page=page,
        tau=weights.tau,
        moment=moment,
    )
