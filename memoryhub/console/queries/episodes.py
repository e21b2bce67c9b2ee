"""Episodes of a space, and what they were written from."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.db.models import Q, QuerySet
from django.http import Http404

from memoryhub.console.listing import Choice, Filters, Page, containing, page_of
from memoryhub.dialogues.models import Turn
from memoryhub.pipeline.counting import count_of
from memoryhub.tenants.models import Space
from notes.models import Derivation, Episode

KIND = Choice("kind", "Kind", (("all", "All"), *Episode.Kind.choices))
STATE = Choice(
    "state",
    "Show",
    (
        ("held", "Held"),
        ("stale", "Being rewritten"),
        ("dormant", "Faded"),
        ("retired", "Not held any more"),
    ),
)
_STATES = {
    "held": Q(retired_at=None),
    "stale": Q(retired_at=None, stale=True),
    "dormant": Q(retired_at=None, visibility="dormant"),
    "retired": Q(retired_at__isnull=False),
}
SOURCES_A_PAGE = 10


def episodes(space: Space, filters: Filters) -> Page[Any]:
    """Newest first, each with the number of its `turns`."""
    rows = Episode.objects.filter(_STATES[filters["state"]], space=space)
    rows = rows.filter(containing(filters.q, "title", "text"))
    if filters["kind"] != "all":
        rows = rows.filter(kind=filters["kind"])
    sources = Derivation.objects.filter(child_type="episode")
    counted = rows.annotate(turns=count_of(sources, "child_id"))
    return page_of(counted.order_by("-to_at", "-id"), filters.page)


def episode_or_404(space: Space, episode_id: UUID) -> Episode:
    rows = Episode.objects.select_related("session")
    found: Episode | None = rows.filter(space=space, id=episode_id).first()
    if found is None:
        raise Http404
    return found


def sources(episode: Episode, number: int) -> Page[Turn]:
    """The turns it was written from, in order."""
    turns = Turn.objects.filter(id__in=_links(episode).values("turn"))
    return page_of(turns.order_by("seq"), number, SOURCES_A_PAGE)


def parts(episode: Episode) -> QuerySet[Episode]:
    """The days' digests it was written from, if it is one of digests."""
    via = _links(episode).filter(via_type="episode").values("via_id")
    rows: QuerySet[Episode] = Episode.objects.filter(id__in=via)
    return rows.order_by("-day")


def _links(episode: Episode) -> QuerySet[Derivation]:
    links: QuerySet[Derivation] = Derivation.objects.filter(
        child_type="episode", child_id=episode.id
    )
    return links
