"""Rows of the hub: made by `generate_rows.py` from its OpenAPI description."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal

from memoryhub_client.rows.base import JobRow, Row

ChangeEventKind = Literal["resolve", "evolve", "place", "archive", "promote", "digest", "refresh", "merge", "forget", "manual", "undo", "erase"]
CitationKind = Literal["fact", "turn", "note", "page", "episode", "core"]
DeliveryState = Literal["waiting", "sending", "retry", "delivered", "dead"]
DifferenceHow = Literal["added", "changed", "removed"]
DroppedMemoryKind = Literal["fact", "turn", "note", "page", "episode", "core"]
DroppedMemoryWhy = Literal["below_floor", "out_of_date", "faded", "duplicate", "over_limit", "no_room", "irrelevant"]
EpisodeKind = Literal["topic", "session", "day", "global", "persona", "portrait", "rolling"]
EpisodeVisibility = Literal["active", "dormant"]
EventKind = Literal["resolve", "evolve", "place", "archive", "promote", "digest", "refresh", "merge", "forget", "manual", "undo", "erase"]
ExpectedMemoryKind = Literal["fact", "note", "turn"]
FactShelf = Literal["", "user_kb", "agent"]
FactStatus = Literal["active", "superseded", "retracted"]
FactVisibility = Literal["active", "dormant"]
ImportState = Literal["queued", "running", "done", "failed"]
JobProgressStep = Literal["derive", "associate", "place", "episode", "promote", "fold", "digest", "rederive", "embed", "sweep", "replay", "map", "wake"]
JobState = Literal["queued", "running", "retry", "done", "dead", "cancelled"]
JobStep = Literal["derive", "associate", "place", "episode", "promote", "fold", "digest", "rederive", "embed", "sweep", "replay", "map", "wake"]
LinkKind = Literal["related", "elaborates", "continues", "contradicts", "causes"]
MemberRole = Literal["viewer", "editor", "admin"]
MemoryFeedbackVerdict = Literal["positive", "negative", "very_negative", "wrong"]
MemoryItemKind = Literal["fact", "turn", "note", "page", "episode", "core"]
ModelCallStatus = Literal["ok", "repaired", "failed"]
NoteEnrichment = Literal["pending", "done"]
NoteVisibility = Literal["active", "dormant"]
OpenConflictKind = Literal["conflict", "quarantine", "overwrite", "erase", "merge", "rename"]
OpenConflictRisk = Literal["low", "medium", "high"]
OpenConflictState = Literal["open", "accepted", "rejected"]
ReplayDecision = Literal["", "live", "dropped"]
ReplayResultSide = Literal["current", "candidate"]
ReplayState = Literal["running", "done", "cancelled"]
ReviewRuleAnswer = Literal["accept", "keep_both", "reject"]
ReviewRuleKind = Literal["conflict", "quarantine", "overwrite", "erase", "merge", "rename"]
SegmentTier = Literal["mid", "cold"]
TraitLevel = Literal["high", "medium", "low"]
TurnRole = Literal["user", "assistant", "system", "tool"]
TurnState = Literal["pending", "processed", "failed", "redacted"]
TurnTimeFlag = Literal["", "missing", "naive", "future"]
WebhookContent = Literal["ids", "text"]
WebhookStyle = Literal["native", "mem0"]
WindowMessageRole = Literal["system", "user", "assistant", "tool"]
WindowTurnEnding = Literal["yielded", "paused", "failures", "steps", "broken"]


class AddBatchResult(Row):
    items: list[AddedMessages]


class AddResult(Row):
    """What was stored; `job` has the decisions once it has ended."""

    job: Job | None
    job_id: str | None
    session: AddedSession
    space: AddedSpace
    turns: list[AddedTurn]


class AddedMessages(Row):
    """What was stored, and the job that reads it. A repetition of what was erased since tells
    neither space nor session."""

    job_id: str | None
    session: AddedSession
    space: AddedSpace
    turns: list[AddedTurn]


class AddedSession(Row):
    id: str
    name: str


class AddedSpace(Row):
    id: str
    subject: str


class AddedTurn(Row):
    """`duplicate`: delivered before, and not stored again."""

    duplicate: bool
    external_id: str
    id: str
    occurred_at: datetime
    seq: int
    time_flag: str


class AgentTool(Row):
    """A tool an agent may call; `parameters` is a JSON schema."""

    description: str
    name: str
    parameters: dict[str, Any]


class Answer(Row):
    """`calls`: questions to models, routing and judging included. The other fields are those of
    a search; `degraded` may also hold "answer": the model failed, and the rules answered
    instead."""

    abstained: bool
    calls: int
    citations: list[Citation]
    conflicts: list[ConflictingMemories]
    degraded: list[str]
    explain: dict[str, Any]
    insufficient: bool
    ms: float
    pending_turns: int
    query_truncated: bool
    quoted: bool
    recall_id: str | None
    text: str
    tokens: AnswerTokens
    took_ms: dict[str, float]
    unverified: bool


class AnswerTokens(Row):
    """`memories`: of what was handed over to be answered from. The others: what models
    counted."""

    completion: int
    memories: int
    prompt: int


class ArmRank(Row):
    """A memory's place, from 1, and score in one arm of a channel: by meaning, or by words."""

    rank: int
    score: float


