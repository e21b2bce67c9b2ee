"""The hub's own way: the context that its API hands out."""

from __future__ import annotations

from datetime import datetime

from memoryhub.lab.readers.base import ReaderInputs, ReaderResult
from memoryhub.recall.context import MemoryContext, build_context
from memoryhub.recall.render.pack import MOST_TOKENS
from memoryhub.recall.render.results import MemoryItem


class HubReader:
    """What was found comes first, by score; then what is there whatever is asked.

    With `whole` everything is handed over in its order, however much it is (BL1).
    """

    def __init__(self, place: ReaderInputs) -> None:
        self._space = place.space
        self._budget = MOST_TOKENS if place.options.get("whole") else place.budget

    def recall(self, question: str, now: datetime) -> ReaderResult:
        found = build_context(
            self._space, question, budget_tokens=self._budget, now=now, reinforce=False
        )
        return ReaderResult(order_by_rank(found), found.tokens, found.insufficient, found.degraded)


def order_by_rank(found: MemoryContext) -> list[MemoryItem]:
    """A context in the order of its worth: what was found, then what is there whatever is asked."""
    items = {item.id: item for item in found.items()}
    best = [items.pop(at) for at in found.ranked]
    return [*best, *items.values()]
