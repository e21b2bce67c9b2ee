"""Memories written by hand, as the steps write them: rows, events, index entries."""

from __future__ import annotations

from datetime import timedelta

from memoryhub.dialogues.messages import Message, hash_text
from memoryhub.dialogues.models import Turn
from memoryhub.dialogues.services import append_turns
from notes.history.change_set import ChangeSet, TurnEvidence, serialize_row
from notes.index import indexer
from notes.models import EvolutionEvent, Fact, Link, Note
from tests.support.hub import ScriptedHub

Kind = EvolutionEvent.Kind


class HandWriter:
    """Writes as the steps do: rows with their events, and their index entries."""

    def __init__(self, hub: ScriptedHub) -> None:
        self.hub, self.space = hub, hub.space

    def add_turn(self, text: str) -> Turn:
        (turn,) = append_turns(
            self.space, [Message("user", text, "Ana")], received=self.hub.now
        ).new
        return turn

    def add_claim(self, text: str, value: str, day: int = 0) -> EvolutionEvent:
        at = self.hub.now + timedelta(days=day)
        fact = Fact(
            tenant_id=self.space.tenant_id,
            space=self.space,
            owner="Ana",
            speaker="Ana",
            text=text,
            text_key=hash_text(text),
            predicate_key="lives_in",
            cardinality="single",
            object=value,
            valid_from=at,
            asserted_at=at,
            recorded_at=self.hub.now,
        )
        changes = self.build_change_set(Kind.RESOLVE)
        if old := Fact.objects.filter(valid_to=None, retired_at=None).first():
            was = serialize_row(old)
            old.valid_to, old.status, old.version = at, Fact.Status.SUPERSEDED, old.version + 1
            old.save()
            changes.record_change(old, was)
            fact.lineage, fact.supersedes = old.lineage, old
        fact.save(force_insert=True)
        changes.record_creation(fact, [TurnEvidence(self.add_turn(text).id)])
        changes.save()
        self.index_entries(indexer.build_fact_entries([fact]))
        return changes.event

    def add_note(self, content: str) -> Note:
        turn = self.add_turn(content)
        note = Note(
            tenant_id=self.space.tenant_id,
            space=self.space,
            content=content,
            occurred_at=self.hub.now,
            created_at=self.hub.now,
        )
        note.save(force_insert=True)
        changes = self.build_change_set(Kind.EVOLVE)
        changes.record_creation(note, [TurnEvidence(turn.id)])
        changes.save()
        self.index_entries(indexer.build_note_entries([note]))
        return note

    def evolve_note(self, note: Note, *keywords: str, link: Note | None = None) -> EvolutionEvent:
        changes = self.build_change_set(Kind.EVOLVE)
        note.refresh_from_db()
        was = serialize_row(note)
        note.keywords, note.version = [*note.keywords, *keywords], note.version + 1
        note.save()
        changes.record_change(note, was)
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
            changes.record_creation(row, [])
        changes.save()
        self.index_entries(indexer.build_note_entries([note]))
        return changes.event

    def build_change_set(self, kind: str) -> ChangeSet:
        return ChangeSet(self.space, kind, "pipeline", self.hub.now, reason="said")

    def index_entries(self, entries: list[indexer.EntryDraft]) -> None:
        vectors = indexer.embed_entries(entries, self.hub.embedder)
        indexer.write_entries(self.space, self.hub.embedder.name, entries, vectors)
