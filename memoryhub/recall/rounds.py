"""Rounds after the first: what is related to what was kept, else the next store (spec J4)."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from uuid import UUID

from memoryhub.policies.schema import Channel
from memoryhub.recall import intents
from memoryhub.recall.asking import Ask
from memoryhub.recall.expanding import related
from memoryhub.recall.hydration import hydrate, links_of
from memoryhub.recall.results import Item, ItemKind
from memoryhub.tenants.scope import tenant_scope

# What a channel has to say, read; called inside the tenant's scope.
Find = Callable[[Ask, Channel], list[Item]]


class Further:
    """Keeps what was tried and seen; what is `barren` would bring nothing. `last` is the number of
    the last round allowed; of other `kinds` nothing is shown."""

    def __init__(
        self,
        ask: Ask,
        find: Find,
        *,
        tried: Collection[Channel],
        barren: Collection[Channel] = (),
        seen: Collection[UUID],
        last: int,
        kinds: Collection[ItemKind] | None = None,
    ) -> None:
        self._ask, self._find, self._last, self._kinds = ask, find, last, kinds
        self._tried, self._seen = list(dict.fromkeys(tried)), set(seen)
        self._barren = frozenset(barren)

    def more(self, kept: Sequence[Item], number: int) -> list[Item]:
        """What was not seen before. The last round also looks at what has faded (§11.6)."""
        ask = self._ask.deep() if number == self._last else self._ask
        with tenant_scope(ask.space.tenant_id):
            items = self._related(ask, kept) or self._next(ask)
        items = [item for item in items if self._kinds is None or item.kind in self._kinds]
        self._seen |= {item.id for item in items}
        return items

    def _related(self, ask: Ask, kept: Sequence[Item]) -> list[Item]:
        chosen = related(ask, kept, self._seen)
        return hydrate(chosen, links_of(f.id for f in chosen if f.kind == "note"))

    def _next(self, ask: Ask) -> list[Item]:
        """The first store not tried that has something, else all tried ones again, looked at as
        this round does."""
        for store in intents.STORES:
            if store not in self._tried:
                self._tried.append(store)
                if items := self._unseen(ask, store):
                    return items
        again = [channel for channel in self._tried if channel not in self._barren]
        return [item for channel in again for item in self._unseen(ask, channel)]

    def _unseen(self, ask: Ask, channel: Channel) -> list[Item]:
        return [item for item in self._find(ask, channel) if item.id not in self._seen]
