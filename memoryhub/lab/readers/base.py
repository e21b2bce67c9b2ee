"""What a system hands to whoever answers, and what its reader may use."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, Protocol
from uuid import uuid4

from memoryhub.engines.embedding.model_files import count_tokens
from memoryhub.engines.types import Embedder, Engine
from memoryhub.recall.render.prompt import format_memory_line
from memoryhub.recall.render.results import ItemKind, MemoryItem, TurnSource
from memoryhub.tenants.models import Space


@dataclass(frozen=True, slots=True)
class ReaderInputs:
    """Where a system's memories are, as they stand at `now`.

    `budget` is in tokens, `options` are the reader's own.
    """

    space: Space
    engine: Engine
    embedder: Embedder
    budget: int
    now: datetime
    options: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ReaderResult:
    """Items, best first, and the `tokens` of all of them as the answerer is shown them."""

    items: Sequence[MemoryItem]
    tokens: int
    insufficient: bool = False
    degraded: Sequence[str] = ()


class MemoryReader(Protocol):
    """Made once a dialogue, asked once a question. Opens its own scopes."""

    def recall(self, question: str, now: datetime) -> ReaderResult: ...


def build_result(items: Sequence[MemoryItem]) -> ReaderResult:
    """Everything as dated lines, without the references that only the hub's own context has."""
    lines = [format_memory_line(replace(item, sources=())) for item in items]
    return ReaderResult(items, sum(count_tokens(lines)), not items)


def build_item(
    kind: ItemKind, text: str, score: float, at: datetime, sources: Sequence[TurnSource] = ()
) -> MemoryItem:
    """An item that is no row: a chunk, a gist, a page looked up."""
    return MemoryItem(kind, uuid4(), text, score, {}, at, sources=tuple(sources))
