"""What a search answers with. Plain and frozen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Annotated, Any, Literal
from uuid import UUID

from pydantic import Field

MemoryKind = Literal["fact", "turn", "note", "page", "episode"]
# What a context may hold besides.
ItemKind = Literal["fact", "turn", "note", "page", "episode", "core"]
# Why something that was considered is not shown.
DropReason = Literal[
    "below_floor", "out_of_date", "faded", "duplicate", "over_limit", "no_room", "irrelevant"
]


@dataclass(frozen=True, slots=True)
class TurnSource:
    """A turn a memory rests on. `ref` is "D{session}:{turn}"; `span` the supporting characters."""

    turn_id: UUID
    ref: str
    speaker: str
    text: str
    occurred_at: datetime
    external_id: str = ""
    span: tuple[int, int] | None = None


@dataclass(frozen=True, slots=True)
class ArmRank:
    """A memory's place, from 1, and score in one arm of a channel: by meaning, or by words."""

    rank: int
    score: float


@dataclass(frozen=True, slots=True)
class ChannelRank:
    """That a channel held out a memory: its place there from 1, its score there, and why.

    `arms`: "dense" and "lexical", as far as the channel has them.
    """

    channel: str
    rank: int
    score: float
    reason: str = ""
    arms: Mapping[str, ArmRank] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class MemoryItem:
    """One memory. `parts` says what each signal added to `score`; they add up to it.

    For all but facts `valid_from` and `valid_to` are None and `status` is "active". `linked`:
    not found itself, but linked to a note that was. `summary`: of the chain a page belongs to,
    or an episode's title. `reason`: what a channel of a context found it by. `unread`: a turn
    that is not read yet, so that nothing is derived from it. `found`: by which channels.
    `matter`: what a fact that is held is about, where only one such can hold at a time.
    `metadata`: of a fact, the sender's own. `relevant` False: among the nearest to the
    question, on which it hardly bears. `keywords`, `tags` and `context` describe a note, as it has
    evolved. `relations`: what a fact that the graph has found says of entities, where the policy
    hands over the graph.
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
    sources: Sequence[TurnSource] = ()
    unread: bool = False
    found: Sequence[ChannelRank] = ()
    matter: str = ""
    metadata: Mapping[str, Any] = field(default_factory=dict)
    relevant: bool = True
    keywords: Sequence[str] = ()
    tags: Sequence[str] = ()
    context: str = ""
    relations: Sequence[str] = ()

    @property
    def description(self) -> str:
        """What is known of a note or a fact beside its words, in one line."""
        return format_description(self.context, self.keywords, self.tags, self.relations)


def format_description(
    context: str, keywords: Sequence[str], tags: Sequence[str], relations: Sequence[str]
) -> str:
    """How a note is described: its context, then each keyword and tag once; and what a fact
    relates."""
    words = ", ".join(dict.fromkeys([*keywords, *tags]))
    return "; ".join(part for part in (context, words, *relations) if part)


@dataclass(frozen=True, slots=True)
class ContextSection:
    name: str
    items: Sequence[MemoryItem]


@dataclass(frozen=True, slots=True)
class ConflictingMemories:
    """Memories that can't all hold at once. Reported, never changed by a search (I11)."""

    ids: tuple[UUID, ...]
    why: str


@dataclass(frozen=True, slots=True)
class DroppedMemory:
    """Something that was considered and is not shown. `of`: what is shown in its place.

    `text` is cut to 120 characters. `score` is on the scale of the results' scores, where it has
    one; `parts` add up to it. `detail` says more of the reason, as "superseded".
    """

    kind: ItemKind
    id: UUID
    text: str
    why: DropReason
    detail: str = ""
    score: float | None = None
    parts: Mapping[str, float] = field(default_factory=dict)
    of: UUID | None = None
    found: Sequence[ChannelRank] = ()

    @classmethod
    def from_item(cls, item: MemoryItem, why: DropReason, of: UUID | None = None) -> DroppedMemory:
        return cls(
            kind=item.kind,
            id=item.id,
            text=item.text[:120],
            why=why,
            score=item.score,
            parts=item.parts,
            of=of,
            found=item.found,
        )


@dataclass(frozen=True, slots=True)
class RouteTaken:
    """How the question was understood. `because` says in words why it went where it went.

    `query` is the question as it was searched, `embedded` and `words` what the two arms looked
    for, `wanted` how many memories it asks for.
    """

    query: str
    mode: str
    select: str
    channels: Sequence[str]
    because: str
    intent: Sequence[str] = ()
    wanted: int = 0
    embedded: str = ""
    words: str = ""
    named: Sequence[str] = ()
    speaker: str = ""
    times: Sequence[str] = ()
    asks_when: bool = False
    predicates: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Explanation:
    """What was done to get there. `channels`: how many candidates each brought.

    `judged`: the judge's word, "" where nobody was asked. The results' own part is in
    `Item.parts` and `Item.found`.
    """

    route: RouteTaken
    channels: Mapping[str, int] = field(default_factory=dict)
    judged: str = ""
    dropped: Sequence[DroppedMemory] = ()


# What every question is told of how it went, as the API describes it.
Insufficient = Annotated[
    bool,
    Field(
        description="Nothing known bears on the question, or a judging model found that what there"
        " is does not answer it."
    ),
]
Degraded = Annotated[
    Sequence[str],
    Field(description="What was done without: dense, router, reranker, judge, answer."),
]
Unverified = Annotated[
    bool, Field(description="The judge could not be asked: everything found is there.")
]
Conflicts = Annotated[
    Sequence[ConflictingMemories],
    Field(
        description="What of the memories found can't all hold at once, and what an open case of"
        " the inbox is about."
    ),
]
PendingTurns = Annotated[
    int, Field(description="Messages of the subject that are not read yet; 0: all are.")
]


@dataclass(frozen=True, slots=True)
class SearchResult:
    """`insufficient`: nothing in the space bears on the query (E32), or the judge wants more.

    `tokens` of the items' texts, counted where a budget was given. `took_ms` by stage. `explain` is
    there on request. `recall_id`: its entry in the recall log, which is there some seconds later;
    None where nothing is logged. `unasked`: what the policy hands over whatever is asked, such as
    the shelf and the latest exchanges.
    """

    items: Sequence[MemoryItem]
    insufficient: Insufficient
    degraded: Degraded = ()
    unverified: Unverified = False
    conflicts: Conflicts = ()
    pending_turns: PendingTurns = 0
    query_truncated: bool = False
    tokens: int | None = None
    rounds: int = 1
    took_ms: Mapping[str, float] = field(default_factory=dict)
    explain: Explanation | None = None
    recall_id: UUID | None = None
    unasked: Sequence[ContextSection] = ()
