"""What happened, told to whoever listens, in the transaction in which it happens.

Those who change something tell; nothing here knows who listens. What a listener writes stands or
falls with the change itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

KINDS: dict[str, str] = {
    "turns.added": "Something was said",
    "job.done": "A step of the work ended",
    "job.failed": "A step of the work was given up",
    "fact.added": "A new fact",
    "fact.changed": "A fact in other words, or with other values",
    "fact.superseded": "Another fact took a fact's place",
    "fact.ended": "A fact holds no longer",
    "fact.retracted": "A fact was never true",
    "fact.deleted": "A fact was taken away",
    "fact.restored": "A fact holds again",
    "note.added": "A new note",
    "note.evolved": "A note is described otherwise",
    "note.deleted": "A note was taken away",
    "note.restored": "A note is back",
    "episode.added": "Something was summed up",
    "episode.changed": "It was summed up anew",
    "episode.deleted": "A summary was taken away",
    "episode.restored": "A summary is back",
    "trait.added": "A trait was assessed",
    "trait.changed": "A trait is over, or assessed otherwise",
    "trait.deleted": "A trait was taken away",
    "trait.restored": "A trait is back",
    "block.added": "A new core block",
    "block.changed": "A core block says something else",
    "block.deleted": "A core block was taken away",
    "block.restored": "A core block is back",
    "conflict.opened": "Something waits for a decision",
    "conflict.resolved": "It was decided",
    "erasure.done": "Something was erased, with a receipt",
    "budget.reached": "The day's budget for models is spent",
}


@dataclass(frozen=True, slots=True)
class News:
    """`data`: ids and figures, never words. `once`: told a single time under this name."""

    kind: str
    at: datetime
    data: dict[str, Any] = field(default_factory=dict)
    space_id: UUID | None = None
    once: str = ""


Make = Callable[[], Iterable[News]]
Listener = Callable[[UUID, Make], None]
_LISTENERS: list[Listener] = []


def listen(listener: Listener) -> None:
    """Join in from a layer above, when its app is ready."""
    if listener not in _LISTENERS:
        _LISTENERS.append(listener)


def tell(tenant_id: UUID, make: Make) -> None:
    """Call inside the tenant's scope, in the transaction of the change. `make` is asked only by
    listeners who want to know."""
    for listener in _LISTENERS:
        listener(tenant_id, make)
