"""What was recalled is remembered better: counted after the answer, never within it (§12.2 step 9).

A read leaves word in this process; a thread of its own writes it down every few seconds (later.py).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

import structlog
from django.db import OperationalError

from memoryhub.later import Later
from memoryhub.recall import journal
from memoryhub.recall.results import Item
from memoryhub.tenants.models import Space
from memoryhub.tenants.scope import tenant_scope
from notes import echoes, heat, retention

_KINDS = frozenset({"fact", "note", "page", "episode", "turn"})
# Made by the hub: when it comes back it is no news. What people said stays theirs to say again.
_OURS = frozenset({"fact", "note", "episode"})
# So many answers of a space in one transaction.
_TOGETHER = 200
log = structlog.get_logger()


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
            journal.write(space, [entry])


def flush() -> int:
    """Write down what this process's reads left. For tests, and for the end of a process."""
    return _buffer.flush()


def _write_all(words: Sequence[_Word]) -> None:
    """What one space answered at a time: the statements are the same for one answer or many."""
    by_space: dict[UUID, list[_Word]] = defaultdict(list)
    for word in words:
        by_space[word.space.id].append(word)
    for theirs in by_space.values():
        for at in range(0, len(theirs), _TOGETHER):
            _write_together(theirs[at : at + _TOGETHER])


def _write_together(words: Sequence[_Word]) -> None:
    """One that can't be written costs the others nothing."""
    try:
        _write(words)
    except Exception:
        log.exception("reinforcing.one_by_one", space=str(words[0].space.id), answers=len(words))
        for word in words:
            _write_alone(word)


def _write_alone(word: _Word) -> None:
    try:
        _write([word])
    except OperationalError:
        raise  # the database is away: that is no fault of this word
    except Exception:
        log.exception("reinforcing.unwritten", space=str(word.space.id))


def _write(words: Sequence[_Word]) -> None:
    """Strengths, one visit for each segment that had a page in an answer, fingerprints."""
    space = words[0].space
    with tenant_scope(space.tenant_id):
        if not Space.objects.filter(id=space.id).exists():
            return  # erased meanwhile
        pages = retention.recalled(space, [retention.Answer(w.memories, w.at) for w in words])
        heat.visited(space, [(on, word.at) for on, word in zip(pages, words, strict=True)])
        echoes.remember_all(space, [(word.texts, word.at) for word in words])
        journal.write(space, [word.entry for word in words if word.entry])


_buffer = Later("reinforcing", _write_all)
