"""One request on its way through the hub: recalled for, handed on, accounted for, learned from.

Nothing of the database is held while the endpoint works.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from django.core.exceptions import PermissionDenied
from django.db import DatabaseError
from django.utils import timezone

from api.openai.memory import (
    LEARN_OFF,
    LearnResult,
    build_call_steps,
    build_result_steps,
    build_turns,
    keep_tool_steps,
    learn_messages,
    recall_context,
    render_report,
)
from api.openai.messages import (
    ChatMessage,
    extract_text,
    insert_memory,
    read_messages,
    select_new_messages,
    select_new_results,
)
from api.openai.options import SPACE, MemoryOptions, remove_options
from memoryhub.engines.ledger import CallRecord
from memoryhub.engines.llm.client.stream import AccumulatedAnswer, estimate_usage
from memoryhub.errors import EngineError, InvalidInput, NotFound
from memoryhub.inference import selection
from memoryhub.inference.ledger import TenantLedger
from memoryhub.policies.schema import Policy
from memoryhub.policies.services import load_effective_policy, load_tenant_policy
from memoryhub.policies.switches import PROXY_PURPOSE
from memoryhub.tenants.keys import KeyRow
from memoryhub.tenants.models import Space, Tenant
from memoryhub.tenants.scope import tenant_scope
from memoryhub.tenants.services import clean_subject
from notes.models import Receipt

if TYPE_CHECKING:
    from memoryhub.engines.llm.client.relay import AnswerChunks, ChatRelay
    from memoryhub.recall.context import MemoryContext


@dataclass(frozen=True, slots=True)
class ChatCaller:
    """Who asks, about whom. `space` is None for a subject nobody has said anything of yet."""

    key: KeyRow
    subject: str
    space: Space | None
    learns: bool


def resolve_caller(key: KeyRow, wishes: MemoryOptions) -> ChatCaller:
    """Raises PermissionDenied, InvalidInput without a subject, NotFound for one that is not there
    and for one that the key is not bound to."""
    may_write = bool({"write", "admin"} & set(key.scopes))
    if wishes.learns and not may_write:
        raise PermissionDenied("This key's scopes do not allow it to learn.")
    learns = may_write if wishes.learns is None else wishes.learns
    with tenant_scope(key.tenant_id):
        if key.space_id is not None:
            bound = Space.objects.get(id=key.space_id)
            if wishes.subject and clean_subject(wishes.subject) != bound.subject:
                raise NotFound("There is no such subject.", field=SPACE)
            return ChatCaller(key, bound.subject, bound, learns)
        if not wishes.subject:
            raise InvalidInput("whose memory? Send this header, or the field `user`", field=SPACE)
        subject = clean_subject(wishes.subject)
        space = Space.objects.filter(subject=subject).first()
    if space is None and not learns:
        raise NotFound("There is no such subject.", field=SPACE)
    return ChatCaller(key, subject, space, learns)


def choose_model(asker: ChatCaller, asked: object) -> tuple[str, ChatRelay]:
    """(the model to name, the way to its endpoint): the one asked for, where it is listed, else
    the first. Raises a permanent EngineError where none is configured.
    """
    with tenant_scope(asker.key.tenant_id):
        tenant = Tenant.objects.get(id=asker.key.tenant_id)
        names = selection.list_proxied_models(tenant, load_policy(asker.key, asker.space))
    model = asked if isinstance(asked, str) and asked in names else names[0]
    return model, selection.get_proxy_relay(tenant)


def load_policy(key: KeyRow, space: Space | None) -> Policy:
    """Call inside the tenant's scope."""
    effective = load_effective_policy(space) if space else load_tenant_policy(key.tenant_id)
    return effective.policy


