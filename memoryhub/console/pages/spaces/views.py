"""The list of spaces, and the tabs of one."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext, pgettext

from memoryhub.console.frame import charts
from memoryhub.console.frame.access import tenant_page
from memoryhub.console.frame.lists import read_filters
from memoryhub.console.frame.requests import ConsoleRequest
from memoryhub.console.frame.space.moments import SpaceMoment, read_moment
from memoryhub.console.frame.space.time_slider import load_slider_marks
from memoryhub.console.pages.history import queries as history_queries
from memoryhub.console.pages.memories import note_queries as note_rows
from memoryhub.console.pages.memories import queries as memories_queries
from memoryhub.console.pages.spaces import queries
from memoryhub.console.pages.timeline import queries as turns
from memoryhub.dialogues.models import Turn
from memoryhub.policies.services import load_effective_policy
from notes.models import Entity

# Tabs that can show the space as of an earlier moment.
REWINDABLE_TABS = frozenset(
    ("timeline", "facts", "notes", "segments", "episodes", "entities", "persona", "blocks")
) | {"history"}
# It has an option of its own for the moment.
_SEARCH_TAB = "search"


@tenant_page()
def space_list_page(request: ConsoleRequest) -> HttpResponse:
    choices = (queries.SPACE_SORT_CHOICE, queries.SPACE_ACTIVE_CHOICE, queries.SPACE_WORK_CHOICE)
    filters = read_filters(request.GET, choices)
    page = queries.load_spaces(filters, timezone.now())
    return render(request, "spaces/list.html", {"filters": filters, "page": page})


def render_tab(request: ConsoleRequest, space: Any, name: str, **context: Any) -> HttpResponse:
    """A tab of a space, in its frame."""
    frame = build_tab_frame(request, space, name, context.get("moment"))
    return render(request, f"space/{name}.html", frame | context)


def build_tab_frame(
    request: ConsoleRequest, space: Any, name: str, moment: SpaceMoment | None = None
) -> dict[str, Any]:
    """What the frame of a tab is told. `now` is for templates: the moment that is shown."""
    now = timezone.now()
    moment = moment or read_moment(request.GET, space, now)
    rewinds = name in REWINDABLE_TABS
    return {
        "space": space,
        "tab": name,
        "moment": moment,
        "past": moment.is_past and rewinds,
        "stays": moment.is_past and not rewinds and name != _SEARCH_TAB,
        "marks": load_slider_marks(space, moment, now) if rewinds else None,
        "now": moment.at if rewinds else now,
    }


def get_space_at_moment(request: ConsoleRequest, space_id: UUID) -> tuple[Any, SpaceMoment]:
    """The space and the moment it is asked for. Raises Http404."""
    now = timezone.now()
    space = queries.get_space_or_404(space_id, now)
    return space, read_moment(request.GET, space, now)


@tenant_page()
def timeline_page(request: ConsoleRequest, space_id: UUID) -> HttpResponse:
    space, moment = get_space_at_moment(request, space_id)
    filters = read_filters(
        request.GET, turns.load_turn_choices(space), dated=pgettext("on days", "Said")
    )
    page = turns.load_timeline(space, filters, moment)
    return render_tab(request, space, "timeline", filters=filters, page=page, moment=moment)


@tenant_page()
def redirect_to_turn(request: ConsoleRequest, space_id: UUID, turn_id: UUID) -> HttpResponse:
    """To the turn in its conversation."""
    found = Turn.objects.filter(space=space_id, id=turn_id).first()
    if found is None:
        raise Http404
    address = reverse("space-timeline", args=[space_id])
    return redirect(f"{address}?page={turns.find_turn_page(found)}#turn-{found.id}")


@tenant_page()
def fact_list_page(request: ConsoleRequest, space_id: UUID) -> HttpResponse:
    space, moment = get_space_at_moment(request, space_id)
    filters = read_filters(
        request.GET, memories_queries.load_fact_choices(space), dated=pgettext("on days", "Said")
    )
    page = memories_queries.load_facts(space, filters, moment)
    return render_tab(request, space, "facts", filters=filters, page=page, moment=moment)


@tenant_page()
def note_list_page(request: ConsoleRequest, space_id: UUID) -> HttpResponse:
    space, moment = get_space_at_moment(request, space_id)
    filters = read_filters(
        request.GET, note_rows.load_note_choices(space), dated=pgettext("on days", "Said")
    )
    page = note_rows.load_notes(space, filters, moment)
    return render_tab(request, space, "notes", filters=filters, page=page, moment=moment)


@tenant_page()
def segment_list_page(request: ConsoleRequest, space_id: UUID) -> HttpResponse:
    space, moment = get_space_at_moment(request, space_id)
    filters = read_filters(
        request.GET,
        (memories_queries.SEGMENT_SORT_CHOICE, memories_queries.SEGMENT_TIER_CHOICE),
        dated=gettext("Last spoken of"),
    )
    weights = load_effective_policy(space).policy.heat
    page = memories_queries.load_segments(space, filters, weights, moment)
    if not moment.is_past:
        hottest = max((segment.heat for segment in page), default=0.0)
        page = page.map(
            lambda segment: (segment, charts.build_heat_parts(segment, hottest, weights))
        )
    else:
        page = page.map(lambda segment: (segment, None))
    return render_tab(
        request, space, "segments", filters=filters, page=page, tau=weights.tau, moment=moment
    )


@tenant_page()
def entity_list_page(request: ConsoleRequest, space_id: UUID) -> HttpResponse:
    space, moment = get_space_at_moment(request, space_id)
    filters = read_filters(request.GET, (memories_queries.load_entity_type_choice(space),))
    page = (
        memories_queries.load_entities(space, filters, moment) if moment.is_dated(Entity) else None
    )
    return render_tab(request, space, "entities", filters=filters, page=page, moment=moment)


@tenant_page()
def history_page(request: ConsoleRequest, space_id: UUID) -> HttpResponse:
    space, moment = get_space_at_moment(request, space_id)
    filters = read_filters(
        request.GET, history_queries.load_event_choices(space), dated=pgettext("on days", "Changed")
    )
    page = history_queries.load_stream(space, filters, moment)
    return render_tab(request, space, "history", filters=filters, page=page, moment=moment)
