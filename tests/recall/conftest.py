from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

import pytest

from memoryhub.dialogues.messages import Message
from memoryhub.dialogues.models import Turn
from memoryhub.dialogues.services import append_turns
from memoryhub.inference import selection
from memoryhub.tenants.models import Space, Tenant
from memoryhub.tenants.scope import tenant_scope
from memoryhub.tenants.services import create_tenant, ensure_space
from notes.index.indexer import (
    build_fact_entries,
    build_note_entries,
    build_turn_entries,
    embed_entries,
    write_entries,
)
from notes.models import Derivation, EvolutionEvent, Fact, Note
from tests.recall.scene import RecallScene
from tests.support.hub import ScriptedHub

AT = datetime(2026, 5, 8, 9, tzinfo=UTC)


class RecallWorld:
    """A tenant's space to fill and to search. Everything is indexed with the real embedder."""

    def __init__(self, tenant: Tenant, subject: str = "ana") -> None:
        self.tenant = tenant
        with tenant_scope(tenant.id):
            self.space: Space = ensure_space(tenant.id, subject)

    def add_lines(self, *lines: str, at: datetime = AT, session: str = "") -> list[Turn]:
        """Store and index lines written "Speaker: text", of one session."""
        said = [line.split(": ", 1) for line in lines]
        messages = [
            Message("user", text, speaker, timestamp=at + timedelta(seconds=n))
            for n, (speaker, text) in enumerate(said)
        ]
        with tenant_scope(self.tenant.id):
            turns = append_turns(
                self.space, messages, received=at, session_id=session or uuid4().hex
            ).turns
            self.space.refresh_from_db()
            self._index_entries(build_turn_entries(turns, self.space.speakers))
        return turns

    def add_talk_with_assistant(self) -> None:
        said = [Message("user", "Hello there.", "Ana"), Message("assistant", "Hello.", "Hub")]
        with tenant_scope(self.tenant.id):
            append_turns(self.space, said, received=AT, session_id=uuid4().hex)
            self.space.refresh_from_db()

    def add_fact(self, text: str, source: Turn | None = None, **values: Any) -> Fact:
        """A fact about Ana, true from AT on unless told otherwise."""
        values = {
            "owner": "Ana",
            "speaker": "Ana",
            "valid_from": AT,
            "asserted_at": AT,
            "recorded_at": AT,
        } | values
        with tenant_scope(self.tenant.id):
            fact: Fact = Fact.objects.create(
                tenant=self.tenant, space=self.space, text=text, text_key=uuid4().hex, **values
            )
            self._index_entries(build_fact_entries([fact]))
            if source:
                self._add_derivation("fact", fact, source)
        return fact

    def add_note(self, content: str, source: Turn | None = None, **values: Any) -> Note:
        with tenant_scope(self.tenant.id):
            note: Note = Note.objects.create(
                tenant=self.tenant,
                space=self.space,
                content=content,
                **{"occurred_at": AT, "created_at": AT} | values,
            )
            self._index_entries(build_note_entries([note]))
            if source:
                self._add_derivation("note", note, source)
        return note

    def _index_entries(self, entries: list[Any]) -> None:
        model = selection.get_configured_embedder()
        write_entries(self.space, model.name, entries, embed_entries(entries, model))

    def _add_derivation(self, kind: str, row: Any, source: Turn) -> None:
        places = {"tenant": self.tenant, "space": self.space}
        event = EvolutionEvent.objects.create(**places, kind="resolve", actor="test", created_at=AT)
        Derivation.objects.create(
            **places,
            child_type=kind,
            child_id=row.id,
            turn=source,
            span_start=0,
            span_end=len(source.text),
            event=event,
        )


@pytest.fixture
def new_world(db: None) -> Callable[[str], RecallWorld]:
    return lambda slug: RecallWorld(create_tenant(slug, slug))


@pytest.fixture
def world(new_world: Callable[[str], RecallWorld]) -> RecallWorld:
    return new_world("one")


@pytest.fixture
def chatty(world: RecallWorld) -> RecallWorld:
    """A space with enough small talk for scores to mean something."""
    world.add_lines(
        "Ana: Good morning! I finally repaired the old bicycle.",
        "Ben: Nice, was the chain broken?",
        "Ana: It was, and both brakes squeaked.",
        "Ben: I baked sourdough bread on Sunday, it rose beautifully.",
        "Ana: My sister Clara plays the cello in an orchestra.",
        "Ben: My dog Rufus ate one of my shoes.",
    )
    return world


@pytest.fixture
def scene(hub: ScriptedHub) -> RecallScene:
    return RecallScene(hub)
