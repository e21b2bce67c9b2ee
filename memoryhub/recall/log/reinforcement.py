"""What was recalled is remembered better: counted after the answer (spec §12.2 step 9).

A read leaves word in this process; a thread of its own writes it down every few seconds
(deferred_writes.py).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

import structlog
from django.db import OperationalError

from memoryhub.background.deferred_writes import DeferredWriter
from memoryhub.recall.log import journal
from memoryhub.recall.render.results import MemoryItem
from memoryhub.tenants.models import Space
from memoryhub.tenants.scope import tenant_scope
from notes.quality import echoes
from notes.retention import decay
from notes.topics import heat

_REINFORCED_KINDS = frozenset({"fact", "note", "page", "episode", "turn"})
# Made by the hub: when it comes back it is no news. What people said stays theirs to say again.
_HUB_WRITTEN_KINDS = frozenset({"fact", "note", "episode"})
# So many answers of a space in one transaction.
_ANSWERS_PER_TRANSACTION = 200
log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class _RecallNotice:
    """One answer: (kind, id) of what was in it, the texts that were the hub's own, and what the
    recall log is to say of it."""

    space: Space
    memories: tuple[tuple[str, UUID], ...]
    texts: tuple[str, ...]
    at: datetime
    entry: journal.RecallEntry | None = None


def queue_recall(
    space: Space,
    items: Iterable[MemoryItem],
    at: datetime,
    entry: journal.RecallEntry | None = None,
    *,
    beside: Iterable[MemoryItem] = (),
) -> None:
    """Leave word of what made it into an answer. Touches no database.

    `beside`: what was handed over unasked, which is an echo when it comes back and no more.
    """
    shown = [item for item in items if item.kind in _REINFORCED_KINDS]
    beside = list(beside)
    if shown or entry or beside:
        memories = tuple((item.kind, item.id) for item in shown)
        texts = tuple(text for item in [*shown, *beside] for text in _list_hub_texts(item))
        _buffer.add(_RecallNotice(space, memories, texts, at, entry))


def _list_hub_texts(item: MemoryItem) -> tuple[str, ...]:
    """The hub's own words of an item; of core memory with and without its label."""
    if item.kind == "core":
        return item.text, item.text.partition(": ")[2]
    return (item.text,) if item.kind in _HUB_WRITTEN_KINDS else ()


def record_hub_texts(space: Space, items: Iterable[MemoryItem], at: datetime) -> None:
    """Mark the hub's own words of these items as given out, at once: for who is to store what a
    model made of them, before the counters are written. Call inside the tenant's scope."""
    echoes.save_fingerprints(space, (text for item in items for text in _list_hub_texts(item)), at)


def record_search(
    space: Space,
    items: Iterable[MemoryItem],
    at: datetime,
    entry: journal.RecallEntry | None,
    *,
    inspected: bool,
    beside: Iterable[MemoryItem] = (),
) -> None:
    """What a search leaves behind. Where a person only looked: the log's entry, at once, and
    nothing is remembered better for it. Opens its own scope."""
    if not inspected:
        queue_recall(space, items, at, entry, beside=beside)
    elif entry is not None:
        with tenant_scope(space.tenant_id):
            journal.write_entries(space, [entry])


def flush_recalls() -> int:
    """Write down what this process's reads left. For tests, and for the end of a process."""
    return _buffer.flush()


def _write_by_space(words: Sequence[_RecallNotice]) -> None:
    """What one space answered at a time: the statements are the same for one answer or many."""
    by_space: dict[UUID, list[_RecallNotice]] = defaultdict(list)
    for word in words:
        by_space[word.space.id].append(word)
    for theirs in by_space.values():
        for at in range(0, len(theirs), _ANSWERS_PER_TRANSACTION):
            _write_batch(theirs[at : at + _ANSWERS_PER_TRANSACTION])


def _write_batch(words: Sequence[_RecallNotice]) -> None:
    """One that can't be written costs the others nothing."""
    try:
        _write_notices(words)
    except Exception:
        log.exception("reinforcing.one_by_one", space=str(words[0].space.id), answers=len(words))
        for word in words:
            _write_single(word)


def _write_single(word: _RecallNotice) -> None:
    try:
        _write_notices([word])
    except OperationalError:
        raise  # the database is away: that is no fault of this word
    except Exception:
        log.exception("reinforcing.unwritten", space=str(word.space.id))


def _write_notices(words: Sequence[_RecallNotice]) -> None:
    """Strengths, one visit for each segment that had a page in an answer, fingerprints."""
    space = words[0].space
    with tenant_scope(space.tenant_id):
        if not Space.objects.filter(id=space.id).exists():
            return  # erased meanwhile
        shown = [decay.RecalledContext(word.memories, word.at) for word in words]
        pages = decay.strengthen_recalled(space, shown)
        heat.add_visits(space, [(on, word.at) for on, word in zip(pages, words, strict=True)])
        echoes.save_fingerprints_of_answers(space, [(word.texts, word.at) for word in words])
        journal.write_entries(space, [word.entry for word in words if word.entry])


_buffer = DeferredWriter("reinforcing", _write_by_space)