class AuditEntry(Row):
    """What a person or a key changed: of memories, policies, keys, people, webhooks, the
    tenant."""

    about: str | None
    action: str | None
    actor: str | None
    area: str | None
    at: datetime | None
    id: str
    reason: str | None
    subject: str | None


class Block(Row):
    """Text always in front of an agent. Without a `space_id` it is shared."""

    agent: str
    char_limit: int
    description: str
    generated: bool
    id: str
    label: str
    read_only: bool
    retired_at: datetime | None
    space_id: str | None
    updated_at: datetime
    value: str
    version: int


class BlockVersion(Row):
    """What a block said in one of its versions, and who wrote it."""

    actor: str
    created_at: datetime
    id: str
    reason: str
    space_id: str | None
    turn_id: str | None
    value: str
    version: int


class Change(Row):
    """One row's change within an event. `before` is null when the event made the row."""

    actor: str
    after: Any
    before: Any
    created_at: datetime
    event_id: str
    event_kind: ChangeEventKind
    id: str
    reason: str
    row_id: str
    row_type: str
    version_after: int
    version_before: int | None


class ChangedValue(Row):
    after: Any
    before: Any


class ChannelRank(Row):
    """That a channel held out a memory: its place there from 1, its score there, and why.
    `arms`: "dense" and "lexical", as far as the channel has them."""

    arms: dict[str, ArmRank]
    channel: str
    rank: int
    reason: str
    score: float


class Citation(Row):
    """A memory behind an answer.  `part`: the characters of the answer that rest on it. `quote`
    is what they rest on, word by word, found at the characters `span` of `text`. `valid_to`: it
    holds no longer."""

    event_from: datetime | None
    event_text: str
    event_to: datetime | None
    id: str
    kind: CitationKind
    occurred_at: datetime
    owner: str
    part: list[int]
    quote: str
    refs: list[str]
    sources: list[TurnSource]
    span: list[int]
    speaker: str
    status: str
    text: str
    valid_from: datetime | None
    valid_to: datetime | None


class ConflictDecision(Row):
    """What came of one of many: `refused` says why it was not done, "" that it was."""

    event_id: str | None
    id: str
    refused: str
    state: str


class ConflictDecisions(Row):
    results: list[ConflictDecision]


class ConflictingMemories(Row):
    """Memories that can't all hold at once. Reported, never changed by a search (I11)."""

    ids: list[str]
    why: str


class Context(Row):
    """`text` is the block to put into a prompt, `tokens` of it at most those asked for.
    `handles`: what the block calls the memories. `ranked`: those that were found, best first.
    `left_out`: items there was no room for. The other fields are those of a search."""

    conflicts: list[ConflictingMemories]
    degraded: list[str]
    explain: Explanation | None
    handles: dict[str, str]
    insufficient: bool
    left_out: int
    ms: float
    pending_turns: int
    ranked: list[str]
    recall_id: str | None
    rounds: int
    sections: list[ContextSection]
    text: str
    tokens: int
    took_ms: dict[str, float]
    unverified: bool


class ContextSection(Row):
    items: list[MemoryItem]
    name: str


