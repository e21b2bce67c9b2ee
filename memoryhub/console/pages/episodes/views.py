"""The summaries of spans, and one of them with its whole life."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from uuid import UUID

from django.db.models import Count, Q, QuerySet
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
        ("held", _("Held")),
        ("stale", _("Being rewritten")),
        ("dormant", _("Faded")),
        ("retired", _("Not held any more")),
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
    turns = _count_episode_turns(found.rows)
    return found.map(lambda episode: (episode, turns[episode.id]))


def _count_episode_turns(found: Iterable[Episode]) -> Counter[UUID]:
    links = Derivation.objects.filter(child_type="episode", child_id__in=[e.id for e in found])
    counted = links.order_by().values_list("child_id").annotate(n=Count("turn", distinct=True))
    return Counter(dict(counted))


def get_episode_or_404(space: Space, episode_id: UUID) -> Episode:
    return get_object_or_404(
        Episode.objects.select_related("session").filter(space=space, id=episode_id)
    )


def load_episode_turns(episode: Episode, number: int) -> ListPage[Turn]:
    """The turns it was written from, in order."""
    turns = Turn.objects.filter(id__in=_list_episode_links(episode).values("turn"))
    return load_page(turns.order_by("seq"), number, EPISODE_TURNS_A_PAGE)


def list_episode_parts(episode: Episode) -> QuerySet[Episode]:
    """The days' digests it was written from, if it is one of digests."""
    via = _list_episode_links(episode).filter(via_type="episode").values("via_id")
    rows: QuerySet[Episode] = Episode.objects.filter(id__in=via)
    return rows.order_by("-day")


def _list_episode_links(episode: Episode) -> QuerySet[Derivation]:
    links: QuerySet[Derivation] = Derivation.objects.filter(
        child_type="episode", child_id=episode.id
    )
    return links


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
    found = get_episode_or_404(space, episode_id)
    return render_tab(
        request,
        space,
        "episode",
        "episodes/episode.html",
        episode=found,
        page=load_episode_turns(found, read_filters(request.GET).page),
        parts=list_episode_parts(found)[:50],
        changes=load_changes("episode", [found.id]),
        standing=compute_retention_state(
            found, found.to_at, load_effective_policy(space).policy.forget, now
        ),
    )
