"""A space to recall from, written by hand and indexed by the table of vectors."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any
from uuid import UUID, uuid4

from memoryhub.dialogues.models import Turn
from memoryhub.recall.arms import Visibility
from memoryhub.recall.asking import Ask, Clock, prepare
from memoryhub.tenants.models import Space
from memoryhub.tenants.scope import tenant_scope
from notes import indexing
from notes.indexing import Entry
from notes.lexemes import lexical_text
from notes.models import (
    Derivation,
    Entity,
    Episode,
    EvolutionEvent,
    Fact,
    Link,
    Note,
    Page,
    Relation,
    Segment,
    SegmentPage,
)
from tests.support.hub import Hub


class Scene:
    def __init__(self, hub: Hub) -> None:
        self.hub = hub

    @property
    def space(self) -> Space:
        return self.hub.space

    def near(self, **vectors: Sequence[float]) -> None:
        """What a text with this word in it is embedded as."""
        self.hub.embedder.table |= vectors

    def ask(self, question: str, **options: Any) -> Ask:
        visibility = Visibility(self.hub.now, **options)
        return prepare(self.space, question, visibility, Clock(), name_entities=True)[0]

    def say(self, *texts: str, read: bool = True, session: str = "s1") -> list[Turn]:
        """Each text an exchange of its own: a page with one turn."""
        turns = self.hub.say(*texts, session=session).turns
        if read:
            with tenant_scope(self.hub.tenant.id):
                self._index(indexing.turn_entries(turns, self.space.speakers))
                Turn.objects.filter(id__in=[turn.id for turn in turns]).update(state="processed")
        return turns

    def page(self, turn: Turn, **values: Any) -> Page:
        """The page of a turn, with these values."""
        with tenant_scope(self.hub.tenant.id):
            rows = Page.objects.filter(space=self.space, first_seq=turn.seq)
            if values:
                rows.update(**values)
            found: Page = rows.get()
        return found

    def fact(self, text: str, turn: Turn | None = None, **values: Any) -> Fact:
        times = dict.fromkeys(("valid_from", "asserted_at", "recorded_at"), self.hub.now)
        who = {"owner": "Ana", "speaker": "Ana", "text_key": uuid4().hex}
        fact: Fact = self._add(Fact(text=text, **times | who | values), turn)
        with tenant_scope(self.hub.tenant.id):
            self._index(indexing.fact_entries([fact]))
        return fact

    def note(self, content: str, turn: Turn | None = None, **values: Any) -> Note:
        times = {"occurred_at": self.hub.now, "created_at": self.hub.now}
        note: Note = self._add(Note(content=content, **times | values), turn)
        with tenant_scope(self.hub.tenant.id):
            self._index(indexing.note_entries([note]))
        return note

    def link(self, one: Note, other: Note, **values: Any) -> Link:
        a, b = sorted((one.id, other.id))
        made: Link = self._add(Link(a_id=a, b_id=b, created_at=self.hub.now, **values))
        return made

    def segment(
        self, summary: str, *turns: Turn, keywords: Sequence[str] = (), **values: Any
    ) -> Any:
        times = dict.fromkeys(("started_at", "ended_at", "last_visited_at"), self.hub.now)
        row = Segment(summary=summary, keywords=list(keywords), **times | values)
        segment: Segment = self._add(row)
        for turn in turns:
            self.join(segment, self.page(turn, tier="mtm"))
        self._entry("segment", segment.id, f"{summary} {' '.join(keywords)}")
        return segment

    def join(self, segment: Segment, page: Page) -> None:
        self._add(SegmentPage(segment=segment, page=page, added_at=self.hub.now))

    def episode(self, kind: str, text: str, at: datetime | None = None, **values: Any) -> Episode:
        at = at or self.hub.now
        span = {"from_seq": 1, "to_seq": 1, "from_at": at, "to_at": at}
        episode: Episode = self._add(Episode(kind=kind, text=text, **span | values))
        self._entry("episode", episode.id, text)
        return episode

    def entity(self, name: str, **values: Any) -> Entity:
        made: Entity = self._add(Entity(name=name, canonical_key=name.casefold(), **values))
        return made

    def relation(self, fact: Fact, src: Entity, label: str, dst: Entity) -> Relation:
        made: Relation = self._add(Relation(fact=fact, src=src, label=label, dst=dst))
        self._entry("relation", made.id, fact.text)
        return made

    def _add(self, row: Any, turn: Turn | None = None) -> Any:
        with tenant_scope(self.hub.tenant.id):
            row.tenant_id, row.space = self.hub.tenant.id, self.space
            row.save(force_insert=True)
            if turn:
                self._derive(row, turn)
        return row

    def _derive(self, row: Any, turn: Turn, role: str = "support") -> None:
        places = {"tenant_id": self.hub.tenant.id, "space": self.space}
        event = EvolutionEvent.objects.create(
            **places, kind="resolve", actor="test", created_at=self.hub.now
        )
        kind = row._meta.model_name
        Derivation.objects.create(
            **places, child_type=kind, child_id=row.id, turn=turn, role=role, event=event
        )

    def related(self, row: Any, turn: Turn) -> None:
        """The turn as context that the row was read in (R_t)."""
        with tenant_scope(self.hub.tenant.id):
            self._derive(row, turn, "context")

    def _entry(self, kind: indexing.Kind, owner: UUID, text: str) -> None:
        with tenant_scope(self.hub.tenant.id):
            self._index([Entry(kind, owner, 0, text, (), lexical_text(text), "")])

    def _index(self, entries: list[Entry]) -> None:
        vectors = indexing.embed_entries(entries, self.hub.embedder)
        indexing.write_entries(self.space, self.hub.embedder.name, entries, vectors)
