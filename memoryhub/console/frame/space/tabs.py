"""The frame of a space: its tabs, the moment that they show, and the space with its counts."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any
from uuid import UUID

from django.http import HttpResponse
from django.shortcuts import get_object_or_404, render
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from memoryhub.console.frame.requests import ConsoleRequest
from memoryhub.console.frame.space.moments import SpaceMoment, read_moment
from memoryhub.console.frame.space.time_slider import load_slider_marks
from memoryhub.pipeline.counts import annotate_counts
from memoryhub.tenants.models import Space

if TYPE_CHECKING:
    from django_stubs_ext import StrOrPromise


@dataclass(frozen=True, slots=True)
class SpaceView:
    """A page that a tab leads to. `inner`: the pages below it; `counted`: the attribute of a space
    that says how many it lists, "" for none."""

    name: str
    label: StrOrPromise
    url_name: str
    inner: tuple[str, ...] = ()
    counted: str = ""

    def holds(self, page: str) -> bool:
        return page == self.name or page in self.inner


@dataclass(frozen=True, slots=True)
class SpaceTab:
    """`views` stand below the tabs where there is more than one; the tab leads to the first."""

    label: StrOrPromise
    views: tuple[SpaceView, ...]

    def find_view(self, page: str) -> SpaceView | None:
        return next((view for view in self.views if view.holds(page)), None)


SPACE_TABS = (
    SpaceTab(_("Overview"), (SpaceView("overview", _("Overview"), "space-overview"),)),
    SpaceTab(_("Timeline"), (SpaceView("timeline", _("Timeline"), "space-timeline"),)),
    SpaceTab(
        _("Memories"),
        (
            SpaceView("facts", _("Facts"), "space-facts", ("fact", "reason"), "facts"),
            SpaceView("notes", _("Notes"), "space-notes", ("note",), "notes"),
            SpaceView("segments", _("Topics"), "space-segments", ("segment",), "segments"),
            SpaceView("episodes", _("Episodes"), "space-episodes", ("episode",), "episodes"),
            SpaceView("entities", _("Entities"), "space-entities", (), "entities"),
            SpaceView("heat", _("Heat"), "space-heat"),
        ),
    ),
    SpaceTab(_("Graph"), (SpaceView("graph", _("Graph"), "space-graph", ("map",)),)),
    SpaceTab(
        _("Persona"),
        (
            SpaceView("persona", _("Traits and profile"), "space-persona", ("person",)),
            SpaceView("blocks", _("Core blocks"), "space-blocks", ("block",)),
        ),
    ),
    SpaceTab(
        _("History"),
        (
            SpaceView("history", _("Changes"), "space-history", ("event", "roll_back", "erase")),
            SpaceView("figures", _("Over time"), "space-figures"),
            SpaceView("review", _("Inbox"), "space-review"),
        ),
    ),
    SpaceTab(
        _("Settings"),
        (
            SpaceView("policy", _("How memory works"), "space-policy"),
            SpaceView("quality", _("Quality"), "space-quality"),
            SpaceView("golden", _("Test questions"), "space-golden", ("golden_question",)),
        ),
    ),
)


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
        **_build_tabs(space, name),
        "moment": moment,
        "past": moment.is_past and rewinds,
        "stays": moment.is_past and not rewinds and name != _SEARCH_TAB,
        "marks": load_slider_marks(space, moment, now) if rewinds else None,
        "now": moment.at if rewinds else now,
    }


def _build_tabs(space: Any, name: str) -> dict[str, Any]:
    """`tabs`: each with the view of it that is open, None where it is not the open tab.
    `tab_views`: of the open tab, each with how many it lists and whether it is open; none for a
    single one."""
    tabs = [(tab, tab.find_view(name)) for tab in SPACE_TABS]
    views = [
        (view, getattr(space, view.counted, None) if view.counted else None, view is shown)
        for tab, shown in tabs
        if shown and len(tab.views) > 1
        for view in tab.views
    ]
    return {"tabs": tabs, "tab_views": views}


def get_space_at_moment(request: ConsoleRequest, space_id: UUID) -> tuple[Any, SpaceMoment]:
    """The space and the moment it is asked for. Raises Http404."""
    now = timezone.now()
    space = get_space_or_404(space_id, now)
    return space, read_moment(request.GET, space, now)
