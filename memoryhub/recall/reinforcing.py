"""What was recalled is remembered better: counted after the answer, never within it (§12.2 step 9).

A read leaves word in this process; a thread of its own writes it down every few seconds (later.py).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from memoryhub.later import Later
from memoryhub.recall import journal
from memoryhub.recall.results import Item
from memoryhub.tenants.models import Space
from memoryhub.tenants.scope import tenant_scope
from notes import echoes, heat, retention

_KINDS = frozenset({"fact", "note", "page", "episode", "turn"})
# Made by the hub: when it comes back it is no news. What people said stays theirs to say again.
_OURS = frozenset({"fact", "note", "episode"})


@dataclass(frozen=True, slots=True)
class _Word:
    """One answer: (kind, id) of what was in it, the texts that were the hub's own, and what the
    recall log is to say of it."""

    space: Space
    memories: tuple[tuple[str, UUID], ...]
    texts: tuple[str, ...]
    at: datetime
    entry: journal.Entry | None = None


def recalled(
    space: Space,
    items: Iterable[Item],
    at: datetime,
    entry: journal.Entry | None = None,
    *,
    beside: Iterable[Item] = (),
) -> None:
    """Leave word of what made it into an answer. Touches no database.

    `beside`: what was handed over unasked, which is an echo when it comes back and no more.
    """
    shown = [item for item in items if item.kind in _KINDS]
    beside = list(beside)
    if shown or entry or beside:
        memories = tuple((item.kind, item.id) for item in shown)
        texts = tuple(text for item in [*shown, *beside] for text in _ours(item))
        _buffer.add(_Word(space, memories, texts, at, entry))


def _ours(item: Item) -> tuple[str, ...]:
    """The hub's own words of an item; of core memory with and without its label."""
    if item.kind == "core":
        return item.text, item.text.partition(": ")[2]
    return (item.text,) if item.kind in _OURS else ()


def guard(space: Space, items: Iterable[Item], at: datetime) -> None:
    """Mark the hub's own words of these items as given out, at once: for who is to store what a
    model made of them, before the counters are written. Call inside the tenant's scope."""
    echoes.remember(space, (text for item in items for text in _ours(item)), at)


def left(
    space: Space,
    items: Iterable[Item],
    at: datetime,
    entry: journal.Entry | None,
    *,
    inspected: bool,
    beside: Iterable[Item] = (),
) -> None:
    """What a search leaves behind. Where a person only looked: the log's entry, at once, and
    nothing is remembered better for it. Opens its own scope."""
    if not inspected:
        recalled(space, items, at, entry, beside=beside)
    elif entry is not None:
        with tenant_scope(space.tenant_id):
            journal.write(space, entry)


def flush() -> int:
    """Write down what this process's reads left. For tests, and for the end of a process."""
    return _buffer.flush()


def _write_all(words: Sequence[_Word]) -> None:
    for word in words:
        _write(word)


def _write(word: _Word) -> None:
    """Strengths, one visit for each segment that had a page in the answer, fingerprints."""
    with tenant_scope(word.space.tenant_id):
        if not Space.objects.filter(id=word.space.id).exists():
            return  # erased meanwhile
        retention.recalled(word.space, word.memories, word.at)
        turns = [at for kind, at in word.memories if kind == "turn"]
        pages = {at for kind, at in word.memories if kind == "page"}
        if turns:
            pages |= retention.pages_of(word.space, turns)
        if pages:
            heat.visited(word.space, pages, word.at)
        if word.texts:
            echoes.remember(word.space, word.texts, word.at)
        if word.entry:
            journal.write(word.space, word.entry)


_buffer = Later("reinforcing", _write_all)
