"""What a caller changes of its own memories: new words, other metadata, another end; and gone.

Unlike a person's correction this is no word against the pipeline: what is read later may still
reword or end the memory. Several of one space are one event, and done or undone together.
Functions open their own scopes and embed with nothing open: call them outside of a transaction.
They raise NotFound, and Conflict for what is not held any more or is protected.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.utils.translation import gettext as _

from memoryhub.dialogues.messages import checked_text
from memoryhub.errors import Conflict, InvalidInput
from memoryhub.tenants.models import Space
from notes import shelving
from notes.correcting import Read, by_hand
from notes.models import EvolutionEvent, Fact
from notes.recording import ChangeSet
from notes.workbench import Workbench
from notes.works import refuse_retired, removing, supports, version_of


class Unset:
    """Stands for "as it is", where None says something."""


UNSET = Unset()


@dataclass(frozen=True, slots=True)
class Amendment:
    """What becomes of a memory; what is None or UNSET stays as it is. `until` None: no end.

    `said_at`: when it was said, and since when it holds.
    """

    text: str | None = None
    metadata: Mapping[str, Any] | None = None
    said_at: datetime | None = None
    until: datetime | Unset | None = UNSET


def amend(
    space: Space,
    amendments: Mapping[UUID, Amendment],
    actor: str,
    now: datetime,
    *,
    reason: str = "",
) -> EvolutionEvent:
    """Change these facts, by id, in one event. A new text is a new version of the memory."""

    def work(bench: Workbench, changes: ChangeSet) -> None:
        bench.load({("fact", fact_id) for fact_id in amendments})
        for fact_id, amendment in amendments.items():
            _amend(bench, changes, _held(bench, fact_id), amendment)

    return by_hand(space, actor, now, reason or "changed by its owner", work)


def remove(
    space: Space,
    fact_ids: Collection[UUID],
    actor: str,
    now: datetime,
    *,
    reason: str = "",
    read: Read | None = None,
) -> EvolutionEvent:
    """Hold these facts no longer, in one event. What they had ended stays ended; said again, they
    are new. It can be undone; an erasure can't. Raises Outdated where one is not as `read`."""

    return by_hand(space, actor, now, reason or "deleted", removing(fact_ids), read)


def _held(bench: Workbench, fact_id: UUID) -> Fact:
    fact: Fact = bench.row("fact", fact_id)
    refuse_retired(fact)
    return fact


def _amend(bench: Workbench, changes: ChangeSet, fact: Fact, wanted: Amendment) -> None:
    if fact.is_protected:
        raise Conflict(_("this memory is pinned, or a person has corrected it"), code="protected")
    values = _values(fact, wanted)
    words = None if wanted.text is None else checked_text(wanted.text, field="text").strip()
    if words is None or words == fact.text:
        if values:
            bench.edit(changes, fact, **values)
        return
    new = version_of(fact, words, bench.now)
    for name, value in values.items():
        setattr(new, name, value)
    shelving.succeed(fact, new)
    bench.edit(changes, fact, retired_at=bench.now, shelf=fact.shelf, shelved_at=fact.shelved_at)
    bench.add(changes, new, supports(fact.id))


def _values(fact: Fact, wanted: Amendment) -> dict[str, Any]:
    """The columns that an amendment changes, without its words."""
    values: dict[str, Any] = {}
    if wanted.metadata is not None:
        values["metadata"] = dict(wanted.metadata)
    if wanted.said_at is not None:
        values |= {"asserted_at": wanted.said_at, "valid_from": wanted.said_at}
    if not isinstance(wanted.until, Unset):
        values["valid_to"] = wanted.until
        open_ended = wanted.until is None
        values["status"] = Fact.Status.ACTIVE if open_ended else Fact.Status.SUPERSEDED
    _refuse_backwards(fact, values)
    return {name: value for name, value in values.items() if value != getattr(fact, name)}


def _refuse_backwards(fact: Fact, values: Mapping[str, Any]) -> None:
    start = values.get("valid_from", fact.valid_from)
    end = values.get("valid_to", fact.valid_to)
    if end is not None and end < start:
        raise InvalidInput(_("that is before it began"), field="until")