class Decision(Row):
    """What became of a claim. `fact_id` is empty where there is no fact of it."""

    fact_id: str
    op: str
    reason: str
    target: DecisionTarget | None
    text: str
    turns: list[str]


class DecisionTarget(Row):
    id: str
    text: str


class DeletedWebhook(Row):
    deleted: bool
    id: str


class Delivery(Row):
    """An event on its way to a webhook: what was sent but for words, and what was answered."""

    created_at: datetime
    data: dict[str, Any]
    error: str
    event_id: str
    finished_at: datetime | None
    id: str
    log: list[Any]
    milliseconds: float | None
    occurred_at: datetime
    reply: str
    run_after: datetime
    state: DeliveryState
    status: int | None
    subject: str | None
    tries: int
    type: str
    webhook_id: str


class DerivedRow(Row):
    """What was derived from a turn."""

    id: str
    kind: str
    role: str


class Difference(Row):
    """What is different from some moment."""

    fields: dict[str, ChangedValue]
    how: DifferenceHow
    id: str
    kind: str
    values: dict[str, Any]


class DroppedMemory(Row):
    """Something that was considered and is not shown. `of`: what is shown in its place.  `text`
    is cut to 120 characters. `score` is on the scale of the results' scores, where it has one;
    `parts` add up to it. `detail` says more of the reason, as "superseded"."""

    detail: str
    found: list[ChannelRank]
    id: str
    kind: DroppedMemoryKind
    of: str | None
    parts: dict[str, float]
    score: float | None
    text: str
    why: DroppedMemoryWhy


class DryRunDecision(Row):
    """What would become of a claim. `turns`: places among the messages."""

    op: str
    reason: str
    target: DecisionTarget | None
    text: str
    turns: list[int]


class DryRunResult(Row):
    """What would become of messages. Nothing is stored."""

    decisions: list[DryRunDecision]
    dry_run: bool
    new_subject: bool
    new_turns: int


class EffectivePolicy(Row):
    """`version`, `preset` and `overrides` are the layer's own; `policy` is what is in force.
    After a dry run only `policy` and `changes`: what would be another."""

    actor: str
    changes: list[PolicyDifference]
    dry_run: bool
    in_force: str
    overrides: dict[str, Any]
    policy: dict[str, Any]
    preset: str
    reason: str
    version: int


class Entity(Row):
    """Somebody or something that facts speak of."""

    aliases: list[str]
    corrected_by: str
    engine: str
    id: str
    mention_count: int
    merged_into: str | None
    name: str
    retired_at: datetime | None
    summary: str
    type: str
    version: int


class Episode(Row):
    """A closed span, summed up: of a topic, a session, a day, all days."""

    corrected_by: str
    day: str | None
    details: dict[str, Any]
    engine: str
    from_at: datetime
    from_seq: int
    id: str
    kind: EpisodeKind
    last_recall_at: datetime | None
    parent_id: str | None
    pinned: bool
    recall_count: int
    retired_at: datetime | None
    session_id: str | None
    sources: list[Source]
    stale: bool
    strength: int
    text: str
    title: str
    to_at: datetime
    to_seq: int
    version: int
    visibility: EpisodeVisibility


class Erasure(Row):
    """What was erased, by its receipt; after a dry run, what would go."""

    counts: dict[str, int]
    dry_run: bool
    receipt: Receipt
    review: list[dict[str, Any]]
    samples: dict[str, list[str]]


class Event(Row):
    """One change-set: who or what changed memory, and why."""

    actor: str
    changes: list[EventChange]
    created_at: datetime
    engine: str
    id: str
    is_purged: bool
    job_id: str | None
    kind: EventKind
    policy_version: str
    reason: str
    trigger: str
    undo_of: str | None
    undone_by: str | None


class EventChange(Row):
    """What an event did to one row. `before` is null where it made the row."""

    after: dict[str, Any] | None
    before: dict[str, Any] | None
    row_id: str
    row_type: str
    version_after: int | None
    version_before: int | None


class ExpectedMemory(Row):
    """`lineage`: of a fact. `turns`: those that it rests on."""

    id: str
    kind: ExpectedMemoryKind
    lineage: str
    turns: list[str]


