"""Rounds after the first: what is related to what was kept, else the next store (spec J4).

Related are the turns around it and the notes linked to it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from uuid import UUID

from django.db.models import Q

from memoryhub.dialogues.models import Turn
from memoryhub.policies.schema import Channel
from memoryhub.recall.question import intents
from memoryhub.recall.question.prepare import PreparedQuestion
from memoryhub.recall.render.hydrate import (
    FoundMemory,
    hydrate_memories,
    load_source_links,
)
from memoryhub.recall.render.results import ItemKind, MemoryItem
from memoryhub.recall.render.told_turns import load_turns_of_pages
from memoryhub.tenants.scope import reading_scope
from notes.history.change_set import filter_supports
from notes.models import Derivation, Link, Note, Page
from notes.retention.decay import build_visible_q, find_pages_of_turns

# What a related memory is worth beside the one it is related to.
_RELATED_WEIGHT = 0.9
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
        with reading_scope(ask.space.tenant_id):
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


def find_related_memories(
    ask: PreparedQuestion, kept: Sequence[MemoryItem], seen: Collection[UUID]
) -> list[FoundMemory]:
    """Linked notes, turns that a memory was read with, and the rest of their exchanges.

    Call inside the tenant's scope. Nearest first, K at most, without what was `seen`.
    """
    if not kept:
        return []
    best = max(item.score for item in kept) * _RELATED_WEIGHT
    notes = [
        FoundMemory("note", at, best, linked=True)
        for at in _find_linked_notes(ask, _list_ids(kept, "note"))
    ]
    turns = [FoundMemory("turn", at, best) for at in _find_related_turns(ask, kept)]
    return [each for each in (*notes, *turns) if each.id not in seen][: ask.k]


def _list_ids(items: Sequence[MemoryItem], *kinds: str) -> list[UUID]:
    return [item.id for item in items if item.kind in kinds]


def _find_linked_notes(ask: PreparedQuestion, notes: Sequence[UUID]) -> list[UUID]:
    if not notes:
        return []
    rows = Link.objects.filter(Q(a__in=notes) | Q(b__in=notes), active=True, retired_at=None)
    ends = [end for pair in rows.values_list("a_id", "b_id") for end in pair]
    others = [end for end in dict.fromkeys(ends) if end not in set(notes)]
    seen = Note.objects.filter(_build_visible_filter(ask), id__in=others, retired_at=None)
    allowed = set(seen.values_list("id", flat=True))
    return [end for end in others if end in allowed][: ask.policy.recall.link_budget]


def _build_visible_filter(ask: PreparedQuestion) -> Q:
    return Q() if ask.visibility.deep else build_visible_q(ask.policy.forget)


def _find_related_turns(ask: PreparedQuestion, kept: Sequence[MemoryItem]) -> list[UUID]:
    """R_t: turns recorded as related first, then those of the same exchanges. Those of a turn are
    recorded with its exchange, and with the facts that were read from it."""
    derived, said = _list_ids(kept, "fact", "note"), _list_ids(kept, "turn")
    told = (t for turns in load_source_links(derived).values() for t in turns)
    there = find_pages_of_turns(ask.space, {*said, *told})
    read = filter_supports("fact", turn__in=said)
    rows = Derivation.objects.filter(
        Q(child_id__in=derived)
        | Q(child_type="fact", child_id__in=read.values("child_id"))
        | Q(child_type="page", child_id__in=there),
        role=Derivation.Role.CONTEXT,
    )
    context = list(rows.order_by("turn__seq").values_list("turn_id", flat=True))
    pages = Page.objects.filter(_build_visible_filter(ask), id__in=there)
    paged = load_turns_of_pages(list(pages.values_list("id", flat=True)))
    around = [turn.id for turns in paged.values() for turn in turns]
    found = dict.fromkeys([*context, *around])
    redacted = Turn.objects.filter(id__in=list(found), state=Turn.State.REDACTED)
    gone = set(redacted.values_list("id", flat=True))
    return [at for at in found if at not in gone]
