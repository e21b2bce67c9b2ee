"""What an answer rests on: each memory with its sources, and the part of the answer it supports."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Annotated, Any
from uuid import UUID

from pydantic import Field

from memoryhub.engines.types import AnswerSupport, GroundedAnswer
from memoryhub.recall.render.results import (
    Conflicts,
    Degraded,
    Insufficient,
    ItemKind,
    MemoryItem,
    PendingTurns,
    TurnSource,
    Unverified,
)

Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Citation:
    """A memory behind an answer.

    `part`: the characters of the answer that rest on it. `quote` is what they rest on, word by
    word, found at the characters `span` of `text`. `valid_to`: it holds no longer.
    """

    kind: ItemKind
    id: UUID
    text: str
    quote: str
    span: Span
    part: Span
    refs: Sequence[str]
    occurred_at: datetime
    speaker: str = ""
    owner: str = ""
    event_from: datetime | None = None
    event_to: datetime | None = None
    event_text: str = ""
    valid_from: datetime | None = None
    valid_to: datetime | None = None
    status: str = "active"
    sources: Sequence[TurnSource] = ()


@dataclass(frozen=True, slots=True)
class AnswerTokens:
    """`memories`: of what was handed over to be answered from. The others: what models counted."""

    memories: int = 0
    prompt: int = 0
    completion: int = 0


@dataclass(frozen=True, slots=True)
class AnswerResult:
    """`calls`: questions to models, routing and judging included. The other fields are those of a
    search; `degraded` may also hold "answer": the model failed, and the rules answered instead.
    """

    text: str
    quoted: Annotated[
        bool, Field(description="Put together from memories word by word; no model wrote it.")
    ]
    abstained: Annotated[
        bool,
        Field(
            description="What is known does not answer the question: `text` says so, and"
            " `citations` is empty."
        ),
    ]
    citations: Sequence[Citation] = ()
    insufficient: Insufficient = False
    degraded: Degraded = ()
    unverified: Unverified = False
    conflicts: Conflicts = ()
    pending_turns: PendingTurns = 0
    query_truncated: bool = False
    tokens: AnswerTokens = AnswerTokens()
    calls: int = 0
    took_ms: Mapping[str, float] = field(default_factory=dict)
    explain: Mapping[str, Any] = field(default_factory=dict)
    recall_id: UUID | None = None


_TAKEN_OVER = (
    "occurred_at", "speaker", "owner", "event_from", "event_to", "event_text", "valid_from",
    "valid_to", "status", "sources",
)  # fmt: skip


def build_citations(answer: GroundedAnswer, items: Sequence[MemoryItem]) -> list[Citation]:
    """One for each part and memory, in the order of the answer; `items` are what was quoted."""
    supported = {support.quote for support in answer.supports}
    whole = (0, len(answer.text))
    supports = [
        *answer.supports,
        *(AnswerSupport(index, whole) for index in answer.used if index not in supported),
    ]
    ordered = sorted(supports, key=lambda each: each.part)
    return [_build_citation(items[each.quote], each) for each in ordered]


def _build_citation(item: MemoryItem, support: AnswerSupport) -> Citation:
    span = support.span or (0, len(item.text))
    return Citation(
        kind=item.kind,
        id=item.id,
        text=item.text,
        quote=item.text[slice(*span)],
        span=span,
        part=support.part,
        refs=list(dict.fromkeys(source.ref for source in item.sources)),
        **{name: getattr(item, name) for name in _TAKEN_OVER},
    )
