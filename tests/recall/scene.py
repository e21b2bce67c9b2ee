"""A space to recall from, written by hand and indexed by the table of vectors."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any
from uuid import UUID, uuid4

from memoryhub.dialogues.models import Turn
from memoryhub.pipeline.naming import set_subject_name
from memoryhub.recall.question.caller import SearchVisibility
from memoryhub.recall.question.prepare import PreparedQuestion, StageTimer, prepare_question
from memoryhub.tenants.models import Space
from memoryhub.tenants.scope import tenant_scope
from notes.index import indexer
from notes.index.indexer import EntryDraft
from notes.index.lexemes import build_lexical_text
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
from tests.support.hub import ScriptedHub


class RecallScene:
    def __init__(self, hub: ScriptedHub) -> None:
        self.hub = hub

    @property
    def space(self) -> Space:
        return self.hub.space

    def set_name(self, name: str) -> None:
        """What the subject is called from now on."""
        set_subject_name(self.space, name, "eva", self.hub.now)

    def set_vectors(self, **vectors: Sequence[float]) -> None:
        """What a text with this word in it is embedded as."""
        self.hub.embedder.table |= vectors

    def prepare_ask(self, question: str, **options: Any) -> PreparedQuestion:
        visibility = SearchVisibility(self.hub.now, **options)
        return prepare_question(self.space, question, visibility, StageTimer(), name_entities=True)[
            0
        ]

    def say(self, *texts: str, read: bool = True, session: str = "s1") -> list[Turn]:
        """Each text an exchange of its own: a page with one turn."""
        turns = self.hub.say(*texts, session=session).turns
        if read:
            with tenant_scope(self.hub.tenant.id):
                self._index_entries(indexer.build_turn_entries(turns, self.space.speakers))
                Turn.objects.filter(id__in=[turn.id for turn in turns]).update(state="processed")
        return turns

    def get_page(self, turn: Turn, **values: Any) -> Page:
        """The page of a turn, with these values."""
        with tenant_scope(self.hub.tenant.id):
            rows = Page.objects.filter(space=self.space, first_seq=turn.seq)
            if values:
                rows.update(**values)
            found: Page = rows.get()
        return found

    def add_fact(self, text: str, turn: Turn | None = None, **values: Any) -> Fact:
        times = dict.fromkeys(("valid_from", "asserted_at", "recorded_at"), self.hub.now)
        who = {"owner": "Ana", "speaker": "Ana", "text_key": uuid4().hex}
        fact: Fact = self._save_row(Fact(text=text, **times | who | values), turn)
        with tenant_scope(self.hub.tenant.id):
            self._index_entries(indexer.build_fact_entries([fact]))
        return fact

    def add_note(self, content: str, turn: Turn | None = None, **values: Any) -> Note:
        times = {"occurred_at": self.hub.now, "created_at": self.hub.now}
        note: Note = self._save_row(Note(content=content, **times | values), turn)
        with tenant_scope(self.hub.tenant.id):
            self._index_entries(indexer.build_note_entries([note]))
        return note

    def add_link(self, one: Note, other: Note, **values: Any) -> Link:
        a, b = sorted((one.id, other.id))
        made: Link = self._save_row(Link(a_id=a, b_id=b, created_at=self.hub.now, **values))
        return made

    def add_segment(
        self, summary: str, *turns: Turn, keywords: Sequence[str] = (), **values: Any
    ) -> Any:
        times = dict.fromkeys(("started_at", "ended_at", "last_visited_at"), self.hub.now)
        row = Segment(summary=summary, keywords=list(keywords), **times | values)
        segment: Segment = self._save_row(row)
        for turn in turns:
            self.add_page_to_segment(segment, self.get_page(turn, tier="mtm"))
        self._add_entry("segment", segment.id, f"{summary} {' '.join(keywords)}")
        return segment

    def add_page_to_segment(self, segment: Segment, page: Page) -> None:
        self._save_row(SegmentPage(segment=segment, page=page, added_at=self.hub.now))

    def add_episode(
        self, kind: str, text: str, at: datetime | None = None, **values: Any
    ) -> Episode:
        at = at or self.hub.now
        span = {"from_seq": 1, "to_seq": 1, "from_at": at, "to_at": at}
        episode: Episode = self._save_row(Episode(kind=kind, text=text, **span | values))
        self._add_entry("episode", episode.id, text)
        return episode

    def add_entity(self, name: str, **values: Any) -> Entity:
        made: Entity = self._save_row(Entity(name=name, canonical_key=name.casefold(), **values))
        self._add_entry("entity", made.id, name)
        return made

    def add_relation(self, fact: Fact, src: Entity, label: str, dst: Entity) -> Relation:
        made: Relation = self._save_row(Relation(fact=fact, src=src, label=label, dst=dst))
        self._add_entry("relation", made.id, fact.text)
        return made

    def _save_row(self, row: Any, turn: Turn | None = None) -> Any:
        with tenant_scope(self.hub.tenant.id):
            row.tenant_id, row.space = self.hub.tenant.id, self.space
            row.save(force_insert=True)
            if turn:
                self._add_derivation(row, turn)
        return row

    def _add_derivation(self, row: Any, turn: Turn, role: str = "support") -> None:
        places = {"tenant_id": self.hub.tenant.id, "space": self.space}
        event = EvolutionEvent.objects.create(
            **places, kind="resolve", actor="test", created_at=self.hub.now
        )
        kind = row._meta.model_name
        Derivation.objects.create(
            **places, child_type=kind, child_id=row.id, turn=turn, role=role, event=event
        )

    def add_source(self, row: Any, turn: Turn) -> None:
        """One more turn that the memory rests on."""
        with tenant_scope(self.hub.tenant.id):
            self._add_derivation(row, turn)

    def add_context_turn(self, row: Any, turn: Turn) -> None:
        """The turn as context that the row was read in (R_t)."""
        with tenant_scope(self.hub.tenant.id):
            self._add_derivation(row, turn, "context")

    def _add_entry(self, kind: indexer.EntryKind, owner: UUID, text: str) -> None:
        with tenant_scope(self.hub.tenant.id):
            self._index_entries(
                [EntryDraft(kind, owner, 0, text, (), build_lexical_text(text), "")]
            )

    def _index_entries(self, entries: list[EntryDraft]) -> None:
        vectors = indexer.embed_entries(entries, self.hub.embedder)
        indexer.write_entries(self.space, self.hub.embedder.name, entries, vectors)
