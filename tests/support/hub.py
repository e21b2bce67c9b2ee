"""The deterministic harness (spec §15.1): a scripted model, a table of vectors, a fixed clock.

Unlike a stub of the engine, the script answers in the model's place: prompts, the JSON ladder,
handles and every check of the engine are the real ones.
"""

from __future__ import annotations

import json
import time
import zlib
from collections import defaultdict, deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memoryhub.dialogues.messages import Message, normalise_text
from memoryhub.engines.llm.client.chat import Completion
from memoryhub.pipeline.ingest.services import IngestRequest, IngestResult, ingest_messages
from memoryhub.pipeline.jobs import runner
from memoryhub.policies.services import set_policy
from memoryhub.tenants.models import Space, Tenant
from memoryhub.tenants.scope import tenant_scope
from memoryhub.tenants.services import ensure_space

START_TIME = datetime(2026, 5, 12, 9, 0, tzinfo=UTC)
Scripted = dict[str, Any] | str | BaseException | Callable[[dict[str, Any]], Any]


def describe_notes_plainly(data: dict[str, Any]) -> dict[str, Any]:
    """Every note described, by nothing in particular."""
    return {"notes": [{"handle": n["handle"], "context": "Said."} for n in data["notes"]]}


# What a purpose answers when nothing is to come of it. A test that wants the call to be
# impossible does not allow it.
EMPTY_REPLIES: Mapping[str, Scripted] = {
    "note_build": describe_notes_plainly,
    "resolve": {"decisions": []},
    "link_evolve": {"links": [], "neighbours": []},
    "merge_check": {"decisions": []},
    "query_terms": {"terms": []},
    "episode_gate": {"open": False, "cause": "none"},
    "episode_write": {"title": "Talk", "text": "They talked."},
    "fold_summary": {"text": "They talked."},
    "digest": {"text": "They talked."},
}


@dataclass
class ModelRequest:
    """One request: its purpose, the JSON data it carried, and every message as sent."""

    purpose: str
    data: dict[str, Any]
    messages: Sequence[Mapping[str, str]]


@dataclass
class ScriptedModel:
    """Answers each purpose from a queue. `trouble` lists calls nobody scripted.

    A reply is a dict (sent as JSON), a str (sent raw), an exception (raised), or a function of
    the request's data that returns one of those. `allow` gives a purpose a standing reply,
    for when its queue is empty.
    """

    model: str = "scripted"
    delay: float = 0.0
    requests: list[ModelRequest] = field(default_factory=list)
    unscripted_calls: list[str] = field(default_factory=list)
    _queues: dict[str, deque[Scripted]] = field(default_factory=lambda: defaultdict(deque))
    _standing: dict[str, Scripted] = field(default_factory=dict)

    def script(self, purpose: str, *replies: Scripted) -> None:
        self._queues[purpose].extend(replies)

    def allow(self, *purposes: str, **standing: Scripted) -> None:
        """Standing replies by purpose; positional ones answer that there is nothing."""
        self._standing |= {purpose: EMPTY_REPLIES[purpose] for purpose in purposes} | standing

    def list_calls(self, purpose: str) -> list[dict[str, Any]]:
        """The data of each request of this purpose, repairs left out."""
        return [a.data for a in self.requests if a.purpose == purpose and len(a.messages) == 2]

    @property
    def unused_replies(self) -> dict[str, int]:
        return {purpose: len(queue) for purpose, queue in self._queues.items() if queue}

    def complete(
        self, messages: Sequence[Mapping[str, str]], name: str, schema: dict[str, Any]
    ) -> Completion:
        data = json.loads(messages[1]["content"])
        self.requests.append(ModelRequest(name, data, messages))
        if self.delay:
            time.sleep(self.delay)
        reply = self._take_reply(name)
        if callable(reply):
            reply = reply(data)
        if isinstance(reply, BaseException):
            raise reply
        text = reply if isinstance(reply, str) else json.dumps(reply, ensure_ascii=False)
        asked = sum(len(message["content"].split()) for message in messages)
        return Completion(text, asked, len(text.split()))

    def _take_reply(self, purpose: str) -> Scripted:
        if self._queues[purpose]:
            return self._queues[purpose].popleft()
        if purpose in self._standing:
            return self._standing[purpose]
        self.unscripted_calls.append(purpose)
        raise AssertionError(f"nobody scripted a call of {purpose!r}")


