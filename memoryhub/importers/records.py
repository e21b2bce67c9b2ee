"""What an importer finds in a file, whatever system wrote it. Plain values, nothing is stored.

`where` names the place in the file as people find it: `line 7`, `results[3]`, `[2].mapping`.
`subject` is whom the memories are about as the file says it; "" where it doesn't.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, ClassVar, Literal

from memoryhub.dialogues.messages import Message

RecordKind = Literal["turn", "fact", "note", "block"]
RECORD_KINDS: tuple[RecordKind, ...] = ("turn", "fact", "note", "block")


@dataclass(frozen=True, slots=True)
class SessionRecord:
    """Messages of one session, in order. `external_id` of each tells it from all others there."""

    kind: ClassVar[RecordKind] = "turn"
    where: str
    subject: str
    session: str
    messages: Sequence[Message]
    agent: str = ""

    @property
    def count(self) -> int:
        """How many things of its kind it is; the others are one each."""
        return len(self.messages)


@dataclass(frozen=True, slots=True)
class PastVersion:
    """What a memory said from `since` until `until`, in words it has no more."""

    text: str
    since: datetime
    until: datetime


@dataclass(frozen=True, slots=True)
class RelationTriple:
    """source -label-> target, with the types of both ends where the file has them."""

    source: str
    label: str
    target: str
    source_type: str = ""
    target_type: str = ""


@dataclass(frozen=True, slots=True)
class MemoryRecord:
    """A ready-made memory. `id` is the other system's own, "" if it has none.

    `said_at`: when it was stated, None if unknown. It holds from `valid_from` (else `said_at`)
    until `valid_to`, None: still. `earlier`: its former versions, oldest first. `said_in`: the
    external ids of messages of the same file that it was read from. `origin`: what else the
    other system kept beside it, by its own names.
    """

    kind: ClassVar[RecordKind] = "fact"
    count: ClassVar[int] = 1
    where: str
    subject: str
    id: str
    text: str
    said_at: datetime | None = None
    valid_from: datetime | None = None
    valid_to: datetime | None = None
    speaker: str = ""
    pinned: bool = False
    metadata: Mapping[str, Any] = field(default_factory=dict)
    origin: Mapping[str, Any] = field(default_factory=dict)
    earlier: Sequence[PastVersion] = ()
    triples: Sequence[RelationTriple] = ()
    said_in: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class PassageRecord:
    """A text that an agent kept: a free note. `at`: when, None if unknown."""

    kind: ClassVar[RecordKind] = "note"
    count: ClassVar[int] = 1
    where: str
    subject: str
    id: str
    text: str
    at: datetime | None = None
    author: str = ""
    tags: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class BlockRecord:
    """Text in front of an agent. `limit` in characters, 0 if the file has none."""

    kind: ClassVar[RecordKind] = "block"
    count: ClassVar[int] = 1
    where: str
    subject: str
    label: str
    value: str
    agent: str = ""
    description: str = ""
    limit: int = 0
    read_only: bool = False


@dataclass(frozen=True, slots=True)
class SkippedRecord:
    """Something that is not taken, and why. `kind` is what it would have been, "" if unclear.
    `count`: how many of them there are at this place."""

    where: str
    reason: str
    kind: str = ""
    id: str = ""
    count: int = 1


@dataclass(frozen=True, slots=True)
class UnknownFields:
    """Fields that the reader knows nothing of: what is in them stays behind."""

    fields: Sequence[str]


ContentRecord = SessionRecord | MemoryRecord | PassageRecord | BlockRecord
Record = ContentRecord | SkippedRecord | UnknownFields
