"""What is asked of a hub: adding, searching, answering, and what concerns all subjects."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from memoryhub_client.calls.base import (
    SEND_NULL,
    CallGroup,
    Filter,
    ListCalls,
    RowCalls,
    Time,
    build_query,
)
from memoryhub_client.calls.methods import Listing, M, Runner, Stream, call, pages, stream
from memoryhub_client.calls.shared import FILE_SECONDS, SharedCalls
from memoryhub_client.calls.space import SpaceCalls
from memoryhub_client.calls.tenant import (
    Deliveries,
    Imports,
    Keys,
    Members,
    Replays,
    ReviewRules,
    Webhooks,
)
from memoryhub_client.errors import JobFailed, StillRunning
from memoryhub_client.events import EventReader
from memoryhub_client.flows import Flow, Request, Sleep, build_idempotency_key
from memoryhub_client.rows.models import (
    AddResult,
    Answer,
    AuditEntry,
    Context,
    DryRunResult,
    Job,
    JobProgress,
    LoggedRequest,
    ModelCall,
    PolicySwitch,
    Preset,
    Receipt,
    RememberedFact,
    SearchResult,
    Space,
    SpaceImportReport,
    StoredItem,
    Usage,
)

Messages = str | Mapping[str, Any] | Sequence[Mapping[str, Any]]
Select = Literal["fused", "fixed", "routed"]
Limit = int | Literal["policy"] | None
# As long as the hub itself waits for a job.
_HUB_WAIT_SECONDS = 30.0


def _name_limit(limit: Limit) -> Any:
    """As the hub reads it: left out, it is the policy that says how many."""
    if limit == "policy":
        return None
    return SEND_NULL if limit is None else limit


class Jobs(RowCalls[M, Job]):
    _row = Job

    @pages
    def in_state(self, state: str, *, filter: Filter | None = None) -> Listing[Job]:
        """Jobs in one state; "dead" are those that were given up."""
        return self._build_listing(Job, state=state, filter=filter)

    @call
    def retry(self, id: str, *, key: str | None = None) -> Flow[Job]:
        """Give a failed or cancelled job another round of attempts."""
        return self._write_for_row(Job, f"{id}/retry", {}, key=key)

    @call
    def cancel(self, id: str, *, reason: str = "", key: str | None = None) -> Flow[Job]:
        """Have a step left undone; messages that it was to read stay, unread."""
        body = {"reason": reason}
        return self._write_for_row(Job, f"{id}/cancel", body, key=key)

    @call
    def wait(self, id: str, *, timeout: float = 60.0, every: float = 0.5) -> Flow[Job]:
        """The job once it is done. Raises JobFailed, StillRunning after `timeout` seconds."""
        ends = time.monotonic() + timeout
        while True:
            job: Job = yield from self._fetch_row(Job, id)
            if job.state == "done":
                return job
            if job.ended:
                raise JobFailed(job.state, job.error)
            if time.monotonic() + every > ends:
                raise StillRunning(f"the job is still {job.state} after {timeout:g} s")
            yield Sleep(every)

    @stream
    def progress(self, id: str) -> Stream[JobProgress]:
        """The job whenever it changes, until it has ended; its `state` is "gone" if erased."""

        def parse_job(name: str, data: str) -> JobProgress:
            return JobProgress.read(json.loads(data))

        path = self._build_path(f"{id}/progress")
        request = Request("GET", path, patience=_HUB_WAIT_SECONDS)
        return Stream(request, lambda: EventReader(parse_job, ends="timeout"))


class Items(CallGroup[M]):
    """Values of your own by subject, namespace and key."""

    @call
    def get(self, subject: str, namespace: Sequence[str], key: str) -> Flow[StoredItem | None]:
        """The item, or None."""
        op = {"get": {"subject": subject, "namespace": namespace, "key": key}}
        (told,) = yield from self._read_items([op])
        return StoredItem.read(told) if told else None

    @call
    def search(
        self,
        prefix: Sequence[str] = (),
        *,
        subject: str | None = None,
        query: str = "",
        filter: Filter | None = None,
        limit: int = 10,
        offset: int = 0,
    ) -> Flow[list[StoredItem]]:
        """Items of the namespaces that begin so, nearest to the query first.

        `filter`: members of values, equal or by $eq, $ne, $gt, $gte, $lt, $lte.
        """
        asked = {"prefix": prefix, "subject": subject, "query": query, "filter": filter or {}}
        (told,) = yield from self._read_items(
            [{"search": {**asked, "limit": limit, "offset": offset}}]
        )
        return [StoredItem.read(each) for each in told]

    @call
    def put(
        self,
        subject: str,
        namespace: Sequence[str],
        key: str,
        value: Mapping[str, Any] | None,
        *,
        texts: Sequence[str] | None = None,
        ttl_minutes: float | None = None,
        idempotency_key: str | None = None,
    ) -> Flow[int]:
        """Keep a value; None takes it away. `texts`: what it is found by, else all that is in it.

        Gives how many items are other than before.
        """
        item = {"subject": subject, "namespace": namespace, "key": key, "value": value}
        more = {"texts": texts, "ttl_minutes": ttl_minutes}
        return self._write_items([{**item, **more}], idempotency_key)

    def _read_items(self, ops: Sequence[Mapping[str, Any]]) -> Flow[list[Any]]:
        """The results of up to 100 operations, in order."""
        told = yield from self._ask("read", {"ops": ops})
        results: list[Any] = told["results"]
        return results

    def _write_items(self, items: Sequence[Mapping[str, Any]], key: str | None) -> Flow[int]:
        """Up to 100 of them, all or none."""
        told = yield from self._write_for_json("write", {"items": items}, key=key)
        return int(told["changed"])


class HubCalls(SharedCalls[M]):
    """Everything a key may ask for."""

    def __init__(self, runner: Runner) -> None:
        super().__init__(runner, "")
        self.spaces: ListCalls[M, Space] = ListCalls(runner, "spaces", Space)
        self.jobs: Jobs[M] = Jobs(runner, "jobs")
        self.keys: Keys[M] = Keys(runner, "keys")
        self.members: Members[M] = Members(runner, "members")
        self.replays: Replays[M] = Replays(runner, "replays")
        self.review_rules: ReviewRules[M] = ReviewRules(runner, "review-rules")
        self.webhooks: Webhooks[M] = Webhooks(runner, "webhooks")
        self.deliveries: Deliveries[M] = Deliveries(runner, "deliveries")
        self.imports: Imports[M] = Imports(runner, "imports")
        self.items: Items[M] = Items(runner, "items")
        self.receipts: RowCalls[M, Receipt] = RowCalls(runner, "receipts", Receipt)
        # What was asked with the tenant's keys, and what people and keys changed, the latest first.
        self.requests: ListCalls[M, LoggedRequest] = ListCalls(runner, "requests", LoggedRequest)
        self.audit: ListCalls[M, AuditEntry] = ListCalls(runner, "audit", AuditEntry)

    def space(self, subject: str) -> SpaceCalls[M]:
        """What is remembered of one subject. Asks for nothing yet."""
        return SpaceCalls(self._runner, subject)

    @call
    def add(
        self,
        subject: str,
        messages: Messages,
        *,
        session: str = "",
        agent: str = "",
        metadata: Mapping[str, Any] | None = None,
        subject_name: str | None = None,
        wait: bool = False,
        key: str | None = None,
    ) -> Flow[AddResult]:
        """Store what was said and queue its derivation.

        `messages`: the words of the user, one message, or several: each {"role", "content", …}.
        `subject_name`: what the subject is called from now on. `wait`: work on it before
        answering, 30 seconds at most; `jobs.wait` waits longer.
        """
        body = build_add_body(subject, messages, session, agent, metadata, subject_name)
        body |= {"wait": wait}
        patience = _HUB_WAIT_SECONDS if wait else 0.0
        return self._write_for_row(AddResult, "memories", body, key=key, patience=patience)

    @call
    def remember(
        self,
        subject: str,
        text: str,
        *,
        predicate: str = "",
        value: str = "",
        owner: str = "",
        role: str = "user",
        speaker: str = "",
        agent: str = "",
        session: str = "",
        valid_from: Time | None = None,
        valid_to: Time | None = None,
        confidence: float | None = None,
        sources: Sequence[str] = (),
        metadata: Mapping[str, Any] | None = None,
        subject_name: str | None = None,
        key: str | None = None,
    ) -> Flow[RememberedFact]:
        """Store one fact as it is given: nothing is read from it.

        `predicate`: its relation by a key, `lives_in`; `owner`: whom it is about, the subject
        unless given; `role`: who says so, with that trust; `sources`: ids of turns it rests on.
        """
        body = {
            "subject": subject,
            "text": text,
            "predicate": predicate,
            "value": value,
            "owner": owner,
            "role": role,
            "speaker": speaker,
            "agent": agent,
            "session": session,
            "valid_from": valid_from,
            "valid_to": valid_to,
            "confidence": confidence,
            "sources": sources,
            "metadata": metadata or {},
            "subject_name": subject_name,
        }
        return self._write_for_row(RememberedFact, "facts", body, key=key)

    @call
    def rehearse(
        self,
        subject: str,
        messages: Messages,
        *,
        session: str = "",
        agent: str = "",
        metadata: Mapping[str, Any] | None = None,
    ) -> Flow[DryRunResult]:
        """A dry run of `add`: what would become of each claim. Nothing is stored."""
        body = build_add_body(subject, messages, session, agent, metadata) | {"dry_run": True}
        request = Request("POST", "memories", body=body, patience=_HUB_WAIT_SECONDS)
        return self._read_row(DryRunResult, self._send_for_json(request))

    @call
    def add_batch(
        self, items: Sequence[Mapping[str, Any]], *, key: str | None = None
    ) -> Flow[list[AddResult]]:
        """Several adds, all or none: each {"subject", "messages", …} as `add` takes them."""
        body = {"items": [build_add_body(**item) for item in items]}
        told = yield from self._write_for_json("memories/batch", body, key=key)
        return [AddResult.read(each) for each in told["items"]]

    @call
    def search(
        self,
        subject: str,
        query: str,
        *,
        limit: Limit = "policy",
        kinds: Sequence[str] | None = None,
        channels: Sequence[str] | None = None,
        select: Select | None = None,
        session: str = "",
        as_of: Time | None = None,
        include_past: bool = False,
        deep: bool = False,
        budget_tokens: int | None = None,
        min_relevance: float | None = None,
        explain: bool = False,
    ) -> Flow[SearchResult]:
        """The memories nearest to a question, best first; each says whether it is `relevant`.

        `limit` "policy": as many as the policy has it, ten for most; None: as many as the question
        asks for. `min_relevance`, 0 to 1: none that is less like it.
        """
        body = {
            "subject": subject,
            "query": query,
            "limit": _name_limit(limit),
            "kinds": kinds,
            "channels": channels,
            "select": select,
            "session": session,
            "as_of": as_of,
            "include_past": include_past,
            "deep": deep,
            "budget_tokens": budget_tokens,
            "min_relevance": min_relevance,
            "explain": explain,
        }
        return self._read_row(SearchResult, self._ask("search", body))

    @call
    def context(
        self,
        subject: str,
        query: str,
        *,
        budget_tokens: int = 2000,
        agent: str = "",
        channels: Sequence[str] | None = None,
        select: Select | None = None,
        session: str = "",
        as_of: Time | None = None,
        include_past: bool = False,
        deep: bool = False,
        explain: bool = False,
    ) -> Flow[Context]:
        """What to put in front of a model that is to answer; `text` is ready for its prompt."""
        body = {
            "subject": subject,
            "query": query,
            "budget_tokens": budget_tokens,
            "agent": agent,
            "channels": channels,
            "select": select,
            "session": session,
            "as_of": as_of,
            "include_past": include_past,
            "deep": deep,
            "explain": explain,
        }
        return self._read_row(Context, self._ask("context", body))

    @call
    def answer(
        self,
        subject: str,
        question: str,
        *,
        limit: Limit = "policy",
        budget_tokens: int = 2000,
        session: str = "",
        as_of: Time | None = None,
        include_past: bool = False,
        deep: bool = False,
        explain: bool = False,
    ) -> Flow[Answer]:
        """An answer from a subject's memories, with what it rests on; `limit` as for a search."""
        body = {
            "subject": subject,
            "question": question,
            "limit": _name_limit(limit),
            "budget_tokens": budget_tokens,
            "session": session,
            "as_of": as_of,
            "include_past": include_past,
            "deep": deep,
            "explain": explain,
        }
        return self._read_row(Answer, self._ask("answer", body))

    @call
    def usage(self, *, days: int = 30) -> Flow[Usage]:
        """What models took in the last days."""
        return self._read_row(Usage, self._fetch_json("usage", days=days))

    @pages
    def model_calls(
        self, *, filter: Filter | None = None, page_size: int | None = None
    ) -> Listing[ModelCall]:
        """Questions to models without their words, the latest first."""
        return self._build_listing(ModelCall, "usage/calls", filter=filter, limit=page_size)

    @pages
    def presets(self) -> Listing[Preset]:
        """What a policy can begin with."""
        return self._build_listing(Preset, "policy/presets")

    @pages
    def switches(self) -> Listing[PolicySwitch]:
        """All that a policy can set."""
        return self._build_listing(PolicySwitch, "policy/switches")

    @call
    def import_spaces(
        self,
        file: bytes,
        *,
        subject: str = "",
        dry_run: bool = False,
        restore_erased: bool = False,
        key: str | None = None,
    ) -> Flow[SpaceImportReport]:
        """Bring a file of `export` in: all of it or nothing. Takes a key with the scope admin.

        `subject`: another name than the file's. `restore_erased`: also what was erased here.
        """
        given = {"dry_run": dry_run or None, "restore_erased": restore_erased or None}
        query = build_query(subject=subject or None, **given)
        headers = {
            "Idempotency-Key": key or build_idempotency_key(),
            "Content-Type": "application/x-ndjson",
        }
        request = Request(
            "POST", "import", query, content=file, headers=headers, patience=FILE_SECONDS
        )
        return self._read_row(SpaceImportReport, self._send_for_json(request))

    @call
    def request(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, Any] | None = None,
        body: Mapping[str, Any] | None = None,
        key: str | None = None,
    ) -> Flow[Any]:
        """Anything else under /api/v1/, as JSON: what this client has no name for yet."""
        if method in ("GET", "HEAD"):
            return self._fetch_json(path, **(query or {}))
        asked, headers = build_query(**(query or {})), {"Idempotency-Key": key} if key else {}
        return self._send_for_json(
            Request(method, path, asked, body or {}, headers, repeatable=key is not None)
        )


def build_add_body(
    subject: str,
    messages: Messages,
    session: str = "",
    agent: str = "",
    metadata: Mapping[str, Any] | None = None,
    subject_name: str | None = None,
) -> dict[str, Any]:
    """The body of an add; words alone are a message of the user."""
    if isinstance(messages, str):
        messages = {"content": messages}
    several = [messages] if isinstance(messages, Mapping) else messages
    body = {"subject": subject, "messages": several, "session": session, "agent": agent}
    named = {} if subject_name is None else {"subject_name": subject_name}
    return {**body, "metadata": metadata or {}, **named}
