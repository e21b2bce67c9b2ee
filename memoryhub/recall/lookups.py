"""What an agent's memory tools find: everything that was said, page by page (MemGPT, spec §3.3).

Words come first: turns that contain all that was asked for, in order. Only when there are none is
the question searched for its meaning, best first.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from typing import Literal
from uuid import UUID
from zoneinfo import ZoneInfo

from django.db.models import Q, QuerySet

from memoryhub.dialogues.models import Turn
from memoryhub.models_in_use import embedder_for
from memoryhub.recall.services import search
from memoryhub.tenants.models import Space
from memoryhub.tenants.scope import tenant_scope
from notes import archive
from notes.lexemes import lexical_text
from notes.models import Note
from personas.tools import PAGE_SIZE, Found, Hit, page_of

# Found by meaning, there is no end of what is a little like it.
MOST_ALIKE = 25


@dataclass(frozen=True, slots=True)
class SpaceMemory:
    """`personas.tools.Memory` of one space, for one agent that answers the turn `asked`."""

    space: Space
    agent: str
    now: datetime
    asked: UUID | None = None

    def recall(self, query: str, page: int) -> Found:
        """Turns with all the words of the query, the newest first, else those of its meaning."""
        with tenant_scope(self.space.tenant_id):
            rows = self._said().filter(_all_words(query)).order_by("-seq")
            if rows.exists():
                return _page(rows, page)
        return page_of(self._alike(query), page)

    def recall_dates(self, start: date, end: date, page: int) -> Found:
        """What was said on these days of the space, both included, in order."""
        since, until = self._days(start, end)
        with tenant_scope(self.space.tenant_id):
            rows = self._said().filter(occurred_at__gte=since, occurred_at__lt=until)
            return _page(rows.order_by("seq"), page)

    def archive(self, text: str, tags: Sequence[str]) -> None:
        turns = [self.asked] if self.asked else []
        archive.insert(
            self.space,
            text,
            embedder_for(self.space),
            author=self.agent,
            now=self.now,
            tags=tags,
            turn_ids=turns,
        )

    def archival(
        self,
        query: str,
        page: int,
        tags: Sequence[str],
        tag_mode: Literal["any", "all"],
        start: date | None,
        end: date | None,
    ) -> Found:
        since = self._days(start, start)[0] if start else None
        until = self._days(end, end)[1] if end else None
        wanted = archive.Wanted(query, tags, tag_mode, since, until)
        found = archive.search(
            self.space, wanted, embedder_for(self.space), page=page, size=PAGE_SIZE
        )
        return Found([_passage(note) for note in found.notes], found.total, page)

    def _said(self) -> QuerySet[Turn]:
        """All turns of the space but the one that is being answered."""
        rows: QuerySet[Turn] = Turn.objects.filter(space=self.space)
        rows = rows.exclude(state=Turn.State.REDACTED)
        return rows.exclude(id=self.asked) if self.asked else rows

    def _alike(self, query: str) -> list[Hit]:
        found = search(self.space, query, limit=MOST_ALIKE, kinds=("turn",))
        items = [item for item in found.items if item.id != self.asked]
        return [Hit(item.occurred_at, item.speaker, item.text) for item in items]

    def _days(self, first: date, last: date) -> tuple[datetime, datetime]:
        first, last = sorted((first, last))
        zone = ZoneInfo(self.space.timezone)
        until = datetime.combine(last + timedelta(days=1), time(), zone)
        return datetime.combine(first, time(), zone), until


def _all_words(query: str) -> Q:
    words = re.findall(r"\w+", lexical_text(query)) or [query]
    wanted = Q()
    for word in words[:20]:
        wanted &= Q(text__icontains=word)
    return wanted


def _page(rows: QuerySet[Turn], page: int) -> Found:
    first = (page - 1) * PAGE_SIZE
    hits = [_hit(turn) for turn in rows[first : first + PAGE_SIZE]]
    return Found(hits, rows.count(), page)


def _hit(turn: Turn) -> Hit:
    return Hit(turn.occurred_at, turn.speaker, turn.text)


def _passage(note: Note) -> Hit:
    return Hit(note.occurred_at, note.author, note.content)
