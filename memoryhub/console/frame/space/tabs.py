"""The frame of a space: its tabs, the moment that they show, and the space with its counts."""

from __future__ import annotations

from datetime import datetime
from typing import Any
from uuid import UUID

from django.http import HttpResponse
from django.shortcuts import get_object_or_404, render
from django.utils import timezone

from memoryhub.console.frame.requests import ConsoleRequest
from memoryhub.console.frame.space.moments import SpaceMoment, read_moment
from memoryhub.console.frame.space.time_slider import load_slider_marks
from memoryhub.pipeline.counts import annotate_counts
from memoryhub.tenants.models import Space


def find_space_of_subject(subject: str) -> Space | None:
    found: Space | None = Space.objects.filter(subject=subject).first()
    return found


def get_plain_space_or_404(space_id: UUID) -> Space:
    """The space without its counts."""
    return get_object_or_404(Space.objects.filter(id=space_id))


def get_space_or_404(space_id: UUID, now: datetime) -> Any:
    """The space with its counts per kind."""
    return get_object_or_404(annotate_counts(Space.objects.filter(id=space_id), now))


# Tabs that can show the space as of an earlier moment.
REWINDABLE_TABS = frozenset(
    ("timeline", "facts", "notes", "segments", "episodes", "entities", "persona", "blocks")
) | {"history"}
# It has an option of its own for the moment.
_SEARCH_TAB = "search"


def render_tab(
    request: ConsoleRequest, space: Any, name: str, template: str, **context: Any
) -> HttpResponse:
    """A tab of a space, in its frame; `name` is the tab that the frame marks as open."""
    frame = build_tab_frame(request, space, name, context.get("moment"))
    return render(request, template, frame | context)


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
    space = get_space_or_404(space_id, now)
    return space, read_moment(request.GET, space, now)