class Explanation(Row):
    """What was done to get there. `channels`: how many candidates each brought.  `judged`: the
    judge's word, "" where nobody was asked. The results' own part is in `Item.parts` and
    `Item.found`."""

    channels: dict[str, int]
    dropped: list[DroppedMemory]
    judged: str
    route: RouteTaken


class Fact(Row):
    """A claim. `lineage` is the same for all its wordings and successors."""

    asserted_at: datetime
    cardinality: str
    confidence: float
    corrected_by: str
    engine: str
    event_from: datetime | None
    event_text: str
    event_to: datetime | None
    id: str
    kind: str
    last_recall_at: datetime | None
    lineage: str
    lineage_version: int
    mention_count: int
    metadata: dict[str, Any]
    owner: str
    pinned: bool
    polarity: str
    predicate: str
    recall_count: int
    recorded_at: datetime
    retired_at: datetime | None
    shelf: FactShelf
    sources: list[Source]
    speaker: str
    status: FactStatus
    strength: int
    supersedes: str | None
    text: str
    valid_from: datetime
    valid_to: datetime | None
    value: str
    version: int
    visibility: FactVisibility


class GoldenQuestion(Row):
    """A question, and the memories that a search for it should find."""

    changed_at: datetime
    corrected_by: str
    created_at: datetime
    created_by: str
    engine: str
    expected: list[ExpectedMemory]
    id: str
    retired_at: datetime | None
    tags: list[str]
    text: str
    version: int


class HeldRow(Row):
    """A row as it was held at some moment."""

    id: str
    kind: str
    values: dict[str, Any]


class Import(Row):
    """An import from another system, tried or done, with its report."""

    created_at: datetime
    done: int
    dry_run: bool
    error: str
    file_name: str
    finished_at: datetime | None
    id: str
    only: list[str]
    report: dict[str, Any]
    size: int
    source: str
    state: ImportState
    subject: str
    total: int


class ImportedSpace(Row):
    """`existed`: as an empty one."""

    existed: bool
    id: str
    subject: str


class Item(Row):
    """A value that an application keeps under a namespace and a key of its own."""

    created_at: datetime
    expires_at: datetime | None
    id: str
    key: str
    namespace: list[str]
    updated_at: datetime
    value: Any
    version: int


class ItemChanges(Row):
    """`changed`: how many items are other than before."""

    changed: int


class ItemResults(Row):
    """By operation: an item or null, the items found, or namespaces."""

    results: list[Any]


class Job(JobRow):
    """A step of the work on a subject, with what became of each claim."""

    attempts: int
    created_at: datetime
    decisions: list[Decision]
    error: str
    finished_at: datetime | None
    first_seq: int
    id: str
    lane: str
    last_seq: int
    run_after: datetime
    started_at: datetime | None
    state: JobState
    step: JobStep
    subject: str


class JobProgress(JobRow):
    """A job as it is now; `unread` of its turns are still to be read. Once erased it is
    `gone`."""

    attempts: int
    decisions: list[Decision]
    error: str
    first_seq: int
    id: str
    last_seq: int
    state: str
    step: JobProgressStep
    unread: int


class Key(Row):
    """A key of an agent backend, without its secret."""

    created_at: datetime
    expires_at: datetime | None
    id: str
    last_used_at: datetime | None
    name: str
    prefix: str
    revoked_at: datetime | None
    scopes: list[str]
    subject: str | None


class KeyWithSecret(Row):
    """`key`: in the answer that made it, and in no other."""

    created_at: datetime
    expires_at: datetime | None
    id: str
    key: str | None
    last_used_at: datetime | None
    name: str
    prefix: str
    revoked_at: datetime | None
    scopes: list[str]
    subject: str | None


class Link(Row):
    """Two notes that belong together."""

    a: str
    active: bool
    b: str
    corrected_by: str
    created_at: datetime
    engine: str
    id: str
    kind: LinkKind
    reason: str
    retired_at: datetime | None
    version: int
    weight: float


class LoggedRequest(Row):
    """A request that came with a key: its route as declared, how it ended and how long it
    took."""

    at: datetime
    error: str
    id: str
    key: str | None
    key_id: str
    method: str
    milliseconds: float
    request_id: str
    route: str
    status: int


class Member(Row):
    """A person who may sign in to the tenant's console, and as what."""

    email: str
    id: str
    last_login: datetime | None
    role: MemberRole
    username: str


