"""The summaries of spans, and one of them with its whole life."""

from __future__ import annotations

from uuid import UUID

from django.db.models import Count, Q
from django.http import HttpResponse
from django.shortcuts import get_object_or_404
from django.utils import timezone
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext

from memoryhub.console.frame.access import page_at, tenant_page
from memoryhub.console.frame.lists import (
    FilterChoice,
    Filters,
    ListPage,
    build_text_condition,
    load_page,
    load_value_choice,
    read_filters,
)
from memoryhub.console.frame.requests import ConsoleRequest
from memoryhub.console.frame.space.moments import SpaceMoment
from memoryhub.console.frame.space.tabs import get_space_at_moment, get_space_or_404, render_tab
from memoryhub.console.pages.history.row_changes import load_changes
from memoryhub.dialogues.models import Turn
from memoryhub.policies.services import load_effective_policy
from memoryhub.tenants.models import Space
from notes.models import Derivation, Episode
from notes.retention.decay import compute_retention_state

EPISODE_KIND_CHOICE = FilterChoice("kind", _("Kind"), (("", _("All")), *Episode.Kind.choices))
EPISODE_STATE_CHOICE = FilterChoice(
    "state",
    _("Show"),
    (
        ("held", _("Current")),
        ("stale", _("Being rewritten")),
        ("dormant", _("Faded")),
        ("retired", _("No longer kept")),
    ),
)
_EPISODE_STATE_CONDITIONS = {
    "held": Q(retired_at=None),
    "stale": Q(retired_at=None, stale=True),
    "dormant": Q(retired_at=None, visibility="dormant"),
    "retired": Q(retired_at__isnull=False),
}
EPISODE_TURNS_A_PAGE = 10


def load_episode_choices(space: Space) -> tuple[FilterChoice, ...]:
    """One statement."""
    rows = Episode.objects.filter(space=space)
    return (
        EPISODE_KIND_CHOICE,
        EPISODE_STATE_CHOICE,
        load_value_choice(rows, "engine", _("Engine"), _("Any")),
    )


def load_episodes(
    space: Space, filters: Filters, moment: SpaceMoment
) -> ListPage[tuple[Episode, int]]:
    """Newest first, each with the number of turns it was written from."""
    rows = moment.rows(space, Episode).filter(
        _EPISODE_STATE_CONDITIONS[filters["state"]],
        build_text_condition(filters.q, "title", "text"),
        filters.build_days_condition("to_at", space.timezone),
        **filters.chosen_values("kind", "engine"),
    )
    found = load_page(rows.order_by("-to_at", "-id"), filters.page).map(moment.row)
    links = Derivation.objects.filter(child_type="episode", child_id__in=[e.id for e in found])
    counted = links.order_by().values_list("child_id").annotate(n=Count("turn", distinct=True))
    turns = dict(counted)
    return found.map(lambda episode: (episode, turns.get(episode.id, 0)))


@page_at("spaces/<uuid:space_id>/episodes/", "space-episodes")
@tenant_page()
def episode_list_page(request: ConsoleRequest, space_id: UUID) -> HttpResponse:
    space, moment = get_space_at_moment(request, space_id)
    filters = read_filters(
        request.GET, load_episode_choices(space), dated=pgettext("on days", "Until")
    )
    page = load_episodes(space, filters, moment)
    return render_tab(
        request, space, "episodes", "episodes/list.html", filters=filters, page=page, moment=moment
    )


@page_at("spaces/<uuid:space_id>/episodes/<uuid:episode_id>/", "space-episode")
@tenant_page()
def episode_page(request: ConsoleRequest, space_id: UUID, episode_id: UUID) -> HttpResponse:
    now = timezone.now()
    space = get_space_or_404(space_id, now)
    rows = Episode.objects.select_related("session")
    found = get_object_or_404(rows.filter(space=space, id=episode_id))
    links = Derivation.objects.filter(child_type="episode", child_id=found.id)
    turns = Turn.objects.filter(id__in=links.values("turn")).order_by("seq")
    # Of a digest of digests, those of the days that it was written from.
    days = Episode.objects.filter(id__in=links.filter(via_type="episode").values("via_id"))
    return render_tab(
        request,
        space,
        "episode",
        "episodes/episode.html",
        episode=found,
        points=[each for each in found.details.get("points", ()) if each not in found.text],
        page=load_page(turns, read_filters(request.GET).page, EPISODE_TURNS_A_PAGE),
        parts=days.order_by("-day")[:50],
        changes=load_changes("episode", [found.id]),
        standing=compute_retention_state(
            found, found.to_at, load_effective_policy(space).policy.forget, now
        ),
    )
