"""Which events still stand: not one that was undone, but one whose undoing was undone. Pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from heapq import heapify, heappop, heappush
from typing import Any
from uuid import UUID


class Standing:
    """Of the undos of a space, as (undo, what it undid)."""

    def __init__(self, undos: Iterable[tuple[UUID, UUID]]) -> None:
        self.target: dict[UUID, UUID] = dict(undos)
        self._undos: dict[UUID, list[UUID]] = defaultdict(list)
        for undo, target in self.target.items():
            self._undos[target].append(undo)

    def stands(self, event: UUID) -> bool:
        return not any(self.stands(undo) for undo in self._undos.get(event, ()))

    def net(self, events: Collection[UUID]) -> set[UUID]:
        """Those whose effect is left when all of `events` are taken together.

        An undo and what it undid cancel out; an undo of something older does not.
        """
        taken = set(events)
        return {e for e in taken if self.stands(e) and self.target.get(e) not in taken}


def newest_first(age: Mapping[UUID, Any], before: Iterable[tuple[UUID, UUID]]) -> list[UUID]:
    """The keys of `age` by descending age, but every (later, earlier) of `before` in that order.

    Events of one transaction have the same time: only the versions of their rows tell which
    came first.
    """
    waits: dict[UUID, set[UUID]] = {event: set() for event in age}
    for after, first in before:
        waits[first].add(after)
    rank = {e: n for n, e in enumerate(sorted(age, key=age.__getitem__, reverse=True))}
    ready = [(rank[event], event) for event, later in waits.items() if not later]
    heapify(ready)
    ordered: list[UUID] = []
    while ready:
        _, done = heappop(ready)
        ordered.append(done)
        for event, later in waits.items():
            if done in later:
                later.remove(done)
                if not later:
                    heappush(ready, (rank[event], event))
    return ordered
