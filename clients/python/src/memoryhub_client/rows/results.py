"""What adding, searching and answering tell."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from memoryhub_client.rows.base import Row
from memoryhub_client.rows.memories import Source, Space
from memoryhub_client.rows.tenancy import Decision, Job


class SessionName(Row):
    id: str
    name: str


class AddedTurn(Row):
    """`duplicate`: delivered before, and not stored again."""

    id: str
    seq: int
    external_id: str
    occurred_at: datetime
    time_flag: str
    duplicate: bool


class AddResult(Row):
    """What was stored; `job` has the decisions once it has ended."""

    space: Space
    session: SessionName
    turns: list[AddedTurn]
    job_id: str | None
    job: Job | None


class DryRunResult(Row):
    """What would become of messages."""

    dry_run: bool
    new_subject: bool
    new_turns: int
    decisions: list[Decision]


class Memory(Row):
    """What is told of a memory wherever it is shown: what it says, of when, and by whom."""

    kind: str
    id: str
    text: str
    occurred_at: datetime
    speaker: str
    owner: str
    event_from: datetime | None
    event_to: datetime | None
    event_text: str
    valid_from: datetime | None
    valid_to: datetime | None
    status: str
    sources: list[Source]


class FoundMemory(Memory):
    """A memory that was found."""

    matter: str
    linked: bool
    summary: str
    reason: str
    unread: bool
    score: float
    parts: dict[str, float]
    found: list[dict[str, Any]]


class ConflictingMemories(Row):
    ids: list[str]
    why: str


class RecallResult(Row):
    """What every recall tells besides its memories."""

    insufficient: bool
    degraded: list[str]
    unverified: bool
    conflicts: list[ConflictingMemories]
    pending_turns: int
    took_ms: dict[str, float]
    ms: float
    explain: dict[str, Any] | None
    recall_id: str | None


class SearchResult(RecallResult):
    items: list[FoundMemory]
    query_truncated: bool
    tokens: int | None
    rounds: int


class Section(Row):
    name: str
    items: list[FoundMemory]


class Context(RecallResult):
    """`text` is the block for a prompt; `handles` leads from its handles to ids."""

    text: str
    handles: dict[str, str]
    sections: list[Section]
    ranked: list[str]
    tokens: int
    left_out: int
    rounds: int


class Citation(Memory):
    """`part`: the characters of the answer that rest on it."""

    part: list[int]
    quote: str
    span: list[int] | None
    refs: list[str]


class Answer(RecallResult):
    """`abstained`: what is known does not answer the question."""

    text: str
    quoted: bool
    abstained: bool
    citations: list[Citation]
    query_truncated: bool
    tokens: dict[str, int]
    calls: int
