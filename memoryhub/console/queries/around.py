"""What stands around a memory: one step along every kind of tie. A handful of statements."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from uuid import UUID

from django.db.models import Q
from django.db.models.functions import TruncDate

from memoryhub.dialogues.models import Turn
from memoryhub.recall.models import RecallLog, RecallLogItem
from memoryhub.tenants.models import Space
from notes.models import Derivation, Entity, Fact, Note, Relation, Segment
from notes.queries import is_current
from notes.retention import pages_of

MOST = 8  # of each kind
DAYS = 30  # of recalls that are charted


@dataclass(frozen=True, slots=True)
class Around:
    """`relations` are the fact's own; `same_entities` and `same_words` share those with it."""

    relations: list[Relation] = field(default_factory=list)
    entities: list[Entity] = field(default_factory=list)
    segments: list[Segment] = field(default_factory=list)
    same_entities: list[Fact] = field(default_factory=list)
    same_words: list[Fact] = field(default_factory=list)
    notes: list[Note] = field(default_factory=list)

    @property
    def is_empty(self) -> bool:
        parts = (self.relations, self.segments, self.same_entities, self.same_words, self.notes)
        return not any(parts)


def around_fact(space: Space, fact: Fact, turns: Sequence[Turn], now: datetime) -> Around:
    relations = list(Relation.objects.filter(fact=fact).select_related("src", "dst"))
    entities = list({e.id: e for r in relations for e in (r.src, r.dst)}.values())
    pages = pages_of(space, [turn.id for turn in turns[:MOST]]) if turns else set()
    return Around(
        relations=relations,
        entities=entities,
        segments=_segments(space, pages),
        same_entities=_sharing(space, fact, [e.id for e in entities], now),
        same_words=_said_there(space, turns, now, fact.lineage),
        notes=_notes(space, Q(fact=fact) | Q(page__in=pages)),
    )


def around_note(space: Space, note: Note, turns: Sequence[Turn], now: datetime) -> Around:
    pages = {note.page_id} if note.page_id else set()
    return Around(segments=_segments(space, pages), same_words=_said_there(space, turns, now, None))


def _segments(space: Space, pages: Collection[UUID]) -> list[Segment]:
    if not pages:
        return []
    rows = Segment.objects.filter(space=space, retired_at=None, memberships__page__in=pages)
    return list(rows.distinct().order_by("-ended_at", "id")[:MOST])


def _sharing(space: Space, fact: Fact, entities: Collection[UUID], now: datetime) -> list[Fact]:
    """Current facts about the same things; the owner is an entity of nearly every fact."""
    ties = Relation.objects.filter(Q(src__in=entities) | Q(dst__in=entities))
    things = ties.exclude(src__name=fact.owner, dst__name=fact.owner).values("fact")
    rows = Fact.objects.filter(is_current(now), space=space, id__in=things)
    return list(rows.exclude(lineage=fact.lineage)[:MOST]) if entities else []


def _said_there(
    space: Space, turns: Sequence[Turn], now: datetime, lineage: UUID | None
) -> list[Fact]:
    """Current facts that rest on the same turns."""
    if not turns:
        return []
    links = Derivation.objects.filter(
        child_type="fact", turn__in=turns[:MOST], role=Derivation.Role.SUPPORT
    )
    rows = Fact.objects.filter(is_current(now), space=space, id__in=links.values("child_id"))
    return list((rows.exclude(lineage=lineage) if lineage else rows)[:MOST])


def _notes(space: Space, wanted: Q) -> list[Note]:
    return list(Note.objects.filter(wanted, space=space, retired_at=None)[:MOST])


def recalled_by_day(space: Space, memory: UUID, today: date) -> list[tuple[date, int]]:
    """(day, questions it was shown for), the last `DAYS` days, oldest first. One statement."""
    first = today - timedelta(days=DAYS - 1)
    items = RecallLogItem.objects.filter(space=space, memory_id=memory)
    logs = RecallLog.objects.filter(space=space, id__in=items.values("log"))
    days = logs.annotate(day=TruncDate("asked_at")).filter(day__gte=first)
    counts = Counter(days.order_by().values_list("day", flat=True))
    return [(day, counts[day]) for day in (first + timedelta(days=n) for n in range(DAYS))]
