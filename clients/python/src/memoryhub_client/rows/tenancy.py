"""The rows of a tenant: its policy, keys and people, its jobs and what they took, its webhooks."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from memoryhub_client.rows.base import Row


class SwitchChange(Row):
    name: str
    before: Any
    after: Any


class Policy(Row):
    """What a space changes of its tenant's policy, or the tenant of the presets; `policy` is all
    that is in force. After a dry run only `policy` and `changes`, what would be another."""

    dry_run: bool
    changes: list[SwitchChange]
    version: int
    preset: str
    overrides: dict[str, Any]
    actor: str
    reason: str
    in_force: str
    policy: dict[str, Any]


class PolicyVersion(Row):
    id: str
    version: int
    preset: str
    overrides: dict[str, Any]
    actor: str
    reason: str
    created_at: datetime


class Preset(Row):
    """`paper`: what it is modelled on."""

    name: str
    title: str
    summary: str
    paper: str
    overrides: dict[str, Any]


class Switch(Row):
    """One setting of a policy, by its dotted name."""

    name: str
    kind: str
    default: Any
    bounds: str
    help: str


class Key(Row):
    """`key`: the secret itself, only in the answer that made it."""

    id: str
    name: str
    prefix: str
    scopes: list[str]
    subject: str | None
    created_at: datetime
    expires_at: datetime | None
    revoked_at: datetime | None
    last_used_at: datetime | None
    key: str


class PersonLink(Row):
    """A person's way to the page of their own memories; `url` only in the answer that made it."""

    id: str
    note: str
    created_by: str
    created_at: datetime
    expires_at: datetime
    last_used_at: datetime | None
    revoked_at: datetime | None
    url: str


class Member(Row):
    id: str
    username: str
    email: str
    role: str
    last_login: datetime | None


class NewMember(Row):
    """`password`: in the answer that made it, and in no other."""

    member: Member
    password: str


class Decision(Row):
    """What became of a claim. In a dry run, `turns` are places among the messages."""

    text: str
    op: str
    reason: str
    fact_id: str | None
    target: dict[str, Any] | None
    turns: list[Any]


class Job(Row):
    """`unread`, turns still to be read, only in its progress."""

    id: str
    subject: str
    step: str
    lane: str
    state: str
    attempts: int
    error: str
    first_seq: int | None
    last_seq: int | None
    created_at: datetime
    run_after: datetime
    started_at: datetime | None
    finished_at: datetime | None
    decisions: list[Decision]
    unread: int

    @property
    def ended(self) -> bool:
        return self.state in ("done", "dead", "cancelled", "gone")


class Receipt(Row):
    """Of an erasure."""

    id: str | None
    target: str
    target_digest: str
    actor: str
    reason: str
    counts: dict[str, int]
    review: Any
    created_at: datetime


class Erasure(Row):
    """What an erasure did; after a dry run `counts`, `samples` and `review` say what would go."""

    dry_run: bool
    receipt: Receipt
    counts: dict[str, int]
    samples: Any
    review: Any


class UsageFigures(Row):
    calls: int
    tokens: int
    money: float
    failed: int
    rejected: int
    day: str
    purpose: str
    model: str


class Usage(Row):
    """What models took. `since` is a date, as text."""

    since: str
    total: UsageFigures
    days: list[UsageFigures]
    purposes: list[UsageFigures]
    models: list[UsageFigures]


class ModelCall(Row):
    id: str
    subject: str | None
    job_id: str | None
    purpose: str
    template: str
    model: str
    status: str
    attempts: int
    prompt_tokens: int
    completion_tokens: int
    cost: float | None
    milliseconds: int
    rejected: int
    created_at: datetime


class LoggedRequest(Row):
    """`route` as it is declared, without what was said. `key`: its name, while it is there."""

    id: str
    at: datetime
    method: str
    route: str
    status: int
    milliseconds: float
    error: str
    request_id: str
    key_id: str
    key: str | None


class AuditEntry(Row):
    """`area`: memory, policy, erasure, key, person, webhook, tenant or data."""

    id: str
    at: datetime
    actor: str
    area: str
    action: str
    about: str
    reason: str
    subject: str | None


class Replay(Row):
    """A candidate beside what is in force, on golden questions.

    From `answered` on only where one is read by itself.
    """

    id: str
    subject: str | None
    tag: str
    preset: str
    overrides: dict[str, Any] | None
    engine: str
    embedder: str
    current: dict[str, Any]
    candidate: dict[str, Any]
    state: str
    decision: str
    decided_by: str
    decided_at: datetime | None
    actor: str
    created_at: datetime
    finished_at: datetime | None
    answered: int
    wanted: int
    unseen: list[str]
    verdicts: dict[str, int]
    sums: dict[str, dict[str, Any]]


class ReplayResult(Row):
    """What one `side`, current or candidate, found for a question; `ranks` of what it should."""

    id: str
    question_id: str
    text: str
    side: str
    ranks: list[Any]
    shown: list[Any]
    insufficient: bool
    degraded: list[str]
    milliseconds: float
    tokens: int
    calls: int
    handed: int


class Webhook(Row):
    id: str
    name: str
    url: str
    events: list[str]
    subject: str | None
    style: str
    content: str
    is_active: bool
    disabled_because: str
    failures: int
    quiet_until: datetime | None
    last_success_at: datetime | None
    previous_until: datetime | None
    created_by: str
    created_at: datetime
    changed_at: datetime
    version: int


class WebhookWithSecret(Row):
    """`secret`: in this answer, and in no other."""

    webhook: Webhook
    secret: str


class Delivery(Row):
    """One event on its way to a webhook; `log` has its latest tries."""

    id: str
    webhook_id: str
    event_id: str
    type: str
    subject: str | None
    data: dict[str, Any]
    occurred_at: datetime
    state: str
    tries: int
    status: int | None
    error: str
    reply: str
    milliseconds: float | None
    log: Any
    run_after: datetime | None
    created_at: datetime
    finished_at: datetime | None


class ReviewRule(Row):
    """An answer given beforehand to cases of one `kind`; subject None and empty texts: to any."""

    id: str
    subject: str | None
    kind: str
    predicate_key: str
    role: str
    answer: str
    reason: str
    created_by: str
    created_at: datetime
    removed_by: str
    removed_at: datetime | None


class Import(Row):
    """Memories of another system on their way in; `report` says what became of them."""

    id: str
    source: str
    file_name: str
    size: int
    subject: str
    only: list[str]
    dry_run: bool
    state: str
    done: int
    total: int | None
    error: str
    report: dict[str, Any]
    created_at: datetime
    finished_at: datetime | None


class ImportedSpace(Row):
    """`existed`: as an empty one."""

    id: str
    subject: str
    existed: bool


class ImportResult(Row):
    """What of an export came in, or would. `ids`: kept, or new where they were taken."""

    dry_run: bool
    version: str
    scope: str
    ids: str
    spaces: list[ImportedSpace]
    counts: dict[str, int]
    ignored: dict[str, int]
    left_out: dict[str, int]
    vectors: dict[str, int]