class MemoryFeedback(Row):
    """What somebody thinks of a memory: it helped, it did not, it harmed, or it is not true."""

    actor: str
    comment: str
    created_at: datetime
    id: str
    kind: str
    memory_id: str
    recall_id: str | None
    verdict: MemoryFeedbackVerdict


class MemoryItem(Row):
    """One memory. `parts` says what each signal added to `score`; they add up to it.  For all
    but facts `valid_from` and `valid_to` are None and `status` is "active". `linked`: not found
    itself, but linked to a note that was. `summary`: of the chain a page belongs to, or an
    episode's title. `reason`: what a channel of a context found it by. `unread`: a turn that is
    not read yet, so that nothing is derived from it. `found`: by which channels. `matter`: what
    a fact that is held is about, where only one such can hold at a time. `metadata`: of a fact,
    the sender's own. `relevant` False: among the nearest to the question, on which it hardly
    bears. `keywords`, `tags` and `context` describe a note, as it has evolved. `relations`:
    what a fact that the graph has found says of entities, where the policy hands over the
    graph."""

    context: str
    event_from: datetime | None
    event_text: str
    event_to: datetime | None
    found: list[ChannelRank]
    id: str
    keywords: list[str]
    kind: MemoryItemKind
    linked: bool
    matter: str
    metadata: dict[str, Any]
    occurred_at: datetime
    owner: str
    parts: dict[str, float]
    reason: str
    relations: list[str]
    relevant: bool
    score: float
    sources: list[TurnSource]
    speaker: str
    status: str
    summary: str
    tags: list[str]
    text: str
    unread: bool
    valid_from: datetime | None
    valid_to: datetime | None


class ModelCall(Row):
    """A question put to a model, without its words."""

    attempts: int
    completion_tokens: int
    cost: float
    created_at: datetime
    id: str
    job_id: str | None
    milliseconds: float
    model: str
    prompt_tokens: int
    purpose: str
    rejected: int
    status: ModelCallStatus
    subject: str | None
    template: str


class NamedSpace(Row):
    """The subject as it is now."""

    space: Space


class NewMember(Row):
    """`password`: in the answer that made it, and in no other."""

    member: Member
    password: str | None


class Note(Row):
    """A memory with descriptors that may evolve. Its content does not."""

    author: str
    category: str
    content: str
    context: str
    corrected_by: str
    created_at: datetime
    engine: str
    enrichment: NoteEnrichment
    fact_id: str | None
    id: str
    keywords: list[str]
    last_recall_at: datetime | None
    links: list[NoteLink]
    occurred_at: datetime
    page_id: str | None
    pinned: bool
    recall_count: int
    retired_at: datetime | None
    sources: list[Source]
    strength: int
    tags: list[str]
    version: int
    visibility: NoteVisibility


class NoteLink(Row):
    """A link as one of its notes shows it; `note_id` is the other one."""

    id: str
    kind: str
    note_id: str
    reason: str


class OfferedTools(Row):
    tools: list[AgentTool]


class OpenConflict(Row):
    """A change the pipeline may not make by itself: it waits for a decision."""

    answers: list[str]
    created_at: datetime
    decided_at: datetime | None
    decided_because: str
    decided_by: str
    event_id: str | None
    id: str
    kind: OpenConflictKind
    payload: dict[str, Any]
    reason: str
    risk: OpenConflictRisk
    row_id: str | None
    row_type: str
    rule_id: str | None
    state: OpenConflictState
    turn_ids: list[str]


class OutcomeSummary(Row):
    """A setting over all questions. `recall` maps k to the mean share found among the first
    k."""

    calls: int
    degraded: int
    handed: float
    insufficient: int
    nearness: float
    p50: float
    p95: float
    questions: int
    recall: dict[str, float]
    tokens: int


class PausedSpace(Row):
    """The subject as it is now."""

    space: Space


class PersonLink(Row):
    """A person's way to the page of their own memories, without its token."""

    created_at: datetime
    created_by: str
    expires_at: datetime
    id: str
    last_used_at: datetime | None
    note: str
    revoked_at: datetime | None


class PersonLinkWithAddress(Row):
    """`url`: in the answer that made it, and in no other."""

    created_at: datetime
    created_by: str
    expires_at: datetime
    id: str
    last_used_at: datetime | None
    note: str
    revoked_at: datetime | None
    url: str | None


