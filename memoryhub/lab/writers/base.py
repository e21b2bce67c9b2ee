"""A session that has been derived, handed to a system that writes more of it than a policy does.

What is written are the hub's own rows, with their sources and their history.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Protocol

from memoryhub.dialogues.messages import hash_text
from memoryhub.dialogues.models import Session, Turn
from memoryhub.engines.types import Engine
from memoryhub.pipeline.corrections import Edit, UnitOfWork
from memoryhub.tenants.models import Space
from notes.history.change_set import ChangeSet, TurnEvidence
from notes.models import Fact

ACTOR = "lab"


@dataclass(frozen=True, slots=True)
class WriterInputs:
    """`now`: when the session was over. `options` are the system's, as its reader has them."""

    space: Space
    session: Session
    engine: Engine
    now: datetime
    options: Mapping[str, Any] = field(default_factory=dict)


class MemoryWriter(Protocol):
    """Called once a session, and again for one that was broken off: it goes on where it stood.

    Opens its own scopes. Raises EngineError.
    """

    def __call__(self, place: WriterInputs) -> None: ...


def build_statement(place: WriterInputs, text: str, turns: Sequence[Turn], now: datetime) -> Fact:
    """A fact in these words, not saved, held from when the last of `turns`, never none, was said.

    It is about whoever of those who said it is named in it, else about the space's subject.
    """
    subject = place.space.name or place.space.subject
    owner = next((t.speaker for t in turns if t.speaker and t.speaker in text), subject)[:120]
    at = max(turn.occurred_at for turn in turns)
    return Fact(
        tenant_id=place.space.tenant_id,
        space=place.space,
        owner=owner,
        speaker=turns[0].speaker,
        text=text,
        text_key=hash_text(f"{owner} {text}"),
        valid_from=at,
        asserted_at=at,
        recorded_at=now,
        engine=f"{place.engine.name}/{place.engine.version}"[:60],
    )


def add_statement(fact: Fact, turns: Sequence[Turn]) -> Edit:
    """For `memoryhub.pipeline.corrections.edit_rows`."""

    def edit(bench: UnitOfWork, changes: ChangeSet) -> None:
        bench.add_row(changes, fact, [TurnEvidence(turn.id) for turn in turns])

    return edit
