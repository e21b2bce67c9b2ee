"""How warm the topics of a space are, which goes next, and what fades (spec §11.5, §11.6)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import Count, Exists, Max, OuterRef, Q, QuerySet
from django.utils.translation import gettext, ngettext
from django.utils.translation import gettext_lazy as _

from memoryhub.console.listing import Choice, Filters, Page, containing, page_of
from memoryhub.console.nouns import counted
from memoryhub.pipeline.counting import count_of
from memoryhub.policies.schema import Heat, Policy
from memoryhub.tenants.models import Space
from notes.heat import with_heat
from notes.models import EvolutionEvent, Segment, SegmentPage

BY = Choice(
    "by",
    _("Heat for"),
    (("promotion", _("Being read for the persona")), ("staying", _("Staying in reach"))),
)
TIER = Choice("tier", _("Tier"), (("", _("All")), ("mid", _("In reach")), ("cold", _("Cold"))))
NEXT = 5  # of those that go next, and of what went last


@dataclass(frozen=True, slots=True)
class Hot:
    """A page of topics. `scale`: the heat at a bar's end. `mid`: how many are in reach, whose
    places end where `border` (a rank) begins; 0 where no line is drawn."""

    page: Page[Any]
    scale: float
    mid: int
    border: int


def topics(space: Space, filters: Filters, policy: Policy, now: datetime) -> Hot:
    """The warmest first. Three statements."""
    held = Segment.objects.filter(space=space, retired_at=None)
    by = "promotion" if filters["by"] == "promotion" else "heat"
    top = with_heat(held, policy.heat, now).aggregate(
        most=Max(by), mid=Count("pk", filter=Q(tier=Segment.Tier.MID))
    )
    rows = with_heat(held, policy.heat, now).filter(
        containing(filters.q, "summary", "keywords"), **filters.chosen("tier")
    )
    # Where staying is meant, those in reach stand before the cold ones.
    order = ("-promotion", "-id") if by == "promotion" else ("-tier", "-heat", "-id")
    found = page_of(rows.order_by(*order), filters.page)
    whole = by == "heat" and not filters.q and not filters["tier"]
    scale = max(top["most"] or 0.0, policy.heat.tau if by == "promotion" else 0.0, 0.01)
    return Hot(found, 1.05 * scale, top["mid"], top["mid"] + 1 if whole else 0)


@dataclass(frozen=True, slots=True)
class Next:
    """A topic that goes next, and why."""

    segment: Any
    why: str


def next_promoted(space: Space, policy: Policy, now: datetime) -> list[Next]:
    """The warmest with exchanges that promotion has not read. One statement."""
    unread = SegmentPage.objects.filter(page__analysed_at=None)
    waiting = unread.filter(segment=OuterRef("pk"))
    rows = Segment.objects.filter(Exists(waiting), space=space, retired_at=None, stale=False)
    mid = _in_reach(rows).annotate(unread=count_of(unread, "segment"))
    warm = with_heat(mid, policy.heat, now).order_by("-promotion", "id")[:NEXT]
    return [Next(row, _why_promoted(row, policy.heat)) for row in warm]


def _in_reach(rows: QuerySet[Segment]) -> QuerySet[Segment]:
    return rows.filter(tier=Segment.Tier.MID)


def _why_promoted(row: Any, weights: Heat) -> str:
    unread = counted("exchange", row.unread)
    if row.promotion > weights.tau:
        message = gettext("over the threshold: %(unread)s will be read by the next job for it")
        return message % {"unread": unread}
    lacks = weights.tau - row.promotion
    ways = []
    if weights.alpha > 0:
        ways.append(counted("visit", int(lacks // weights.alpha) + 1))
    if weights.beta > 0:
        ways.append(counted("exchange", int(lacks // weights.beta) + 1))
    said = {"lacks": f"{lacks:.2f}", "ways": gettext(" or ").join(ways), "unread": unread}
    if not ways:
        return gettext("lacks %(lacks)s; %(unread)s not read yet") % said
    return gettext("lacks %(lacks)s: %(ways)s more would do; %(unread)s not read yet") % said


def next_cold(space: Space, policy: Policy, now: datetime, mid: int) -> list[Next]:
    """The coldest in reach, in the order in which they would go. One statement."""
    rows = _in_reach(Segment.objects.filter(space=space, retired_at=None))
    hot = with_heat(rows, policy.heat, now).order_by("heat", "last_visited_at", "id")[:NEXT]
    room = policy.segments.max - mid
    return [Next(row, _why_cold(place, room)) for place, row in enumerate(hot, 1)]


def _why_cold(place: int, room: int) -> str:
    """`place` from the coldest; `room` for so many topics more."""
    new = room + place
    if new <= 0:
        return gettext("over the capacity: it goes when the next topic is placed")
    message = ngettext(
        "goes when %(count)s new topic has come", "goes when %(count)s new topics have come", new
    )
    return message % {"count": f"{new:,}"}


def latest_moves(space: Space) -> Sequence[EvolutionEvent]:
    """Promotions and moves out of sight or back, newest first."""
    kinds = (EvolutionEvent.Kind.PROMOTE, EvolutionEvent.Kind.ARCHIVE)
    return list(EvolutionEvent.objects.filter(space=space, kind__in=kinds)[:NEXT])