class PolicyDifference(Row):
    """A switch that has another value in one policy than in the other."""

    after: Any
    before: Any
    name: str


class PolicySwitch(Row):
    """One setting of a policy, by its dotted name."""

    bounds: str
    default: Any
    help: str
    kind: str
    name: str


class PolicyVersion(Row):
    """A version of the policy of a tenant or a space: what it changed, who changed it, and
    why."""

    actor: str
    created_at: datetime
    id: str
    overrides: dict[str, Any]
    preset: str
    reason: str
    version: int


class Preset(Row):
    """`summary` says for whom it is, `paper` where it comes from ("" for none)."""

    name: str
    overrides: dict[str, Any]
    paper: str
    summary: str
    title: str


class ProfileAttribute(Row):
    """A name, a birth year, a role: by hand, or mirrored from the fact that says it."""

    corrected_by: str
    engine: str
    fact_id: str | None
    id: str
    key: str
    owner: str
    retired_at: datetime | None
    sources: list[Source]
    value: str
    version: int


class QualityReading(Row):
    """How many facts a signal of quality is about, with a sample of them."""

    found: int
    id: str
    measured_at: datetime
    of: int
    samples: list[Any]
    signal: str


class Receipt(Row):
    """What an erasure removed, in numbers: it outlives what it was about."""

    actor: str
    counts: dict[str, Any]
    created_at: datetime
    gone_at: datetime | None
    id: str
    reason: str
    review: list[Any]
    target: str
    target_digest: str
    undoable_until: datetime | None
    undone_at: datetime | None


class Relation(Row):
    """What relates two entities: a fact as an arrow from one to the other."""

    corrected_by: str
    dst: str
    dst_name: str
    engine: str
    fact_id: str
    id: str
    label: str
    retired_at: datetime | None
    src: str
    src_name: str
    version: int


class RememberedDecision(Row):
    """What became of it: `op` (added, the same as one held, taking another's place, …), why,
    and the fact that it touched."""

    op: str
    reason: str
    target: DecisionTarget | None


class RememberedFact(Row):
    """The fact that says it now, what became of it, and the event to undo."""

    decision: RememberedDecision
    event_id: str | None
    fact: Fact | None


class Replay(Row):
    """A candidate setting beside the one in force, on golden questions."""

    actor: str
    answered: int
    candidate: dict[str, Any]
    created_at: datetime
    current: dict[str, Any]
    decided_at: datetime | None
    decided_by: str
    decision: ReplayDecision
    embedder: str
    engine: str
    finished_at: datetime | None
    id: str
    overrides: Any
    preset: str
    state: ReplayState
    subject: str | None
    sums: ReplaySums
    tag: str
    unseen: list[str]
    verdicts: dict[str, int]
    wanted: int


class ReplayResult(Row):
    """What one side of a replay found for a question."""

    calls: int
    degraded: list[str]
    handed: int
    id: str
    insufficient: bool
    milliseconds: float
    question_id: str
    ranks: list[Any]
    shown: list[Any]
    side: ReplayResultSide
    text: str
    tokens: int


class ReplaySums(Row):
    candidate: OutcomeSummary
    current: OutcomeSummary


class ReviewRule(Row):
    """An answer given beforehand to cases of one kind, in a space or in all."""

    answer: ReviewRuleAnswer
    created_at: datetime
    created_by: str
    id: str
    kind: ReviewRuleKind
    predicate_key: str
    reason: str
    removed_at: datetime | None
    removed_by: str
    role: str
    subject: str | None


class RouteTaken(Row):
    """How the question was understood. `because` says in words why it went where it went.
    `query` is the question as it was searched, `embedded` and `words` what the two arms looked
    for, `wanted` how many memories it asks for."""

    asks_when: bool
    because: str
    channels: list[str]
    embedded: str
    intent: list[str]
    mode: str
    named: list[str]
    predicates: list[str]
    query: str
    select: str
    speaker: str
    times: list[str]
    wanted: int
    words: str


class SavedDelivery(Row):
    """The row as it is now."""

    delivery: Delivery


class SavedFeedback(Row):
    """The word as it is kept; null where it was taken back."""

    feedback: MemoryFeedback | None


