"""Spaces, and what was said in one."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import Any
from uuid import UUID
from zoneinfo import ZoneInfo

from django.db.models import F, QuerySet
from django.http import Http404

from memoryhub.console.listing import Choice, Filters, Page, containing, page_of
from memoryhub.console.quoting import Piece, pieces
from memoryhub.dialogues.models import Session, Turn
from memoryhub.pipeline.counting import with_counts
from memoryhub.tenants.models import Space
from notes.models import Derivation, Fact, Note

SORT = Choice("sort", "Sort by", (("recent", "Last activity"), ("name", "Name")))
WORK = Choice(
    "work", "Work", (("any", "Any"), ("waiting", "Jobs waiting"), ("failed", "Jobs given up"))
)
ROLE = Choice(
    "role",
    "Said by",
    (("all", "Everybody"), ("user", "People"), ("assistant", "Assistants"), ("tool", "Tools")),
)
TURNS_A_PAGE = 40


def space_or_404(space_id: UUID, now: datetime) -> Any:
    """The space with its counts per kind."""
    space = with_counts(Space.objects.filter(id=space_id), now).first()
    if space is None:
        raise Http404
    return space


def spaces(filters: Filters, now: datetime) -> Page[Any]:
    rows = with_counts(matching(filters.q), now)
    if filters["work"] != "any":
        rows = rows.filter(**{f"{filters['work']}__gt": 0})
    return page_of(rows.order_by(*_order(filters["sort"])), filters.page)


def matching(text: str) -> QuerySet[Space]:
    rows: QuerySet[Space] = Space.objects.filter(containing(text, "subject", "name"))
    return rows.order_by("subject", "id")


def _order(sort: str) -> tuple[Any, ...]:
    if sort == "name":
        return ("subject", "id")
    return (F("last_activity_at").desc(nulls_last=True), "subject", "id")


@dataclass(frozen=True, slots=True)
class Line:
    """A turn with what was made of it. `opens_day`, `opens_session`: headings before it."""

    turn: Turn
    pieces: list[Piece]
    facts: list[Fact]
    notes: list[Note]
    opens_day: date | None
    opens_session: Session | None


@dataclass
class _Derived:
    spans: list[tuple[int | None, int | None]] = field(default_factory=list)
    facts: list[UUID] = field(default_factory=list)
    notes: list[UUID] = field(default_factory=list)


def timeline(space: Space, filters: Filters) -> Page[Line]:
    """The newest turns on page 1, oldest first within a page, so that it reads as it was said."""
    found = page_of(_turns(space, filters).order_by("-seq"), filters.page, TURNS_A_PAGE)
    return found.holding(_lines(list(reversed(found.rows)), ZoneInfo(space.timezone)))


def _turns(space: Space, filters: Filters) -> QuerySet[Turn]:
    rows: QuerySet[Turn] = Turn.objects.filter(
        containing(filters.q, "text", "speaker"), space=space
    )
    if filters["role"] != "all":
        rows = rows.filter(role=filters["role"])
    return rows.select_related("session")


def page_holding(turn: Turn) -> int:
    """The number of the timeline's page on which the turn stands."""
    newer: int = Turn.objects.filter(space=turn.space_id, seq__gt=turn.seq).count()
    return newer // TURNS_A_PAGE + 1


def _lines(turns: list[Turn], zone: ZoneInfo) -> list[Line]:
    made = _made_of(turns)
    facts = Fact.objects.in_bulk([i for d in made.values() for i in d.facts])
    notes = Note.objects.in_bulk([i for d in made.values() for i in d.notes])
    lines: list[Line] = []
    day, session = None, None
    for turn in turns:
        on = turn.occurred_at.astimezone(zone).date()
        derived = made[turn.id]
        lines.append(
            Line(
                turn,
                pieces(turn.text, derived.spans),
                [facts[i] for i in dict.fromkeys(derived.facts) if i in facts],
                [notes[i] for i in dict.fromkeys(derived.notes) if i in notes],
                on if on != day else None,
                turn.session if turn.session_id != session else None,
            )
        )
        day, session = on, turn.session_id
    return lines


def _made_of(turns: list[Turn]) -> dict[UUID, _Derived]:
    """What each turn supports. A note stands under the last of its turns only."""
    made: dict[UUID, _Derived] = defaultdict(_Derived)
    links = Derivation.objects.filter(
        child_type__in=("fact", "note"),
        role=Derivation.Role.SUPPORT,
        turn__in=[turn.id for turn in turns],
    ).order_by("turn__seq", "id")
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