@dataclass(slots=True)
class ChatExchange:
    """`body` is what the endpoint gets, `messages` what the client sent."""

    caller: ChatCaller
    relay: ChatRelay
    options: MemoryOptions
    messages: Sequence[ChatMessage]
    body: dict[str, Any]
    recalled_context: MemoryContext | None
    delivery_id: str
    ledger: TenantLedger
    started_at: datetime
    is_accounted_for: bool = False
    _started_clock: float = field(default_factory=time.perf_counter)

    def complete_answer(self) -> dict[str, Any]:
        """The endpoint's answer with what the hub did. Raises EngineError."""
        try:
            answer = self.relay.complete(self.body)
        except EngineError as error:
            self.fail_exchange(error)
            raise
        said = AccumulatedAnswer()
        said.add_chunk(answer)
        return answer | {"memoryhub": self.finish_exchange(said)}

    def stream_answer(self) -> AnswerChunks:
        """The answer as it comes. Raises EngineError as `complete_answer` does, before its
        first word."""
        try:
            return self.relay.stream(self.body)
        except EngineError as error:
            self.fail_exchange(error)
            raise

    def finish_exchange(self, said: AccumulatedAnswer) -> dict[str, Any]:
        """It was answered: account for it, learn from it, and say so."""
        erased = self._record_call(said)
        learned = LearnResult("erased") if erased else self._learn_answer(said)
        return render_report(self.recalled_context, learned)

    def abandon_exchange(self, said: AccumulatedAnswer) -> None:
        """The client hung up in the middle. What was said so far was said (docs/decisions.md)."""
        if not self.is_accounted_for and not self._record_call(said):
            self._learn_answer(said)

    def fail_exchange(
        self, error: EngineError, said: AccumulatedAnswer | None = None
    ) -> dict[str, Any]:
        """The endpoint failed: whoever asked will ask again, and nothing is learned by then."""
        self._record_call(said or AccumulatedAnswer(), f"{error.code}: {error.message}")
        learned = LearnResult("failed", trouble="The model did not answer.")
        return render_report(self.recalled_context, learned)

    def _record_call(self, said: AccumulatedAnswer, error: str = "") -> bool:
        """Account for it. Returns whether something was erased meanwhile: then no word is kept."""
        self.is_accounted_for = True
        call = self._build_call(said, error)
        self.ledger.record_call(call)
        erased = self._has_erasure()
        if erased:
            self.ledger.drop_words()
        self.ledger.save()
        return erased

    def _has_erasure(self) -> bool:
        """False where the database can't tell: then nothing can be kept either."""
        try:
            with tenant_scope(self.caller.key.tenant_id):
                return Receipt.objects.filter(created_at__gte=self.started_at).exists()
        except DatabaseError:
            return False

    def _build_call(self, said: AccumulatedAnswer, error: str) -> CallRecord:
        sent = [{"role": m["role"], "content": extract_text(m)} for m in self.body["messages"]]
        prompt, completion = said.usage or ((0, 0) if error else estimate_usage(sent, said.text))
        return CallRecord(
            PROXY_PURPOSE,
            PROXY_PURPOSE,
            self.body["model"],
            sent,
            output=said.text,
            status="failed" if error else "ok",
            attempts=1,
            prompt_tokens=prompt,
            completion_tokens=completion,
            milliseconds=round((time.perf_counter() - self._started_clock) * 1000, 1),
            error=error,
        )

    def _learn_answer(self, said: AccumulatedAnswer) -> LearnResult:
        asker = self.caller
        if not asker.learns:
            return LEARN_OFF
        about = {"model": self.body["model"]} | ({} if said.finished else {"cut": True})
        once, now = self.delivery_id, self.started_at
        whose = (asker.key.tenant_id, asker.subject, self.options)
        turns = build_turns(select_new_messages(self.messages), said.text, about, once=once)
        keep_tool_steps(*whose, build_result_steps(select_new_results(self.messages), once), now)
        learned = learn_messages(*whose, turns, self.recalled_context, now)
        keep_tool_steps(*whose, build_call_steps(said.calls, once), now)
        return learned


def start_exchange(
    key: KeyRow, wishes: MemoryOptions, body: Mapping[str, Any], once: str = ""
) -> ChatExchange:
    """Everything before the endpoint is asked. `once`: the caller's Idempotency-Key.

    Raises InvalidInput, NotFound, PermissionDenied; Paused where nothing may be asked now.
    """
    messages, began = read_messages(body), timezone.now()
    asker = resolve_caller(key, wishes)
    model, relay = choose_model(asker, body.get("model"))
    ledger = TenantLedger(key.tenant_id, asker.space.id if asker.space else None)
    ledger.check_allowed(PROXY_PURPOSE, model)
    found = None
    if asker.space is not None and wishes.recalls:
        found = recall_context(asker.space, wishes, messages, key.id)
    told = insert_memory(messages, found.text if found else "")
    sent = remove_options(body) | {"model": model, "messages": told}
    return ChatExchange(
        asker,
        relay,
        wishes,
        messages,
        sent,
        found,
        _build_delivery_id(once, messages),
        ledger,
        began,
    )


def _build_delivery_id(once: str, messages: Sequence[ChatMessage]) -> str:
    """Names the turns of a repeated request alike: the same key with other words is another."""
    if not once:
        return ""
    said = "\n".join([once, *(extract_text(each) for each in select_new_messages(messages))])
    return f"openai:{sha256(said.encode(errors='replace')).hexdigest()[:32]}"
