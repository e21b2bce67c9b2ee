"""What a search answers with. Plain and frozen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal
from uuid import UUID

Kind = Literal["fact", "turn", "note"]
# What a context may hold besides.
ItemKind = Literal["fact", "turn", "note", "page", "episode", "core"]


@dataclass(frozen=True, slots=True)
class Source:
    """A turn a memory rests on. `ref` is "D{session}:{turn}"; `span` the supporting characters."""

    turn_id: UUID
    ref: str
    speaker: str
    text: str
    occurred_at: datetime
    external_id: str = ""
    span: tuple[int, int] | None = None


@dataclass(frozen=True, slots=True)
class Item:
    """One memory. `parts` says what each signal added to `score`.

    For all but facts `valid_from` and `valid_to` are None and `status` is "active". `linked`:
    not found itself, but linked to a note that was. `summary`: of the chain a page belongs to,
    or an episode's title. `reason`: what a channel of a context found it by.
    """

    kind: ItemKind
    id: UUID
    text: str
    score: float
    parts: Mapping[str, float]
    occurred_at: datetime
    speaker: str = ""
    owner: str = ""
    event_from: datetime | None = None
    event_to: datetime | None = None
    event_text: str = ""
    valid_from: datetime | None = None
    valid_to: datetime | None = None
    status: str = "active"
    linked: bool = False
    summary: str = ""
    reason: str = ""
    sources: Sequence[Source] = ()


@dataclass(frozen=True, slots=True)
class Conflicting:
    """Memories that can't all hold at once. Reported, never changed by a search (I11)."""

    ids: tuple[UUID, ...]
    why: str


@dataclass(frozen=True, slots=True)
class SearchResult:
    """`insufficient`: nothing in the space bears on the query (E32), or the judge wants more.

    `degraded`: what was lost on the way (dense, router, judge). `unverified`: the judge could
    not be asked, so everything found is there. `took_ms` by stage. `explain` is filled on
    request: the route taken and the floor's victims.
    """

    items: Sequence[Item]
    insufficient: bool
    degraded: Sequence[str] = ()
    unverified: bool = False
    conflicts: Sequence[Conflicting] = ()
    pending_turns: int = 0
    query_truncated: bool = False
    took_ms: Mapping[str, float] = field(default_factory=dict)
    explain: Mapping[str, Any] = field(default_factory=dict)
