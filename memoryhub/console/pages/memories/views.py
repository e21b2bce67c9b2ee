"""What the pages of facts and of notes share."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from typing import Any
from uuid import UUID
from zoneinfo import ZoneInfo

from django.db.models import Q
from django.db.models.functions import TruncDate
from django.http import HttpResponse
from django.shortcuts import render
from django.utils import timezone

from memoryhub.console.frame import charts
from memoryhub.console.frame.forgetting_curves import build_curve
from memoryhub.console.frame.requests import ConsoleRequest
from memoryhub.console.pages.corrections import actions, views
from memoryhub.console.pages.recalls.views import load_recalls_showing
from memoryhub.dialogues.models import Turn
from memoryhub.policies.services import load_effective_policy
from memoryhub.recall.models import RecallLog, RecallLogItem
from memoryhub.tenants.models import Space
from notes.facts.validity import build_current_q
from notes.models import Derivation, Entity, Fact, Note, Relation, Segment
from notes.retention.decay import compute_retention_state, find_pages_of_turns

MAX_OF_A_KIND = 8  # of each kind
RECALL_CHART_DAYS = 30  # of recalls that are charted


@dataclass(frozen=True, slots=True)
class MemorySurroundings:
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


def load_fact_surroundings(
    space: Space, fact: Fact, turns: Sequence[Turn], now: datetime
) -> MemorySurroundings:
    relations = list(Relation.objects.filter(fact=fact).select_related("src", "dst"))
    entities = list({e.id: e for r in relations for e in (r.src, r.dst)}.values())
    ids = [turn.id for turn in turns[:MAX_OF_A_KIND]]
    pages = find_pages_of_turns(space, ids) if ids else set()
    tied = Q(fact=fact) | Q(page__in=pages)
    notes = Note.objects.filter(tied, space=space, retired_at=None)
    return MemorySurroundings(
        relations=relations,
        entities=entities,
        segments=_load_segments_of_pages(space, pages),
        same_entities=_load_facts_sharing_entities(space, fact, [e.id for e in entities], now),
        same_words=_load_facts_of_turns(space, turns, now, fact.lineage),
        notes=list(notes[:MAX_OF_A_KIND]),
    )


def load_note_surroundings(
    space: Space, note: Note, turns: Sequence[Turn], now: datetime
) -> MemorySurroundings:
    pages = {note.page_id} if note.page_id else set()
    return MemorySurroundings(
        segments=_load_segments_of_pages(space, pages),
        same_words=_load_facts_of_turns(space, turns, now, None),
    )


def _load_segments_of_pages(space: Space, pages: Collection[UUID]) -> list[Segment]:
    if not pages:
        return []
    rows = Segment.objects.filter(space=space, retired_at=None, memberships__page__in=pages)
    return list(rows.distinct().order_by("-ended_at", "id")[:MAX_OF_A_KIND])


def _load_facts_sharing_entities(
    space: Space, fact: Fact, entities: Collection[UUID], now: datetime
) -> list[Fact]:
    """Current facts about the same things; the owner is an entity of nearly every fact."""
    ties = Relation.objects.filter(Q(src__in=entities) | Q(dst__in=entities))
    things = ties.exclude(src__name=fact.owner, dst__name=fact.owner).values("fact")
    rows = Fact.objects.filter(build_current_q(now), space=space, id__in=things)
    return list(rows.exclude(lineage=fact.lineage)[:MAX_OF_A_KIND]) if entities else []


def _load_facts_of_turns(
    space: Space, turns: Sequence[Turn], now: datetime, lineage: UUID | None
) -> list[Fact]:
    """Current facts that rest on the same turns."""
    if not turns:
        return []
    links = Derivation.objects.filter(
        child_type="fact", turn__in=turns[:MAX_OF_A_KIND], role=Derivation.Role.SUPPORT
    )
    rows = Fact.objects.filter(build_current_q(now), space=space, id__in=links.values("child_id"))
    return list((rows.exclude(lineage=lineage) if lineage else rows)[:MAX_OF_A_KIND])


def count_recalls_by_day(space: Space, memory: UUID, today: date) -> list[tuple[date, int]]:
    """(day, questions it was shown for), the last `DAYS` days, oldest first. One statement."""
    first = today - timedelta(days=RECALL_CHART_DAYS - 1)
    items = RecallLogItem.objects.filter(space=space, memory_id=memory)
    logs = RecallLog.objects.filter(space=space, id__in=items.values("log"))
    days = logs.annotate(day=TruncDate("asked_at")).filter(day__gte=first)
    counts = Counter(days.order_by().values_list("day", flat=True))
    charted = (first + timedelta(days=n) for n in range(RECALL_CHART_DAYS))
    return [(day, counts[day]) for day in charted]


def wants_form_only(request: ConsoleRequest) -> bool:
    """A browser that fetches a page again from its own history wants all of it."""
    return bool(request.htmx) and not request.htmx.history_restore_request


def render_correction_form(
    request: ConsoleRequest, space: Any, kind: str, row: Fact | Note
) -> HttpResponse:
    found = views.build_correction_form(request, space, kind, row, timezone.now())
    return render(
        request, "corrections/_form.html", {"space": space, "memory": row, "kind": kind} | found
    )


def build_memory_context(
    request: ConsoleRequest, space: Any, kind: str, row: Fact | Note
) -> dict[str, Any]:
    """What the pages of facts and of notes both tell."""
    now, forget = timezone.now(), load_effective_policy(space).policy.forget
    said = row.asserted_at if isinstance(row, Fact) else row.occurred_at
    today = now.astimezone(ZoneInfo("UTC")).date()
    return {
        "memory": row,
        "kind": kind,
        "actions": actions.list_offered_actions(kind, row),
        "standing": compute_retention_state(row, said, forget, now),
        "curve": build_curve(row, said, forget, now),
        "recalled": load_recalls_showing(space, row.id),
        "recall_days": charts.build_daily_bars(count_recalls_by_day(space, row.id, today)),
        **views.build_correction_form(request, space, kind, row, now),
    }
