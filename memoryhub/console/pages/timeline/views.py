"""What was said in a space, and a turn in its place."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import date, timedelta
from typing import Any
from uuid import UUID
from zoneinfo import ZoneInfo

from django.db.models import QuerySet
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse
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
from memoryhub.console.frame.space.tabs import get_space_at_moment, render_tab
from memoryhub.console.frame.text.quotes import QuotePiece, TextSpan, split_pieces
from memoryhub.console.frame.text.wording import format_person
from memoryhub.dialogues.models import Session, Turn
from memoryhub.tenants.models import Space
from notes.models import Derivation, Episode, Fact, Note, Segment, SegmentPage

TURN_ROLE_CHOICE = FilterChoice(
    "role",
    _("Said by"),
    (
        ("", _("Everybody")),
        ("user", _("People")),
        ("assistant", _("Assistants")),
        ("tool", _("Tools")),
    ),
)
TURN_STATE_CHOICE = FilterChoice(
    "state", _("State"), (("", _("Any")), *Turn.State.choices), spare=True
)
TURNS_A_PAGE = 40
# Silence that is worth a line.
SILENCE_GAP = timedelta(hours=6)


def load_turn_choices(space: Space) -> tuple[FilterChoice, ...]:
    """Two statements."""
    rows = Turn.objects.filter(space=space)
    return (
        TURN_ROLE_CHOICE,
        load_value_choice(rows, "speaker", _("Speaker"), _("Anyone"), say=format_person),
        load_value_choice(rows, "session__channel", _("Channel"), _("Any"), name="channel"),
        TURN_STATE_CHOICE,
    )


@dataclass(frozen=True, slots=True)
class TimelineRow:
    """A turn with what was made of it. `opens_day`, `opens_session`, `silence`: what stands
    before it; `digests` are of the day it opens."""

    turn: Turn
    pieces: list[QuotePiece]
    facts: list[Fact]
    notes: list[Note]
    segments: list[Segment]
    opens_day: date | None
    opens_session: Session | None
    silence: timedelta | None = None
    digests: Sequence[Episode] = ()


@dataclass
class _TurnMemories:
    spans: list[TextSpan] = field(default_factory=list)
    facts: list[UUID] = field(default_factory=list)
    notes: list[UUID] = field(default_factory=list)


def load_timeline(space: Space, filters: Filters, moment: SpaceMoment) -> ListPage[TimelineRow]:
    """The newest turns on page 1, oldest first within a page, so that it reads as it was said."""
    rows: QuerySet[Turn] = moment.rows(space, Turn).filter(
        build_text_condition(filters.q, "text", "speaker"),
        filters.build_days_condition("occurred_at", space.timezone),
        **filters.chosen_values("role", "speaker", "state"),
    )
    if filters["channel"]:
        rows = rows.filter(session__channel=filters["channel"])
    rows = rows.select_related("session").order_by("-seq")
    found = load_page(rows, filters.page, TURNS_A_PAGE)
    turns = list(reversed(found.rows))
    return found.with_rows(_build_timeline_rows(space, turns, moment, filters.narrowed))


def _build_timeline_rows(
    space: Space, turns: list[Turn], moment: SpaceMoment, sifted: bool
) -> list[TimelineRow]:
    """Turns that were sifted out are no silence."""
    zone = ZoneInfo(space.timezone)
    made = _load_turn_memories(turns, moment)
    facts = moment.load_rows_by_id(space, Fact, [i for d in made.values() for i in d.facts])
    notes = moment.load_rows_by_id(space, Note, [i for d in made.values() for i in d.notes])
    topics = _load_turn_segments(space, turns, moment)
    days = [turn.occurred_at.astimezone(zone).date() for turn in turns]
    digests = _load_day_digests(space, set(days), moment)
    lines: list[TimelineRow] = []
    before: Turn | None = None
    for turn, on in zip(turns, days, strict=True):
        derived = made[turn.id]
        opens_day = before is None or on != before.occurred_at.astimezone(zone).date()
        lines.append(
            TimelineRow(
                turn,
                split_pieces(turn.text, derived.spans),
                [facts[i] for i in dict.fromkeys(derived.facts) if i in facts],
                [notes[i] for i in dict.fromkeys(derived.notes) if i in notes],
                topics[turn.id],
                on if opens_day else None,
                turn.session if before is None or turn.session_id != before.session_id else None,
                None if sifted else _compute_silence(before, turn),
                digests[on] if opens_day else (),
            )
        )
        before = turn
    return lines


def _compute_silence(before: Turn | None, turn: Turn) -> timedelta | None:
    passed = turn.occurred_at - before.occurred_at if before else timedelta()
    return passed if passed >= SILENCE_GAP else None


def _load_turn_memories(turns: list[Turn], moment: SpaceMoment) -> dict[UUID, _TurnMemories]:
    """What each turn supports. A note stands under the last of its turns only."""
    made: dict[UUID, _TurnMemories] = defaultdict(_TurnMemories)
    links = Derivation.objects.filter(
        child_type__in=("fact", "note"),
        role=Derivation.Role.SUPPORT,
        turn__in=[turn.id for turn in turns],
    ).order_by("turn__seq", "id")
    if moment.recorded_by:
        links = links.filter(event__created_at__lte=moment.recorded_by)
    last: dict[UUID, UUID] = {}
    for link in links:
        if link.child_type == "note":
            last[link.child_id] = link.turn_id
            continue
        made[link.turn_id].facts.append(link.child_id)
        made[link.turn_id].spans.append((link.span_start, link.span_end))
    for note, turn in last.items():
        made[turn].notes.append(note)
    return made


def _load_turn_segments(
    space: Space, turns: list[Turn], moment: SpaceMoment
) -> dict[UUID, list[Segment]]:
    """The segments of each exchange, under its first turn of these. Two statements."""
    found: dict[UUID, list[Segment]] = defaultdict(list)
    if not turns:
        return found
    places = SegmentPage.objects.filter(
        space=space,
        page__last_seq__gte=turns[0].seq,
        page__first_seq__lte=turns[-1].seq,
        page__session__in={turn.session_id for turn in turns},
    ).select_related("page")
    if moment.recorded_by:
        places = places.filter(added_at__lte=moment.recorded_by)
    members = list(places.order_by("-score", "id"))
    rows = moment.load_rows_by_id(space, Segment, {place.segment_id for place in members})
    for place in members:
        segment: Any = rows.get(place.segment_id)
        first = next((turn for turn in turns if place.page.covers(turn)), None)
        if first and segment and not segment.retired_at:
            found[first.id].append(segment)
    return found


def _load_day_digests(
    space: Space, days: set[date], moment: SpaceMoment
) -> dict[date, list[Episode]]:
    """The digests of these days. One statement."""
    rows = moment.rows(space, Episode).filter(
        kind=Episode.Kind.DAY, day__in=days, retired_at=None, stale=False
    )
    found: dict[date, list[Episode]] = defaultdict(list)
    for episode in map(moment.row, rows):
        found[episode.day].append(episode)
    return found


@page_at("spaces/<uuid:space_id>/timeline/", "space-timeline")
@tenant_page()
def timeline_page(request: ConsoleRequest, space_id: UUID) -> HttpResponse:
    space, moment = get_space_at_moment(request, space_id)
    filters = read_filters(
        request.GET, load_turn_choices(space), dated=pgettext("on days", "Date mentioned")
    )
    page = load_timeline(space, filters, moment)
    return render_tab(
        request,
        space,
        "timeline",
        "timeline/timeline.html",
        filters=filters,
        page=page,
        moment=moment,
    )


@page_at("spaces/<uuid:space_id>/turns/<uuid:turn_id>/", "space-turn")
@tenant_page()
def redirect_to_turn(request: ConsoleRequest, space_id: UUID, turn_id: UUID) -> HttpResponse:
    """To the turn in its conversation."""
    turn = get_object_or_404(Turn.objects.filter(space=space_id, id=turn_id))
    newer = Turn.objects.filter(space=space_id, seq__gt=turn.seq).count()
    address = reverse("space-timeline", args=[space_id])
    return redirect(f"{address}?page={newer // TURNS_A_PAGE + 1}#turn-{turn.id}")
