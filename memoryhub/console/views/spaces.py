"""The list of spaces, and the tabs of one."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext, pgettext

from memoryhub.console import charts
from memoryhub.console.access import tenant_page
from memoryhub.console.listing import read_filters
from memoryhub.console.moments import Moment, moment_of
from memoryhub.console.queries import memories, stream
from memoryhub.console.queries import notes as note_rows
from memoryhub.console.queries import spaces as queries
from memoryhub.console.queries import timeline as turns
from memoryhub.console.queries.moments import marks
from memoryhub.console.requests import ConsoleRequest
from memoryhub.dialogues.models import Turn
from memoryhub.policies.services import policy_of
from notes.models import Entity

# Tabs that can show the space as of an earlier moment.
REWINDABLE = frozenset(
    ("timeline", "facts", "notes", "segments", "episodes", "entities", "persona", "blocks")
) | {"history"}
# It has an option of its own for the moment.
_OWN_TIME = "search"


@tenant_page()
def spaces(request: ConsoleRequest) -> HttpResponse:
    choices = (queries.SORT, queries.ACTIVE, queries.WORK)
    filters = read_filters(request.GET, choices)
    page = queries.spaces(filters, timezone.now())
    return render(request, "spaces.html", {"filters": filters, "page": page})


def tab(request: ConsoleRequest, space: Any, name: str, **context: Any) -> HttpResponse:
    """A tab of a space, in its frame."""
    frame = framed(request, space, name, context.get("moment"))
    return render(request, f"space/{name}.html", frame | context)


def framed(
    request: ConsoleRequest, space: Any, name: str, moment: Moment | None = None
) -> dict[str, Any]:
    """What the frame of a tab is told. `now` is for templates: the moment that is shown."""
    now = timezone.now()
    moment = moment or moment_of(request.GET, space, now)
    rewinds = name in REWINDABLE
    return {
        "space": space,
        "tab": name,
        "moment": moment,
        "past": moment.is_past and rewinds,
        "stays": moment.is_past and not rewinds and name != _OWN_TIME,
        "marks": marks(space, moment, now) if rewinds else None,
        "now": moment.at if rewinds else now,
    }


def space_at(request: ConsoleRequest, space_id: UUID) -> tuple[Any, Moment]:
    """The space and the moment it is asked for. Raises Http404."""
    now = timezone.now()
    space = queries.space_or_404(space_id, now)
    return space, moment_of(request.GET, space, now)


@tenant_page()
def timeline(request: ConsoleRequest, space_id: UUID) -> HttpResponse:
    space, moment = space_at(request, space_id)
    filters = read_filters(request.GET, turns.choices(space), dated=pgettext("on days", "Said"))
    page = turns.timeline(space, filters, moment)
    return tab(request, space, "timeline", filters=filters, page=page, moment=moment)


@tenant_page()
def turn(request: ConsoleRequest, space_id: UUID, turn_id: UUID) -> HttpResponse:
    """To the turn in its conversation."""
    found = Turn.objects.filter(space=space_id, id=turn_id).first()
    if found is None:
        raise Http404
    address = reverse("space-timeline", args=[space_id])
    return redirect(f"{address}?page={turns.page_holding(found)}#turn-{found.id}")


@tenant_page()
def facts(request: ConsoleRequest, space_id: UUID) -> HttpResponse:
    space, moment = space_at(request, space_id)
    filters = read_filters(
        request.GET, memories.fact_choices(space), dated=pgettext("on days", "Said")
    )
    page = memories.facts(space, filters, moment)
    return tab(request, space, "facts", filters=filters, page=page, moment=moment)


@tenant_page()
def notes(request: ConsoleRequest, space_id: UUID) -> HttpResponse:
    space, moment = space_at(request, space_id)
    filters = read_filters(
        request.GET, note_rows.note_choices(space), dated=pgettext("on days", "Said")
    )
    page = note_rows.notes(space, filters, moment)
    return tab(request, space, "notes", filters=filters, page=page, moment=moment)


@tenant_page()
def segments(request: ConsoleRequest, space_id: UUID) -> HttpResponse:
    space, moment = space_at(request, space_id)
    filters = read_filters(
        request.GET, (memories.HEAT_SORT, memories.TIER), dated=gettext("Last spoken of")
    )
    weights = policy_of(space).policy.heat
    page = memories.segments(space, filters, weights, moment)
    if not moment.is_past:
        hottest = max((segment.heat for segment in page), default=0.0)
        page = page.map(lambda segment: (segment, charts.heat_parts(segment, hottest, weights)))
    else:
        page = page.map(lambda segment: (segment, None))
    return tab(
        request, space, "segments", filters=filters, page=page, tau=weights.tau, moment=moment
    )


@tenant_page()
def entities(request: ConsoleRequest, space_id: UUID) -> HttpResponse:
    space, moment = space_at(request, space_id)
    filters = read_filters(request.GET, (memories.type_choice(space),))
    page = memories.entities(space, filters, moment) if moment.is_dated(Entity) else None
    return tab(request, space, "entities", filters=filters, page=page, moment=moment)


@tenant_page()
def history(request: ConsoleRequest, space_id: UUID) -> HttpResponse:
    space, moment = space_at(request, space_id)
    filters = read_filters(request.GET, stream.choices(space), dated=pgettext("on days", "Changed"))
    page = stream.history(space, filters, moment)
    return tab(request, space, "history", filters=filters, page=page, moment=moment)