class SavedMember(Row):
    """The row as it is now."""

    member: Member


class SavedOpenConflict(Row):
    """The row as it is now."""

    conflict: OpenConflict


class SavedReplay(Row):
    """The row as it is now."""

    replay: Replay


class SavedReviewRule(Row):
    """The row as it is now."""

    review_rule: ReviewRule


class SavedWebhook(Row):
    """The row as it is now."""

    webhook: Webhook


class SavedWindow(Row):
    """The row as it is now."""

    window: Window


class SearchResult(Row):
    """`insufficient`: nothing in the space bears on the query (E32), or the judge wants more.
    `tokens` of the items' texts, counted where a budget was given. `took_ms` by stage.
    `explain` is there on request. `recall_id`: its entry in the recall log, which is there some
    seconds later; None where nothing is logged. `unasked`: what the policy hands over whatever
    is asked, such as the shelf and the latest exchanges."""

    conflicts: list[ConflictingMemories]
    degraded: list[str]
    explain: Explanation | None
    insufficient: bool
    items: list[MemoryItem]
    ms: float
    pending_turns: int
    query_truncated: bool
    recall_id: str | None
    rounds: int
    tokens: int | None
    took_ms: dict[str, float]
    unasked: list[ContextSection]
    unverified: bool


class Segment(Row):
    """Exchanges about one topic, with what their heat is made of."""

    corrected_by: str
    ended_at: datetime
    engine: str
    id: str
    keywords: list[str]
    last_visited_at: datetime
    pages: list[SegmentPageRow]
    pages_total: int
    retired_at: datetime | None
    stale: bool
    started_at: datetime
    summary: str
    tier: SegmentTier
    version: int
    visits_total: int


class SegmentPageRow(Row):
    """An exchange of a segment; `score`: how well it fits."""

    first_seq: int
    last_seq: int
    page_id: str
    score: float | None
    session_id: str
    theme: str


class Session(Row):
    """A conversation. `ordinal` counts the subject's from 1."""

    channel: str
    ended_at: datetime
    id: str
    name: str
    ordinal: int
    started_at: datetime
    turn_count: int


class Source(Row):
    """A turn that a memory rests on; `span`: the characters of it."""

    occurred_at: datetime
    role: str
    span: list[int] | None
    speaker: str
    text: str
    turn_id: str
    via: SourceOrigin | None


class SourceOrigin(Row):
    """The memory by way of which a turn was come by."""

    id: str
    kind: str


class Space(Row):
    """A subject with its space: everything that is remembered about it."""

    counts: SpaceCounts
    created_at: datetime
    id: str
    last_activity_at: datetime | None
    name: str
    paused_at: datetime | None
    speakers: list[str]
    subject: str
    timezone: str


class SpaceCounts(Row):
    """How many memories of each kind there are, and jobs that are not done."""

    entities: int
    episodes: int
    facts: int
    failed: int
    notes: int
    segments: int
    turns: int
    waiting: int


class SpaceImportReport(Row):
    """What came in, or would. `ids`: kept, or new. `ignored`: fields and kinds of lines that
    this hub does not know. `left_out`: what the tenant has of its own. `vectors`: taken from
    the file, and to be made by a job."""

    counts: dict[str, int]
    dry_run: bool
    ids: str
    ignored: dict[str, int]
    left_out: dict[str, int]
    scope: str
    spaces: list[ImportedSpace]
    vectors: dict[str, int]
    version: str


class StepOutcome(Row):
    """What an agent did, and what came of it. `arguments` are as sent where they do not
    parse."""

    arguments: Any
    ok: bool
    result: str
    thought: str
    tool: str


class StoredItem(Row):
    """A value with its subject; `score` where it was searched for."""

    created_at: datetime
    expires_at: datetime | None
    id: str
    key: str
    namespace: list[str]
    score: float | None
    subject: str
    updated_at: datetime
    value: Any
    version: int


class ToolStep(Row):
    """What an agent did, and what came of it. `arguments` are as sent where they do not
    parse."""

    arguments: Any
    ok: bool
    paused_minutes: int
    result: str
    thought: str
    tool: str


