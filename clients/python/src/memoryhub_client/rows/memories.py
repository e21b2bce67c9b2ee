"""The rows of the hub. Columns are described in the hub's reference, under the list's name."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from memoryhub_client.rows.base import Row


class Space(Row):
    """A subject. `counts` only where one is read by itself."""

    id: str
    subject: str
    name: str
    timezone: str
    speakers: list[str]
    created_at: datetime
    last_activity_at: datetime | None
    paused_at: datetime | None
    counts: dict[str, int]


class Session(Row):
    id: str
    name: str
    ordinal: int
    channel: str
    started_at: datetime
    ended_at: datetime | None
    turn_count: int


class DerivedRow(Row):
    """What was derived from a turn."""

    kind: str
    id: str
    role: str


class Turn(Row):
    id: str
    seq: int
    session_id: str
    ordinal: int
    role: str
    speaker: str
    agent: str
    text: str
    lang: str
    metadata: dict[str, Any]
    occurred_at: datetime
    time_flag: str
    received_at: datetime
    external_id: str
    speech_act: str
    state: str
    made: list[DerivedRow]


class Source(Row):
    """A turn that a memory rests on. Some of it only a search tells, some only a row."""

    turn_id: str
    ref: str
    role: str
    span: list[int] | None
    speaker: str
    text: str
    occurred_at: datetime
    external_id: str
    via: Any


class Derived(Row):
    """What every derived row tells of itself. `sources` only where one is read by itself."""

    id: str
    version: int
    engine: str
    corrected_by: str
    retired_at: datetime | None
    sources: list[Source]


class Retained(Derived):
    """What may fade."""

    strength: float
    recall_count: int
    last_recall_at: datetime | None
    visibility: str
    pinned: bool


class Fact(Retained):
    lineage: str
    lineage_version: int
    text: str
    owner: str
    speaker: str
    predicate: str
    value: str
    cardinality: str
    kind: str
    polarity: str
    status: str
    valid_from: datetime | None
    valid_to: datetime | None
    event_from: datetime | None
    event_to: datetime | None
    event_text: str
    asserted_at: datetime
    recorded_at: datetime
    supersedes: str | None
    confidence: float
    mention_count: int
    shelf: str


class NoteLink(Row):
    """A link as one of its notes shows it; `note_id` is the other one."""

    id: str
    note_id: str
    kind: str
    reason: str


class Note(Retained):
    content: str
    context: str
    keywords: list[str]
    tags: list[str]
    category: str
    author: str
    page_id: str | None
    fact_id: str | None
    enrichment: str
    occurred_at: datetime
    created_at: datetime
    links: list[NoteLink]


class Link(Derived):
    a: str
    b: str
    kind: str
    reason: str
    weight: float
    active: bool
    created_at: datetime


class Entity(Derived):
    name: str
    type: str
    aliases: list[str]
    summary: str
    mention_count: int
    merged_into: str | None


class Relation(Derived):
    src: str
    src_name: str
    label: str
    dst: str
    dst_name: str
    fact_id: str


class SegmentPage(Row):
    page_id: str
    session_id: str
    first_seq: int
    last_seq: int
    theme: str
    score: float


class Segment(Derived):
    summary: str
    keywords: list[str]
    started_at: datetime | None
    ended_at: datetime | None
    visits_total: int
    pages_total: int
    last_visited_at: datetime | None
    tier: str
    stale: bool
    pages: list[SegmentPage]


class Episode(Retained):
    """`day` is a date, as text."""

    kind: str
    title: str
    text: str
    details: dict[str, Any]
    session_id: str | None
    day: str | None
    from_seq: int | None
    to_seq: int | None
    from_at: datetime | None
    to_at: datetime | None
    parent_id: str | None
    stale: bool


class Trait(Derived):
    owner: str
    key: str
    level: str
    confidence: float
    rationale: str
    valid_from: datetime | None
    valid_to: datetime | None


class ProfileAttribute(Derived):
    """Of the profile."""

    owner: str
    key: str
    value: str
    fact_id: str | None


class Block(Row):
    id: str
    space_id: str | None
    agent: str
    label: str
    value: str
    description: str
    char_limit: int
    read_only: bool
    generated: bool
    version: int
    updated_at: datetime
    retired_at: datetime | None


class BlockVersion(Row):
    id: str
    version: int
    value: str
    actor: str
    reason: str
    space_id: str | None
    turn_id: str | None
    created_at: datetime


class Item(Row):
    """What an application keeps by key. `score` only where it was searched for."""

    id: str
    subject: str
    namespace: list[str]
    key: str
    value: dict[str, Any]
    version: int
    created_at: datetime
    updated_at: datetime
    expires_at: datetime | None
    score: float | None


class Change(Row):
    """What one event did to one row. `before` is None where the event made it."""

    id: str
    event_id: str
    event_kind: str
    actor: str
    reason: str
    created_at: datetime
    row_type: str
    row_id: str
    version_before: int | None
    version_after: int | None
    before: dict[str, Any] | None
    after: dict[str, Any] | None


class Event(Row):
    """`changes` and `undone_by` only where one is read by itself."""

    id: str
    kind: str
    actor: str
    trigger: str
    reason: str
    engine: str
    policy_version: str
    job_id: str | None
    undo_of: str | None
    is_purged: bool
    created_at: datetime
    changes: list[Change]
    undone_by: str | None


class HeldRow(Row):
    """A row as it was held at some moment."""

    kind: str
    id: str
    values: dict[str, Any]


class Difference(Row):
    """What is different from some moment. `how`: added, changed or removed."""

    kind: str
    id: str
    how: str
    values: dict[str, Any]
    fields: Any


class UndoResult(Row):
    """What an undo took back, or would: events, what became different, and the events made."""

    dry_run: bool
    undone: list[str]
    changes: list[Difference]
    event_ids: list[str]


class OpenConflict(Row):
    """What waits for a decision. `answers` only where one is read by itself."""

    id: str
    kind: str
    row_type: str
    row_id: str | None
    payload: dict[str, Any]
    turn_ids: list[str]
    reason: str
    risk: str
    state: str
    created_at: datetime
    decided_at: datetime | None
    decided_by: str
    decided_because: str
    event_id: str | None
    rule_id: str | None
    answers: Any


class QualityReading(Row):
    """How many facts a signal of quality was about when the subject was last measured."""

    id: str
    signal: str
    found: int
    of: int
    samples: list[dict[str, Any]]
    measured_at: datetime


class DecisionResult(Row):
    """What came of one of many: `refused` says why it was not done, "" that it was."""

    id: str
    state: str
    event_id: str | None
    refused: str


class DecisionResults(Row):
    results: list[DecisionResult]


class GoldenQuestion(Derived):
    text: str
    tags: list[str]
    expected: list[dict[str, Any]]
    created_by: str
    created_at: datetime
    changed_at: datetime


class Verdict(Row):
    """Somebody's word on a memory."""

    id: str
    kind: str
    memory_id: str
    recall_id: str | None
    verdict: str
    comment: str
    actor: str
    created_at: datetime


class Tool(Row):
    """A tool of the agent, as a function for a model."""

    name: str
    description: str
    parameters: dict[str, Any]


class ToolStep(Row):
    """What came of a call; what is wrong with it is in `result`, for the agent to read."""

    tool: str
    arguments: Any
    thought: str
    ok: bool
    result: str
    paused_minutes: int
