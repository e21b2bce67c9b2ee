"""Rounds after the first: what is related to what was kept, else the next store (spec J4)."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from uuid import UUID

from memoryhub.policies.schema import Channel
from memoryhub.recall.judge.expand import find_related_memories
from memoryhub.recall.question import intents
from memoryhub.recall.question.prepare import PreparedQuestion
from memoryhub.recall.render.hydrate import hydrate_memories, load_source_links
from memoryhub.recall.render.results import ItemKind, MemoryItem
from memoryhub.tenants.scope import tenant_scope

# What a channel has to say, read; called inside the tenant's scope.
FindInChannel = Callable[[PreparedQuestion, Channel], list[MemoryItem]]


class FurtherRounds:
    """Keeps what was tried and seen; what is `barren` would bring nothing. `last` is the number of
    the last round allowed; of other `kinds` nothing is shown."""

    def __init__(
        self,
        ask: PreparedQuestion,
        find: FindInChannel,
        tried: Collection[Channel],
        barren: Collection[Channel],
        seen: Collection[UUID],
        last: int,
        kinds: Collection[ItemKind] | None = None,
    ) -> None:
        self._ask, self._find, self._last, self._kinds = ask, find, last, kinds
        self._tried, self._seen = list(dict.fromkeys(tried)), set(seen)
        self._barren = frozenset(barren)

    def find_more(self, kept: Sequence[MemoryItem], number: int) -> list[MemoryItem]:
        """What was not seen before. The last round also looks at what has faded (spec §11.6)."""
        ask = self._ask.to_deep_question() if number == self._last else self._ask
        with tenant_scope(ask.space.tenant_id):
            items = self._find_related(ask, kept) or self._search_next_store(ask)
        items = [item for item in items if self._kinds is None or item.kind in self._kinds]
        self._seen |= {item.id for item in items}
        return items

    def _find_related(self, ask: PreparedQuestion, kept: Sequence[MemoryItem]) -> list[MemoryItem]:
        chosen = find_related_memories(ask, kept, self._seen)
        return hydrate_memories(chosen, load_source_links(f.id for f in chosen if f.kind == "note"))

    def _search_next_store(self, ask: PreparedQuestion) -> list[MemoryItem]:
        """The first store not tried that has something, else all tried ones again, looked at as
        this round does."""
        for store in intents.FALLBACK_STORES:
            if store not in self._tried:
                self._tried.append(store)
                if items := self._find_unseen(ask, store):
                    return items
        again = [channel for channel in self._tried if channel not in self._barren]
        return [item for channel in again for item in self._find_unseen(ask, channel)]

    def _find_unseen(self, ask: PreparedQuestion, channel: Channel) -> list[MemoryItem]:
        return [item for item in self._find(ask, channel) if item.id not in self._seen]
