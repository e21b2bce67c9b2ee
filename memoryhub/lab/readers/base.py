"""What a system hands to whoever answers, and what its reader may use."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, Protocol
from uuid import uuid4

from memoryhub.engines.embedding.packaged import count_tokens
from memoryhub.engines.types import Embedder, Engine
from memoryhub.recall.prompting import line_of
from memoryhub.recall.results import Item, ItemKind, Source
from memoryhub.tenants.models import Space


@dataclass(frozen=True, slots=True)
class Place:
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
class Handed:
    """Items, best first, and the `tokens` of all of them as the answerer is shown them."""

    items: Sequence[Item]
    tokens: int
    insufficient: bool = False
    degraded: Sequence[str] = ()


class Reader(Protocol):
    """Made once a dialogue, asked once a question. Opens its own scopes."""

    def recall(self, question: str, now: datetime) -> Handed: ...


def handed(items: Sequence[Item]) -> Handed:
    """Everything as dated lines, without the references that only the hub's own context has."""
    lines = [line_of(replace(item, sources=())) for item in items]
    return Handed(items, sum(count_tokens(lines)), not items)


def made_up(
    kind: ItemKind, text: str, score: float, at: datetime, sources: Sequence[Source] = ()
) -> Item:
    """An item that is no row: a chunk, a gist, a page looked up."""
    return Item(kind, uuid4(), text, score, {}, at, sources=tuple(sources))