class Trait(Row):
    """An assessment of one registered dimension, while it held."""

    confidence: float
    corrected_by: str
    engine: str
    id: str
    key: str
    level: TraitLevel
    owner: str
    rationale: str
    retired_at: datetime | None
    sources: list[Source]
    valid_from: datetime
    valid_to: datetime | None
    version: int
    words: str


class Turn(Row):
    """A message as it was said. Its text never changes, except by erasure."""

    agent: str
    external_id: str
    id: str
    lang: str
    made: list[DerivedRow]
    metadata: dict[str, Any]
    occurred_at: datetime
    ordinal: int
    received_at: datetime
    role: TurnRole
    seq: int
    session_id: str
    speaker: str
    speech_act: str
    state: TurnState
    text: str
    time_flag: TurnTimeFlag


class TurnSource(Row):
    """A turn a memory rests on. `ref` is "D{session}:{turn}"; `span` the supporting
    characters."""

    external_id: str
    occurred_at: datetime
    ref: str
    span: list[int] | None
    speaker: str
    text: str
    turn_id: str


class UndoResult(Row):
    """What was taken back, or would be: events, what became different, and the events made."""

    changes: list[Difference]
    dry_run: bool
    event_ids: list[str]
    undone: list[str]


class Usage(Row):
    days: list[UsageFigures]
    models: list[UsageFigures]
    purposes: list[UsageFigures]
    since: datetime
    total: UsageFigures


class UsageFigures(Row):
    """What models took; of a day, a purpose or a model, its name with it."""

    calls: int
    day: str
    failed: int
    model: str
    money: float
    purpose: str
    rejected: int
    tokens: int


class Webhook(Row):
    """An address that is told what happens, without its secret."""

    changed_at: datetime
    content: WebhookContent
    created_at: datetime
    created_by: str
    disabled_because: str
    events: list[str]
    failures: int
    id: str
    is_active: bool
    last_success_at: datetime | None
    name: str
    previous_until: datetime | None
    quiet_until: datetime | None
    style: WebhookStyle
    subject: str | None
    url: str
    version: int


class WebhookWithSecret(Row):
    """`secret`: in the answer that made it, and in no other."""

    secret: str
    webhook: Webhook


class Window(Row):
    """What of a session is in front of an agent: the messages from `head_seq` on, behind the
    summary of those that left. `alerted`: it was told that its window is nearly full. `hidden`
    messages have left and wait to be summed up. Timers wake it every `beat_minutes`, next at
    `beats_at`, and once at `alarm_at`."""

    agent: str
    alarm_at: datetime | None
    alerted: bool
    beat_minutes: int
    beats_at: datetime | None
    context_limit: int
    head_seq: int
    hidden: int
    id: str
    messages: list[WindowMessage]
    session: str
    session_id: str
    session_ordinal: int
    summary: str
    tokens: int
    version: int


class WindowAppended(Row):
    """What was stored, the job that reads it, and the window as it is then."""

    job_id: str | None
    turns: list[AddedTurn]
    window: Window


class WindowMessage(Row):
    """A message as the agent's model is shown it: blocks and summary first, as the system's. A
    call of a tool and its result name each other by `call_id`."""

    arguments: str
    call_id: str
    content: str
    role: WindowMessageRole
    tool: str


class WindowTurn(Row):
    """What the agent said and did, why it stopped, and the window as it is then. `trouble` says
    what broke where it did."""

    ending: WindowTurnEnding
    paused_minutes: int
    said: list[str]
    steps: list[StepOutcome]
    trouble: str
    turn_ids: list[str]
    window: Window


class WrittenAttribute(Row):
    key: str
    value: str


class WrittenBlock(Row):
    """The row as it is now, and the event that changed it."""

    block: Block
    event_id: str | None


class WrittenEntity(Row):
    """The row as it is now, and the event that changed it."""

    entity: Entity
    event_id: str | None


class WrittenFact(Row):
    """The row as it is now, and the event that changed it."""

    event_id: str | None
    fact: Fact


class WrittenGoldenQuestion(Row):
    """The row as it is now, and the event that changed it."""

    event_id: str | None
    golden_question: GoldenQuestion


class WrittenNote(Row):
    """The row as it is now, and the event that changed it."""

    event_id: str | None
    note: Note


class WrittenTrait(Row):
    key: str
    level: str
    words: str
