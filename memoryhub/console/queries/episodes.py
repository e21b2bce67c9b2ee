"""Episodes of a space, and what they were written from."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from uuid import UUID

from django.db.models import Count, Q, QuerySet
from django.http import Http404
from django.utils.translation import gettext_lazy as _

from memoryhub.console.listing import Choice, Filters, Page, containing, page_of, values_in
from memoryhub.console.moments import Moment
from memoryhub.dialogues.models import Turn
from memoryhub.tenants.models import Space
from notes.models import Derivation, Episode

KIND = Choice("kind", _("Kind"), (("", _("All")), *Episode.Kind.choices))
STATE = Choice(
    "state",
    _("Show"),
    (
        ("held", _("Held")),
        ("stale", _("Being rewritten")),
        ("dormant", _("Faded")),
        ("retired", _("Not held any more")),
    ),
)
_STATES = {
    "held": Q(retired_at=None),
    "stale": Q(retired_at=None, stale=True),
    "dormant": Q(retired_at=None, visibility="dormant"),
    "retired": Q(retired_at__isnull=False),
}
SOURCES_A_PAGE = 10


def episode_choices(space: Space) -> tuple[Choice, ...]:
    """One statement."""
    rows = Episode.objects.filter(space=space)
    return KIND, STATE, values_in(rows, "engine", "engine", _("Engine"), _("Any"))


def episodes(space: Space, filters: Filters, moment: Moment) -> Page[tuple[Episode, int]]:
    """Newest first, each with the number of turns it was written from."""
    rows = moment.rows(space, Episode).filter(
        _STATES[filters["state"]],
        containing(filters.q, "title", "text"),
        filters.on_days("to_at", space.timezone),
        **filters.chosen("kind", "engine"),
    )
    found = page_of(rows.order_by("-to_at", "-id"), filters.page).map(moment.row)
    turns = _turns_of(found.rows)
    return found.map(lambda episode: (episode, turns[episode.id]))


def _turns_of(found: Iterable[Episode]) -> Counter[UUID]:
    links = Derivation.objects.filter(child_type="episode", child_id__in=[e.id for e in found])
    counted = links.order_by().values_list("child_id").annotate(n=Count("turn", distinct=True))
    return Counter(dict(counted))


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
