"""The summaries of spans, and one of them with its whole life."""

from __future__ import annotations

from uuid import UUID

from django.http import HttpResponse
from django.utils import timezone
from django.utils.translation import pgettext

from memoryhub.console.frame.access import page_at, tenant_page
from memoryhub.console.frame.lists import read_filters
from memoryhub.console.frame.requests import ConsoleRequest
from memoryhub.console.frame.space.tabs import get_space_at_moment, get_space_or_404, render_tab
from memoryhub.console.pages.episodes import queries
from memoryhub.console.pages.history.row_changes import load_changes
from memoryhub.policies.services import load_effective_policy
from notes.retention.decay import compute_retention_state


@page_at("spaces/<uuid:space_id>/episodes/", "space-episodes")
@tenant_page()
def episode_list_page(request: ConsoleRequest, space_id: UUID) -> HttpResponse:
    space, moment = get_space_at_moment(request, space_id)
    filters = read_filters(
        request.GET, queries.load_episode_choices(space), dated=pgettext("on days", "Until")
    )
    page = queries.load_episodes(space, filters, moment)
    return render_tab(
        request, space, "episodes", "episodes/list.html", filters=filters, page=page, moment=moment
    )


@page_at("spaces/<uuid:space_id>/episodes/<uuid:episode_id>/", "space-episode")
@tenant_page()
def episode_page(request: ConsoleRequest, space_id: UUID, episode_id: UUID) -> HttpResponse:
    now = timezone.now()
    space = get_space_or_404(space_id, now)
    found = queries.get_episode_or_404(space, episode_id)
    return render_tab(
        request,
        space,
        "episode",
        "episodes/episode.html",
        episode=found,
        page=queries.load_episode_turns(found, read_filters(request.GET).page),
        parts=queries.list_episode_parts(found)[:50],
        changes=load_changes("episode", [found.id]),
        standing=compute_retention_state(
            found, found.to_at, load_effective_policy(space).policy.forget, now
        ),
    )
