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

from django.utils.translation import gettext_noop as _

from memoryhub.declarations import load_declarations

NEWS_KINDS: dict[str, str] = {
    "turns.added": _("Something was said"),
    "job.done": _("A step of the work ended"),
    "job.failed": _("A step of the work was given up"),
    "fact.added": _("A new fact"),
    "fact.changed": _("A fact in other words, or with other values"),
    "fact.superseded": _("Another fact took a fact's place"),
    "fact.ended": _("A fact holds no longer"),
    "fact.retracted": _("A fact was never true"),
    "fact.deleted": _("A fact was taken away"),
    "fact.restored": _("A fact holds again"),
    "note.added": _("A new note"),
    "note.evolved": _("A note's description has changed"),
    "note.deleted": _("A note was taken away"),
    "note.restored": _("A note is back"),
    "episode.added": _("Something was summed up"),
    "episode.changed": _("It was summed up anew"),
    "episode.deleted": _("A summary was taken away"),
    "episode.restored": _("A summary is back"),
    "trait.added": _("A trait was assessed"),
    "trait.changed": _("A trait has ended, or was assessed anew"),
    "trait.deleted": _("A trait was taken away"),
    "trait.restored": _("A trait is back"),
    "block.added": _("A new core block"),
    "block.changed": _("A core block has changed"),
    "block.deleted": _("A core block was taken away"),
    "block.restored": _("A core block is back"),
    "conflict.opened": _("Something waits for a decision"),
    "conflict.resolved": _("It was decided"),
    "erasure.done": _("Something was erased, with a receipt"),
    "budget.reached": _("The day's budget for models is spent"),
}


@dataclass(frozen=True, slots=True)
class News:
    """`data`: ids and figures, never words. `once`: told a single time under this name."""

    kind: str
    at: datetime
    data: dict[str, Any] = field(default_factory=dict)
    space_id: UUID | None = None
    once: str = ""


NewsFactory = Callable[[], Iterable[News]]


def notify_listeners(tenant_id: UUID, make: NewsFactory) -> None:
    """Call inside the tenant's scope, in the transaction of the change. `make` is asked only by
    listeners who want to know."""
    for app in load_declarations().values():
        for listener in app.listeners:
            listener(tenant_id, make)
