"""The segments of a space, and one with its exchanges."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.http import HttpResponse
from django.shortcuts import get_object_or_404
from django.utils import timezone
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from memoryhub.console.frame import charts
from memoryhub.console.frame.access import page_at, tenant_page
from memoryhub.console.frame.lists import (
    FilterChoice,
    Filters,
    ListPage,
    build_text_condition,
    load_page,
    read_filters,
)
from memoryhub.console.frame.requests import ConsoleRequest
from memoryhub.console.frame.space.moments import SpaceMoment
from memoryhub.console.frame.space.tabs import get_space_at_moment, get_space_or_404, render_tab
from memoryhub.console.pages.history.row_changes import load_changes
from memoryhub.dialogues.models import Turn
from memoryhub.policies.schema import HeatPolicy
from memoryhub.policies.services import load_effective_policy
from memoryhub.tenants.models import Space
from notes.models import Page as DialoguePage
from notes.models import Segment
from notes.topics.heat import annotate_heat
from notes.topics.pages import load_page_turns

_SEGMENT_ORDERS = {"hot": "-heat", "ready": "-promotion", "recent": "-ended_at"}
SEGMENT_SORT_CHOICE = FilterChoice(
    "sort",
    _("Sort by"),
    (("hot", _("Heat")), ("ready", _("Promotion heat")), ("recent", _("Last conversation"))),
)
SEGMENT_TIER_CHOICE = FilterChoice(
    "tier", _("Tier"), (("", _("All")), ("mid", _("Active")), ("cold", _("Inactive")))
)
PAGES_A_SEGMENT = 10


def load_segments(
    space: Space, filters: Filters, weights: HeatPolicy, moment: SpaceMoment
) -> ListPage[Any]:
    """With their heat, unless they are of an earlier moment: visits are not in the history."""
    rows = moment.rows(space, Segment).filter(
        build_text_condition(filters.q, "summary", "keywords"),
        filters.build_days_condition("ended_at", space.timezone),
        retired_at=None,
        **filters.chosen_values("tier"),
    )
    if moment.is_past:
        return load_page(rows.order_by("-ended_at", "-id"), filters.page).map(moment.row)
    hot = annotate_heat(rows, weights, moment.at)
    return load_page(hot.order_by(_SEGMENT_ORDERS[filters["sort"]], "-id"), filters.page)


@dataclass(frozen=True, slots=True)
class ExchangeRow:
    """An exchange of a segment with its turns. `opens_chain`: the one above is of another."""

    page: DialoguePage
    turns: list[Turn]
    opens_chain: bool


def load_segment_pages(segment: Segment, number: int) -> ListPage[ExchangeRow]:
    """The exchanges of a segment, newest first, with their turns. Three statements."""
    rows = DialoguePage.objects.filter(memberships__segment=segment).select_related("chain")
    found = load_page(rows.order_by("-first_seq"), number, PAGES_A_SEGMENT)
    turns = load_page_turns(found.rows)
    above = [None, *(page.chain_id for page in found.rows)]
    return found.with_rows(
        [
            ExchangeRow(page, turns[page.id], page.chain_id is not None and page.chain_id != last)
            for page, last in zip(found.rows, above, strict=False)
        ]
    )


@page_at("spaces/<uuid:space_id>/segments/<uuid:segment_id>/", "space-segment")
@tenant_page()
def segment_page(request: ConsoleRequest, space_id: UUID, segment_id: UUID) -> HttpResponse:
    now = timezone.now()
    space = get_space_or_404(space_id, now)
    weights = load_effective_policy(space).policy.heat
    rows = Segment.objects.filter(space=space, id=segment_id)
    found: Any = get_object_or_404(annotate_heat(rows, weights, now))
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
        request.GET, (SEGMENT_SORT_CHOICE, SEGMENT_TIER_CHOICE), dated=gettext("Last mentioned")
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
