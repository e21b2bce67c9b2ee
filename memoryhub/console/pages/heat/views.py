"""Which topics are warm and which memories fade."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import Count, Exists, Max, OuterRef, Q
from django.http import HttpResponse
from django.shortcuts import get_object_or_404
from django.utils import timezone
from django.utils.translation import gettext, ngettext
from django.utils.translation import gettext_lazy as _

from memoryhub.console.frame import charts
from memoryhub.console.frame.access import page_at, tenant_page
from memoryhub.console.frame.forgetting_curves import build_fading_chart
from memoryhub.console.frame.lists import (
    FilterChoice,
    Filters,
    ListPage,
    build_text_condition,
    load_page,
    read_filters,
    slice_page,
)
from memoryhub.console.frame.requests import ConsoleRequest
from memoryhub.console.frame.space.tabs import get_space_or_404, render_tab
from memoryhub.console.frame.text.nouns import counted
from memoryhub.console.pages.figures.plots import plot_heat_over_time
from memoryhub.console.pages.heat import decay
from memoryhub.console.pages.heat.life import build_memory_life, load_recalls_of
from memoryhub.pipeline.counts import build_count_subquery
from memoryhub.policies.schema import HeatPolicy, Policy
from memoryhub.policies.services import load_effective_policy
from memoryhub.tenants.models import Space
from notes.models import EvolutionEvent, Segment, SegmentPage
from notes.retention.decay import RETAINED_MODELS
from notes.topics.heat import annotate_heat

HEAT_KIND_CHOICE = FilterChoice(
    "by",
    _("Heat shown for"),
    (("promotion", _("Being read for the persona")), ("staying", _("Staying active"))),
)
TOPIC_TIER_CHOICE = FilterChoice(
    "tier", _("Tier"), (("", _("All")), ("mid", _("Active")), ("cold", _("Inactive")))
)
MAX_UPCOMING = 5  # of those that go next, and of what went last
# Promotions, and moves out of sight or back.
_MOVES = (EvolutionEvent.Kind.PROMOTE, EvolutionEvent.Kind.ARCHIVE)


@dataclass(frozen=True, slots=True)
class TopicHeat:
    """A page of topics. `scale`: the heat at a bar's end. `mid`: how many are in reach, whose
    places end where `border` (a rank) begins; 0 where no line is drawn."""

    page: ListPage[Any]
    scale: float
    mid: int
    border: int


def load_topics_by_heat(space: Space, filters: Filters, policy: Policy, now: datetime) -> TopicHeat:
    """The warmest first. Three statements."""
    held = Segment.objects.filter(space=space, retired_at=None)
    by = "promotion" if filters["by"] == "promotion" else "heat"
    top = annotate_heat(held, policy.heat, now).aggregate(
        most=Max(by), mid=Count("pk", filter=Q(tier=Segment.Tier.MID))
    )
    rows = annotate_heat(held, policy.heat, now).filter(
        build_text_condition(filters.q, "summary", "keywords"), **filters.chosen_values("tier")
    )
    # Where staying is meant, those in reach stand before the cold ones.
    order = ("-promotion", "-id") if by == "promotion" else ("-tier", "-heat", "-id")
    found = load_page(rows.order_by(*order), filters.page)
    whole = by == "heat" and not filters.q and not filters["tier"]
    scale = max(top["most"] or 0.0, policy.heat.tau if by == "promotion" else 0.0, 0.01)
    return TopicHeat(found, 1.05 * scale, top["mid"], top["mid"] + 1 if whole else 0)


@dataclass(frozen=True, slots=True)
class UpcomingMove:
    """A topic that goes next, and why."""

    segment: Any
    why: str


def load_next_promoted(space: Space, policy: Policy, now: datetime) -> list[UpcomingMove]:
    """The warmest with exchanges that promotion has not read. One statement."""
    unread = SegmentPage.objects.filter(page__analysed_at=None)
    waiting = unread.filter(segment=OuterRef("pk"))
    rows = Segment.objects.filter(
        Exists(waiting), space=space, retired_at=None, stale=False, tier=Segment.Tier.MID
    )
    mid = rows.annotate(unread=build_count_subquery(unread, "segment"))
    warm = annotate_heat(mid, policy.heat, now).order_by("-promotion", "id")[:MAX_UPCOMING]
    return [UpcomingMove(row, _describe_promotion(row, policy.heat)) for row in warm]


def _describe_promotion(row: Any, weights: HeatPolicy) -> str:
    unread = counted("exchange", row.unread)
    if row.promotion > weights.tau:
        message = gettext("above the threshold: the next job will read %(unread)s")
        return message % {"unread": unread}
    lacks = weights.tau - row.promotion
    ways = []
    if weights.alpha > 0:
        ways.append(counted("visit", int(lacks // weights.alpha) + 1))
    if weights.beta > 0:
        ways.append(counted("exchange", int(lacks // weights.beta) + 1))
    said = {"lacks": f"{lacks:.2f}", "ways": gettext(" or ").join(ways), "unread": unread}
    if not ways:
        return gettext("%(lacks)s short of the threshold; %(unread)s not read yet") % said
    return (
        gettext(
            "%(lacks)s short of the threshold: %(ways)s more would reach it; %(unread)s "
            "not read yet"
        )
        % said
    )


def load_next_cold(space: Space, policy: Policy, now: datetime, mid: int) -> list[UpcomingMove]:
    """The coldest in reach, in the order in which they would go. One statement."""
    rows = Segment.objects.filter(space=space, retired_at=None, tier=Segment.Tier.MID)
    hot = annotate_heat(rows, policy.heat, now).order_by("heat", "last_visited_at", "id")
    room = policy.segments.max - mid
    return [
        UpcomingMove(row, _describe_cooling(place, room))
        for place, row in enumerate(hot[:MAX_UPCOMING], 1)
    ]


def _describe_cooling(place: int, room: int) -> str:
    """`place` from the coldest; `room` for so many topics more."""
    new = room + place
    if new <= 0:
        return gettext("over capacity: becomes inactive when the next topic is placed")
    message = ngettext(
        "becomes inactive after %(count)s new topic",
        "becomes inactive after %(count)s new topics",
        new,
    )
    return message % {"count": f"{new:,}"}


@page_at("spaces/<uuid:space_id>/heat/", "space-heat")
@tenant_page()
def heat_page(request: ConsoleRequest, space_id: UUID) -> HttpResponse:
    """The warmth of topics, or with `view=fading` how memories fade."""
    space = get_space_or_404(space_id, timezone.now())
    shown = _build_fading_context if request.GET.get("view") == "fading" else _build_topics_context
    return render_tab(request, space, "heat", "heat/heat.html", **shown(request, space))


def _build_topics_context(request: ConsoleRequest, space: Any) -> dict[str, Any]:
    now, policy = timezone.now(), load_effective_policy(space).policy
    filters = read_filters(request.GET, (HEAT_KIND_CHOICE, TOPIC_TIER_CHOICE))
    promotion = filters["by"] == "promotion"
    hot = load_topics_by_heat(space, filters, policy, now)

    def bar(row: Any) -> list[tuple[str, str, float, float]]:
        return charts.build_heat_parts(row, hot.scale, policy.heat, promotion=promotion)

    ranked = enumerate(hot.page.rows, hot.page.first)
    return {
        "view": "topics",
        "filters": filters,
        "page": hot.page.with_rows([(rank, row, bar(row)) for rank, row in ranked]),
        "hot": hot,
        "threshold": round(100 * policy.heat.tau / hot.scale, 2) if promotion else None,
        "weights": policy.heat,
        "most": policy.segments.max,
        "promoted": load_next_promoted(space, policy, now),
        "cold": load_next_cold(space, policy, now, hot.mid),
        "moves": EvolutionEvent.objects.filter(space=space, kind__in=_MOVES)[:MAX_UPCOMING],
    }


def _build_fading_context(request: ConsoleRequest, space: Any) -> dict[str, Any]:
    now, forget = timezone.now(), load_effective_policy(space).policy.forget
    filters = read_filters(
        request.GET, (decay.FADING_KIND_CHOICE, decay.FADING_SEEN_CHOICE, decay.FADING_DAYS_CHOICE)
    )
    at = decay.list_ages(int(filters["days"]))
    falls = decay.load_fading_summaries(space, forget, at, now) if forget.mode != "off" else []
    return {
        "view": "fading",
        "held": {"view": "fading"},
        "filters": filters,
        "forget": forget,
        "page": decay.load_fading_memories(space, filters, forget, now),
        "chart": build_fading_chart(falls, at),
    }


@page_at("spaces/<uuid:space_id>/heat/facts/<uuid:fact_id>/", "space-fact-curve")
@page_at("spaces/<uuid:space_id>/heat/notes/<uuid:note_id>/", "space-note-curve")
@page_at("spaces/<uuid:space_id>/heat/episodes/<uuid:episode_id>/", "space-episode-curve")
@tenant_page()
def memory_curve_page(request: ConsoleRequest, /, space_id: UUID, **memory: UUID) -> HttpResponse:
    """The curve of one memory, from the day it was said until it would be hidden."""
    ((name, memory_id),) = memory.items()
    kind, now = name.removesuffix("_id"), timezone.now()
    space = get_space_or_404(space_id, now)
    row = get_object_or_404(RETAINED_MODELS[kind].objects.filter(space=space, id=memory_id))
    policy = load_effective_policy(space).policy
    forget = policy.forget
    shown: dict[str, Any] = {"kind": kind, "memory": row, "forget": forget}
    if forget.mode != "off":
        told = build_memory_life(row, load_recalls_of(space, kind, row.id), forget, now)
        mentions = getattr(row, "mention_count", 1)
        shown["plots"] = [plot_heat_over_time(told.life, policy.heat, mentions, now)]
        shown |= {"told": told, "page": slice_page(told.rows, read_filters(request.GET).page)}
    return render_tab(request, space, "heat", "heat/life.html", **shown)
