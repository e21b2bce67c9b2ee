"""What an agent's memory tools find: everything that was said, page by page (MemGPT, spec §3.3).

Words come first: turns that contain all that was asked for, in order. Only when there are none is
the question searched for its meaning, best first.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from typing import Literal
from uuid import UUID
from zoneinfo import ZoneInfo

from django.db.models import Q, QuerySet

from memoryhub.dialogues.models import LOOKUP, Turn
from memoryhub.inference.selection import select_embedder
from memoryhub.recall.services import search_memories
from memoryhub.tenants.models import Space
from memoryhub.tenants.scope import tenant_scope
from notes import archive
from notes.history.change_set import filter_supports
from notes.index.lexemes import build_lexical_text
from notes.models import Note
from personas.agent.tools import PAGE_SIZE, MemoryHit, MemoryHitPage, build_hit_page

# Found by meaning, there is no end of what is a little like it.
MAX_SIMILAR_TURNS = 25


@dataclass(frozen=True, slots=True)
class SpaceMemory:
    """`personas.agent.tools.AgentMemory` of a space, for an agent that answers the turn `asked`."""

    space: Space
    agent: str
    now: datetime
    question_turn_id: UUID | None = None

    def search_turns(self, query: str, page: int) -> MemoryHitPage:
        """Turns with all the words of the query, the newest first, else those of its meaning."""
        with tenant_scope(self.space.tenant_id):
            rows = self._list_turns().filter(_build_words_filter(query)).order_by("-seq")
            if rows.exists():
                return _build_page(rows, page)
        return build_hit_page(self._find_similar_turns(query), page)

    def list_turns_by_date(self, start: date, end: date, page: int) -> MemoryHitPage:
        """What was said on these days of the space, both included, in order."""
        since, until = self._compute_day_range(start, end)
        with tenant_scope(self.space.tenant_id):
            rows = self._list_turns().filter(occurred_at__gte=since, occurred_at__lt=until)
            return _build_page(rows.order_by("seq"), page)

    def archive_text(self, text: str, tags: Sequence[str]) -> None:
        turns = [self.question_turn_id] if self.question_turn_id else []
        archive.add_passage(
            self.space,
            text,
            select_embedder(self.space),
            author=self.agent,
            now=self.now,
            tags=tags,
            turn_ids=turns,
        )

    def search_archive(
        self,
        query: str,
        page: int,
        tags: Sequence[str],
        tag_mode: Literal["any", "all"],
        start: date | None,
        end: date | None,
    ) -> MemoryHitPage:
        since = self._compute_day_range(start, start)[0] if start else None
        until = self._compute_day_range(end, end)[1] if end else None
        wanted = archive.PassageQuery(query, tags, tag_mode, since, until)
        found = archive.search_passages(
            self.space, wanted, select_embedder(self.space), page=page, size=PAGE_SIZE
        )
        return MemoryHitPage(self._build_passage_hits(found.notes), found.total, page)

    def _build_passage_hits(self, notes: Sequence[Note]) -> list[MemoryHit]:
        ids = [note.id for note in notes]
        told: dict[UUID, list[UUID]] = defaultdict(list)
        with tenant_scope(self.space.tenant_id):
            links = filter_supports("note", child_id__in=ids).values_list("child_id", "turn_id")
            for note_id, turn_id in links:
                told[note_id].append(turn_id)
        return [MemoryHit(n.occurred_at, n.author, n.content, tuple(told[n.id])) for n in notes]

    def _list_turns(self) -> QuerySet[Turn]:
        """All turns of the space, and what agents did, but the one that is being answered; without
        earlier searches, which would find themselves."""
        rows: QuerySet[Turn] = Turn.objects.filter(space=self.space)
        rows = rows.exclude(state=Turn.State.REDACTED).exclude(metadata__has_key=LOOKUP)
        return rows.exclude(id=self.question_turn_id) if self.question_turn_id else rows

    def _find_similar_turns(self, query: str) -> list[MemoryHit]:
        found = search_memories(self.space, query, limit=MAX_SIMILAR_TURNS, kinds=("turn",))
        items = [item for item in found.items if item.id != self.question_turn_id]
        return [MemoryHit(i.occurred_at, i.speaker, i.text, (i.id,)) for i in items]

    def _compute_day_range(self, first: date, last: date) -> tuple[datetime, datetime]:
        first, last = sorted((first, last))
        zone = ZoneInfo(self.space.timezone)
        until = datetime.combine(last + timedelta(days=1), time(), zone)
        return datetime.combine(first, time(), zone), until


def _build_words_filter(query: str) -> Q:
    words = re.findall(r"\w+", build_lexical_text(query)) or [query]
    wanted = Q()
    for word in words[:20]:
        wanted &= Q(text__icontains=word)
    return wanted


def _build_page(rows: QuerySet[Turn], page: int) -> MemoryHitPage:
    first = (page - 1) * PAGE_SIZE
    hits = [_build_turn_hit(turn) for turn in rows[first : first + PAGE_SIZE]]
    return MemoryHitPage(hits, rows.count(), page)


def _build_turn_hit(turn: Turn) -> MemoryHit:
    return MemoryHit(turn.occurred_at, turn.speaker, turn.text, (turn.id,))
