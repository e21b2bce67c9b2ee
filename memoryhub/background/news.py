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
    "turns.added": _("A message arrived"),
    "job.done": _("A processing step finished"),
    "job.failed": _("A processing step was given up"),
    "fact.added": _("A new fact"),
    "fact.changed": _("A fact was reworded or its values changed"),
    "fact.superseded": _("A fact was replaced by another"),
    "fact.ended": _("A fact is no longer true"),
    "fact.retracted": _("A fact was marked as never true"),
    "fact.deleted": _("A fact was removed"),
    "fact.restored": _("A fact is true again"),
    "note.added": _("A new note"),
    "note.evolved": _("A note's description changed"),
    "note.deleted": _("A note was removed"),
    "note.restored": _("A note was restored"),
    "episode.added": _("A summary was written"),
    "episode.changed": _("A summary was rewritten"),
    "episode.deleted": _("A summary was removed"),
    "episode.restored": _("A summary was restored"),
    "trait.added": _("A trait was assessed"),
    "trait.changed": _("A trait ended or was reassessed"),
    "trait.deleted": _("A trait was removed"),
    "trait.restored": _("A trait was restored"),
    "block.added": _("A new core block"),
    "block.changed": _("A core block changed"),
    "block.deleted": _("A core block was removed"),
    "block.restored": _("A core block was restored"),
    "conflict.opened": _("A case is waiting for a decision"),
    "conflict.resolved": _("A case was decided"),
    "erasure.done": _("Something was erased, with a receipt"),
    "budget.reached": _("The daily model budget is used up"),
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
