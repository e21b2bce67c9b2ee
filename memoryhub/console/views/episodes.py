"""The summaries of spans, and one of them with its whole life."""

from __future__ import annotations

from uuid import UUID

from django.http import HttpResponse
from django.utils import timezone
from django.utils.translation import pgettext

from memoryhub.console.access import tenant_page
from memoryhub.console.listing import read_filters
from memoryhub.console.queries import episodes as queries
from memoryhub.console.queries import memories
from memoryhub.console.queries.spaces import space_or_404
from memoryhub.console.requests import ConsoleRequest
from memoryhub.console.views.spaces import space_at, tab
from memoryhub.policies.services import policy_of
from notes.retention import standing


@tenant_page()
def episodes(request: ConsoleRequest, space_id: UUID) -> HttpResponse:
    space, moment = space_at(request, space_id)
    filters = read_filters(
        request.GET, queries.episode_choices(space), dated=pgettext("on days", "Until")
    )
    page = queries.episodes(space, filters, moment)
    return tab(request, space, "episodes", filters=filters, page=page, moment=moment)


@tenant_page()
def episode(request: ConsoleRequest, space_id: UUID, episode_id: UUID) -> HttpResponse:
    now = timezone.now()
    space = space_or_404(space_id, now)
    found = queries.episode_or_404(space, episode_id)
    return tab(
        request,
        space,
        "episode",
        episode=found,
        page=queries.sources(found, read_filters(request.GET).page),
        parts=queries.parts(found)[:50],
        changes=memories.changes_of("episode", [found.id]),
        standing=standing(found, found.to_at, policy_of(space).policy.forget, now),
    )