class IndifferentReranker:
    """Finds every text as good as the next, so that what was found stays in order."""

    name, tells_odds = "indifferent", True

    def score_texts(self, question: str, texts: Sequence[str]) -> list[float]:
        return [0.0] * len(texts)


@dataclass
class TableEmbedder:
    """Chosen vectors for the texts in `table`, else a hashed bag of normalised words.

    Keys match a text that contains them, the longest first: what is embedded is seldom the bare
    text.
    """

    name: str = "table"
    dimension: int = 64
    max_tokens: int = 256
    table: dict[str, Sequence[float]] = field(default_factory=dict)

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        made = np.zeros((len(texts), self.dimension), dtype=np.float32)
        for row, text in zip(made, texts, strict=True):
            chosen = next((k for k in sorted(self.table, key=len, reverse=True) if k in text), None)
            if chosen is not None:
                row[: len(self.table[chosen])] = self.table[chosen]
            else:
                for word in normalise_text(text).split():
                    row[zlib.crc32(word.encode()) % self.dimension] += 1
        norms = np.linalg.norm(made, axis=1, keepdims=True)
        return (made / np.where(norms == 0, 1, norms)).astype(np.float32)

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        return [len(text.split()) for text in texts]


@dataclass
class ScriptedHub:
    """One space of one tenant whose engine is the scripted model, and a clock that stands still."""

    tenant: Tenant
    model: ScriptedModel
    embedder: TableEmbedder
    now: datetime = START_TIME
    subject: str = "Ana"

    @property
    def space(self) -> Space:
        with tenant_scope(self.tenant.id):
            return ensure_space(self.tenant.id, self.subject)

    def set_policy(self, preset: str = "", **overrides: Any) -> None:
        """Dotted names with "__" for the dot: policy("mem0", facts__contradiction="retract")."""
        named = {name.replace("__", "."): value for name, value in overrides.items()}
        set_policy(self.tenant.id, actor="test", preset=preset, overrides=named, now=self.now)

    def say(
        self,
        *texts: str,
        role: str = "user",
        speaker: str = "",
        session: str = "s1",
        at: datetime | None = None,
        **message: Any,
    ) -> IngestResult:
        """Deliver the texts, a minute apart; the speaker of user turns is the subject."""
        said = speaker or (self.subject if role == "user" else "")
        start = at or self.now
        messages = [
            Message(role, text, said, timestamp=start + timedelta(minutes=n), **message)
            for n, text in enumerate(texts)
        ]
        self.now = max(self.now, start + timedelta(minutes=len(texts)))
        return ingest_messages(
            self.tenant.id, IngestRequest(self.subject, messages, session), self.now
        )

    def say_exchange(self, user: str, assistant: str, *, session: str = "s1") -> IngestResult:
        """One user message and the reply to it, delivered together."""
        start = self.now
        messages = [
            Message("user", user, self.subject, timestamp=start),
            Message("assistant", assistant, timestamp=start + timedelta(seconds=30)),
        ]
        self.now = start + timedelta(minutes=1)
        return ingest_messages(
            self.tenant.id, IngestRequest(self.subject, messages, session), self.now
        )

    def pass_time(self, **span: float) -> None:
        self.now += timedelta(**span)

    def run_due_jobs(self, **later: float) -> int:
        """Run everything due, an hour from the last word unless said otherwise, to quiescence."""
        self.pass_time(**(later or {"hours": 1}))
        return runner.drain_space(self.tenant.id, self.space.id, self.now)
