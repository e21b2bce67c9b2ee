"""Memories written by hand, as the steps write them: rows, events, index entries."""

from __future__ import annotations

from datetime import timedelta

from memoryhub.dialogues.messages import Message, text_hash
from memoryhub.dialogues.models import Turn
from memoryhub.dialogues.services import append_turns
from notes import indexing
from notes.models import EvolutionEvent, Fact, Link, Note
from notes.recording import ChangeSet, Source, values_of
from tests.support.hub import Hub

Kind = EvolutionEvent.Kind


class Hand:
    """Writes as the steps do: rows with their events, and their index entries."""

    def __init__(self, hub: Hub) -> None:
        self.hub, self.space = hub, hub.space

    def turn(self, text: str) -> Turn:
        (turn,) = append_turns(
            self.space, [Message("user", text, "Ana")], received=self.hub.now
        ).new
        return turn

    def claim(self, text: str, value: str, day: int = 0) -> EvolutionEvent:
        at = self.hub.now + timedelta(days=day)
        fact = Fact(
            tenant_id=self.space.tenant_id,
            space=self.space,
            owner="Ana",
            speaker="Ana",
            text=text,
            text_key=text_hash(text),
            predicate_key="lives_in",
            cardinality="single",
            o=value,
            valid_from=at,
            asserted_at=at,
            recorded_at=self.hub.now,
        )
        changes = self.changes(Kind.RESOLVE)
        if old := Fact.objects.filter(valid_to=None, retired_at=None).first():
            was = values_of(old)
            old.valid_to, old.status, old.version = at, Fact.Status.SUPERSEDED, old.version + 1
            old.save()
            changes.changed(old, was)
            fact.lineage, fact.supersedes = old.lineage, old
        fact.save(force_insert=True)
        changes.created(fact, [Source(self.turn(text).id)])
        changes.save()
        self.index(indexing.fact_entries([fact]))
        return changes.event

    def note(self, content: str) -> Note:
        turn = self.turn(content)
        note = Note(
            tenant_id=self.space.tenant_id,
            space=self.space,
            content=content,
            occurred_at=self.hub.now,
            created_at=self.hub.now,
        )
        note.save(force_insert=True)
        changes = self.changes(Kind.EVOLVE)
        changes.created(note, [Source(turn.id)])
        changes.save()
        self.index(indexing.note_entries([note]))
        return note

    def evolve(self, note: Note, *keywords: str, link: Note | None = None) -> EvolutionEvent:
        changes = self.changes(Kind.EVOLVE)
        note.refresh_from_db()
        was = values_of(note)
        note.keywords, note.version = [*note.keywords, *keywords], note.version + 1
        note.save()
        changes.changed(note, was)
        if link:
            a, b = sorted((note.id, link.id))
            row = Link(
                tenant_id=self.space.tenant_id,
                space=self.space,
                a_id=a,
                b_id=b,
                created_at=self.hub.now,
            )
            row.save(force_insert=True)
            changes.created(row, [])
        changes.save()
        self.index(indexing.note_entries([note]))
        return changes.event

    def changes(self, kind: str) -> ChangeSet:
        return ChangeSet(self.space, kind, "pipeline", self.hub.now, reason="said")

    def index(self, entries: list[indexing.Entry]) -> None:
        vectors = indexing.embed_entries(entries, self.hub.embedder)
        indexing.write_entries(self.space, self.hub.embedder.name, entries, vectors)
