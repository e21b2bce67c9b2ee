"""Which events still stand: not one that was undone, but one whose undoing was undone. Pure."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping
from heapq import heapify, heappop, heappush
from typing import Any
from uuid import UUID


class EventStanding:
    """Of the undos of a space, as (undo, what it undid)."""

    def __init__(self, undos: Iterable[tuple[UUID, UUID]]) -> None:
        self.target: dict[UUID, UUID] = dict(undos)
        self._undos: dict[UUID, list[UUID]] = defaultdict(list)
        for undo, target in self.target.items():
            self._undos[target].append(undo)

    def is_standing(self, event: UUID) -> bool:
        return not any(self.is_standing(undo) for undo in self._undos.get(event, ()))

    def find_origin(self, event: UUID) -> UUID:
        """What was done at first, of an undo, a redo and so on; of any other event itself."""
        while event in self.target:
            event = self.target[event]
        return event

    def select_standing(self, events: Collection[UUID]) -> set[UUID]:
        """Those whose effect is left when all of `events` are taken together.

        An undo and what it undid cancel out; an undo of something older does not.
        """
        taken = set(events)
        return {e for e in taken if self.is_standing(e) and self.target.get(e) not in taken}


def sort_newest_first(age: Mapping[UUID, Any], before: Iterable[tuple[UUID, UUID]]) -> list[UUID]:
    """The keys of `age` by descending age, but every (later, earlier) of `before` in that order.

    Events of one transaction have the same time: only the versions of their rows tell which
    came first.
    """
    earlier: dict[UUID, set[UUID]] = {event: set() for event in age}
    for after, first in before:
        earlier[after].add(first)
    waits = Counter(event for of_one in earlier.values() for event in of_one)
    rank = {e: n for n, e in enumerate(sorted(age, key=age.__getitem__, reverse=True))}
    ready = [(rank[event], event) for event in age if not waits[event]]
    heapify(ready)
    ordered: list[UUID] = []
    while ready:
        _, done = heappop(ready)
        ordered.append(done)
        for event in earlier[done]:
            waits[event] -= 1
            if not waits[event]:
                heappush(ready, (rank[event], event))
    return ordered
