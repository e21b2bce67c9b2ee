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

from api.openai.memory import OFF, Learned, learn, recalled, report, turns_of
from api.openai.talk import ChatMessage, messages_of, news_of, text_of, with_memory
from api.openai.wishes import SPACE, Wishes, without_wishes
from memoryhub import models_in_use
from memoryhub.engines.ledger import Call
from memoryhub.engines.llm.said import Said, estimated
from memoryhub.errors import EngineError, InvalidInput, NotFound
from memoryhub.inference.ledger import TenantLedger
from memoryhub.policies.schema import Policy
from memoryhub.policies.services import policy_of, policy_of_tenant
from memoryhub.policies.switches import PROXY
from memoryhub.tenants.keys import KeyRow
from memoryhub.tenants.models import Space, Tenant
from memoryhub.tenants.scope import tenant_scope
from memoryhub.tenants.services import clean_subject
from notes.models import Receipt

if TYPE_CHECKING:
    from memoryhub.engines.llm.relaying import Chunks
    from memoryhub.recall.context import Context


@dataclass(frozen=True, slots=True)
class Asker:
    """Who asks, about whom. `space` is None for a subject nobody has said anything of yet."""

    key: KeyRow
    subject: str
    space: Space | None
    learns: bool


def asker_of(key: KeyRow, wishes: Wishes) -> Asker:
    """Raises PermissionDenied, InvalidInput without a subject, NotFound for one that is not there
    and for one that the key is not bound to."""
    may_write = bool({"write", "admin"} & set(key.scopes))
    if wishes.learns and not may_write:
        raise PermissionDenied("This key's scopes do not allow it to learn.")
    learns = may_write if wishes.learns is None else wishes.learns
    with tenant_scope(key.tenant_id):
        if key.space_id is not None:
            bound = Space.objects.get(id=key.space_id)
            if wishes.subject not in ("", bound.subject):
                raise NotFound("There is no such subject.", field=SPACE)
            return Asker(key, bound.subject, bound, learns)
        if not wishes.subject:
            raise InvalidInput("whose memory? Send this header, or the field `user`", field=SPACE)
        subject = clean_subject(wishes.subject)
        space = Space.objects.filter(subject=subject).first()
    if space is None and not learns:
        raise NotFound("There is no such subject.", field=SPACE)
    return Asker(key, subject, space, learns)


def model_for(asker: Asker, asked: object) -> str:
    """The model to name to the endpoint: the one asked for, where it is listed, else the first.

    Raises a permanent EngineError where none is configured.
    """
    with tenant_scope(asker.key.tenant_id):
        tenant = Tenant.objects.get(id=asker.key.tenant_id)
        names = models_in_use.proxied_models(tenant, policy_for(asker.key, asker.space))
    return asked if isinstance(asked, str) and asked in names else names[0]


def policy_for(key: KeyRow, space: Space | None) -> Policy:
    """Call inside the tenant's scope."""
    effective = policy_of(space) if space else policy_of_tenant(key.tenant_id)
    return effective.policy


@dataclass(slots=True)
class Exchange:
    """`body` is what the endpoint gets, `messages` what the client sent."""

    asker: Asker
    wishes: Wishes
    messages: Sequence[ChatMessage]
    body: dict[str, Any]
    found: Context | None
    once: str
    ledger: TenantLedger
    began: datetime
    settled: bool = False
    _started: float = field(default_factory=time.perf_counter)

    def completed(self) -> dict[str, Any]:
        """The endpoint's answer with what the hub did. Raises EngineError."""
        try:
            answer = models_in_use.proxied().complete(self.body)
        except EngineError as error:
            self.failed(error)
            raise
        said = Said()
        said.take(answer)
        return answer | {"memoryhub": self.ended(said)}

    def streamed(self) -> Chunks:
        """The answer as it comes. Raises EngineError as `completed` does, before its first word."""
        try:
            return models_in_use.proxied().stream(self.body)
        except EngineError as error:
            self.failed(error)
            raise

    def ended(self, said: Said) -> dict[str, Any]:
        """It was answered: account for it, learn from it, and say so."""
        erased = self._settle(said)
        return report(self.found, Learned("erased") if erased else self._learned(said))

    def left(self, said: Said) -> None:
        """The client hung up in the middle. What was said so far was said (docs/decisions.md)."""
        if not self.settled and not self._settle(said):
            self._learned(said)

    def failed(self, error: EngineError, said: Said | None = None) -> dict[str, Any]:
        """The endpoint failed: whoever asked will ask again, and nothing is learned by then."""
        self._settle(said or Said(), f"{error.code}: {error.message}")
        return report(self.found, Learned("failed", trouble="The model did not answer."))

    def _settle(self, said: Said, error: str = "") -> bool:
        """Account for it. Returns whether something was erased meanwhile: then no word is kept."""
        self.settled = True
        call = self._call(said, error)
        self.ledger.record(call)
        erased = self._erased()
        if erased:
            self.ledger.drop_words()
        self.ledger.save()
        return erased

    def _erased(self) -> bool:
        """False where the database can't tell: then nothing can be kept either."""
        try:
            with tenant_scope(self.asker.key.tenant_id):
                return Receipt.objects.filter(created_at__gte=self.began).exists()
        except DatabaseError:
            return False

    def _call(self, said: Said, error: str) -> Call:
        sent = [{"role": m["role"], "content": text_of(m)} for m in self.body["messages"]]
        prompt, completion = said.usage or ((0, 0) if error else estimated(sent, said.text))
        return Call(
            PROXY,
            PROXY,
            self.body["model"],
            sent,
            output=said.text,
            status="failed" if error else "ok",
            attempts=1,
            prompt_tokens=prompt,
            completion_tokens=completion,
            milliseconds=round((time.perf_counter() - self._started) * 1000, 1),
            error=error,
        )

    def _learned(self, said: Said) -> Learned:
        asker = self.asker
        if not asker.learns:
            return OFF
        about = {"model": self.body["model"]} | ({} if said.finished else {"cut": True})
        turns = turns_of(news_of(self.messages), said.text, about, once=self.once)
        return learn(asker.key.tenant_id, asker.subject, self.wishes, turns, self.found, self.began)


def begin(key: KeyRow, wishes: Wishes, body: Mapping[str, Any], once: str = "") -> Exchange:
    """Everything before the endpoint is asked. `once`: the caller's Idempotency-Key.

    Raises InvalidInput, NotFound, PermissionDenied; Paused where nothing may be asked now.
    """
    messages, began = messages_of(body), timezone.now()
    asker = asker_of(key, wishes)
    model = model_for(asker, body.get("model"))
    ledger = TenantLedger(key.tenant_id, asker.space.id if asker.space else None)
    ledger.allow(PROXY, model)
    found = _found(asker, wishes, messages)
    told = with_memory(messages, found.text if found else "")
    sent = without_wishes(body) | {"model": model, "messages": told}
    return Exchange(asker, wishes, messages, sent, found, _delivery(once, messages), ledger, began)


def _found(asker: Asker, wishes: Wishes, messages: Sequence[ChatMessage]) -> Context | None:
    if asker.space is None or not wishes.recalls:
        return None
    return recalled(asker.space, wishes, messages, asker.key.id)


def _delivery(once: str, messages: Sequence[ChatMessage]) -> str:
    """Names the turns of a repeated request alike: the same key with other words is another."""
    if not once:
        return ""
    said = "\n".join([once, *(text_of(each) for each in news_of(messages))])
    return f"openai:{sha256(said.encode(errors='replace')).hexdigest()[:32]}"
