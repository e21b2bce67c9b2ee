"""The shelf: facts always considered, whatever is asked (MemoryOS' knowledge base, spec §11.4).

A bounded view, not a store: the newest `cap` shelved facts that hold, of the user and of the
agent each. Falling off it only ends the privilege (C10); the fact stays where it was.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Any

from django.db.models import QuerySet

from memoryhub.tenants.models import Space
from notes.facts.validity import filter_current
from notes.history.change_set import ChangeSet
from notes.history.unit_of_work import UnitOfWork
from notes.models import Fact

OFF_SHELF: dict[str, Any] = {"shelf": Fact.Shelf.NONE, "shelved_at": None}


def filter_shelved(space: Space, kind: str, at: datetime) -> QuerySet[Fact]:
    """All that were shelved and hold at `at`, newest first, also those that fell off."""
    return sort_newest_first(filter_current(Fact.objects.filter(space=space, shelf=kind), at))


def sort_newest_first(rows: QuerySet[Fact]) -> QuerySet[Fact]:
    return rows.order_by("-shelved_at", "-id")


def select_within_cap(rows: QuerySet[Fact], cap: int) -> list[Fact]:
    """The pinned of these and the first `cap` others."""
    return [*rows.filter(pinned=True), *rows.filter(pinned=False)[:cap]]


def shelve_facts(facts: Iterable[Fact], kind: str, changes: ChangeSet, now: datetime) -> int:
    """Shelve facts that are not yet, and say how many those were. What they say is untouched,
    so that this is no overwriting of a pinned or corrected fact.

    Call in the transaction that saves `changes`; the facts as the database has them now.
    """
    new = [fact for fact in facts if not fact.shelf]
    unit = UnitOfWork.from_change_set(changes)
    for fact in new:
        unit.edit_row(changes, fact, shelf=kind, shelved_at=now)
    unit.write_rows()
    return len(new)


def hand_over_shelf_slot(old: Fact, new: Fact) -> None:
    """Give a superseded fact's slot to its successor. Only sets columns: the caller saves both
    rows and their revisions."""
    if old.shelf and not new.shelf:
        new.shelf, new.shelved_at = old.shelf, old.shelved_at
    old.shelf, old.shelved_at = Fact.Shelf.NONE, None
