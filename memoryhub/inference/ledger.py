"""The account of what a job or a request asks of models.

Kept in memory while models are asked, and written in one short transaction of its own at the
end, also when the work failed: no transaction is ever open during a call.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

import structlog
from django.conf import settings
from django.db import DatabaseError
from django.db.models import F, Sum
from django.utils import timezone
from django.utils.translation import gettext

from memoryhub.engines.ledger import Call, accounted, current_ledger
from memoryhub.errors import EngineError, Paused
from memoryhub.inference import breaker
from memoryhub.inference.breaker import Outcome
from memoryhub.inference.budgets import Spending, day_of, next_day, overspent
from memoryhub.inference.models import ModelCall
from memoryhub.inference.prices import cost
from memoryhub.news import News, tell
from memoryhub.policies.schema import Llm
from memoryhub.policies.services import policy_of_tenant
from memoryhub.tenants.scope import tenant_scope

log = structlog.get_logger()

KEPT = 64 * 1024  # characters of an input or an output
_REMEMBERED = 200  # calls the breaker looks at
_MEMORY = timedelta(hours=6)


@dataclass(slots=True)
class _Known:
    """What earlier calls say, read once and kept up to date: newest outcomes first."""

    limits: Llm
    spent: Spending
    outcomes: list[Outcome]


@dataclass(slots=True)
class TenantLedger:
    """Implements `engines.ledger.Ledger` for a tenant. `at` stands for the present in a replay."""

    tenant_id: UUID
    space_id: UUID | None = None
    job_id: UUID | None = None
    at: datetime | None = None
    calls: list[tuple[Call, datetime]] = field(default_factory=list)
    _known: _Known | None = None

    def allow(self, purpose: str, model: str) -> None:
        """Raises Paused. The first call of a job reads what was spent; the others reckon on."""
        known, now = self._knowledge(), self._now()
        limits = known.limits
        if said := overspent(
            known.spent, limits.budget_tokens_per_day, limits.budget_money_per_day
        ):
            self._tell(known, now)
            raise Paused(
                gettext("Today's budget for models is spent: %(said)s") % {"said": said},
                next_day(now),
                code="budget_spent",
            )
        until = self._open_until(purpose, model)
        if until and until > now:
            raise Paused(
                gettext(
                    "%(model)s keeps failing at %(purpose)s in the same way (%(code)s): it is left"
                    " alone for a while"
                )
                % {"model": model, "purpose": purpose, "code": known.outcomes[0].code},
                until,
                code="breaker_open",
            )

    def _tell(self, known: _Known, now: datetime) -> None:
        """Once a day, when the first question is refused."""
        data = {"tokens": known.spent.tokens, "money": str(known.spent.money)}
        data |= {"until": next_day(now).isoformat()}
        once = f"budget:{day_of(now):%Y-%m-%d}"
        with tenant_scope(self.tenant_id):
            tell(self.tenant_id, lambda: [News("budget.reached", now, data, once=once)])

    def record(self, call: Call) -> None:
        now = self._now()
        self.calls.append((call, now))
        known = self._known
        if known is None:
            return
        money = known.spent.money + _cost(call)
        tokens = known.spent.tokens + call.prompt_tokens + call.completion_tokens
        known.spent = Spending(tokens, money)
        known.outcomes.insert(0, Outcome(call.purpose, call.model, _code(call.error), now))

    def reject(self, purpose: str, count: int) -> None:
        for call, _ in reversed(self.calls):
            if call.purpose == purpose:
                call.rejected += count
                return

    def pause_after(self, error: Exception) -> datetime | None:
        """Until when the work had better wait without losing an attempt; None: it has failed.

        An outage does not wear jobs out: once the breaker is open, they wait for its end.
        """
        if isinstance(error, Paused):
            return error.until
        if not (isinstance(error, EngineError) and not error.permanent and self.calls):
            return None
        call, _ = self.calls[-1]
        if error.code not in breaker.OUTAGES or error.code != _code(call.error):
            return None
        return self._open_until(call.purpose, call.model)

    def save(self) -> None:
        """Write the calls. Trouble with that is logged: the work itself is done."""
        calls, self.calls = self.calls, []
        if not calls:
            return
        try:
            with tenant_scope(self.tenant_id):
                ModelCall.objects.bulk_create(
                    [self._row(call, at) for call, at in calls], batch_size=200
                )
        except DatabaseError as error:
            log.warning("model_calls.unsaved", calls=len(calls), error=str(error))

    def drop_words(self) -> None:
        """Keep the figures only: what was asked may have been erased while it was asked."""
        for call, _ in self.calls:
            call.messages, call.output, call.error = (), "", ""

    def _now(self) -> datetime:
        return self.at or timezone.now()

    def _open_until(self, purpose: str, model: str) -> datetime | None:
        history = self._knowledge().outcomes
        return breaker.open_until(history, purpose, model, settings.MODEL_BREAKER_FAILURES)

    def _knowledge(self) -> _Known:
        if self._known is None:
            with tenant_scope(self.tenant_id):
                limits = policy_of_tenant(self.tenant_id).policy.llm
                self._known = _Known(limits, self._spent(limits), self._outcomes())
        return self._known

    def _spent(self, limits: Llm) -> Spending:
        if limits.budget_tokens_per_day is None and limits.budget_money_per_day is None:
            return Spending()
        return spent_on(self._now())

    def _outcomes(self) -> list[Outcome]:
        now = self._now()
        rows = ModelCall.objects.filter(created_at__gte=now - _MEMORY, created_at__lte=now)
        found = rows.values_list("purpose", "model", "error", "created_at")[:_REMEMBERED]
        return [Outcome(purpose, model, _code(error), at) for purpose, model, error, at in found]

    def _row(self, call: Call, at: datetime) -> ModelCall:
        keeps = settings.MODEL_CALLS_KEEP_TEXT
        return ModelCall(
            tenant_id=self.tenant_id,
            space_id=self.space_id,
            job_id=self.job_id,
            purpose=call.purpose[:24],
            template=call.template[:40],
            model=call.model[:120],
            status=call.status,
            attempts=call.attempts,
            prompt_tokens=call.prompt_tokens,
            completion_tokens=call.completion_tokens,
            cost=_cost(call),
            milliseconds=call.milliseconds,
            rejected=call.rejected,
            error=_clean(call.error)[:2000],
            input=_clipped(call.messages) if keeps else None,
            output=_clean(call.output)[:KEPT] if keeps else "",
            created_at=at,
        )


def spent_on(now: datetime) -> Spending:
    """What the tenant in scope has spent in the day of `now`. One statement."""
    today = ModelCall.objects.filter(created_at__gte=day_of(now), created_at__lt=next_day(now))
    found = today.order_by().aggregate(
        tokens=Sum(F("prompt_tokens") + F("completion_tokens")), money=Sum("cost")
    )
    return Spending(found["tokens"] or 0, found["money"] or Spending().money)


def _cost(call: Call) -> Any:
    return cost(settings.MODEL_PRICES, call.model, call.prompt_tokens, call.completion_tokens)


def _code(error: str) -> str:
    """Errors are kept as "code: message"."""
    return error.partition(":")[0]


def _clipped(messages: Sequence[Mapping[str, str]]) -> list[dict[str, str]]:
    """The messages as sent, up to KEPT characters together."""
    left, kept = KEPT, []
    for message in messages:
        text = _clean(message["content"])
        kept.append({"role": message["role"], "content": text[: max(0, left)]})
        left -= len(text)
    return kept


def _clean(text: str) -> str:
    """PostgreSQL's text has no NUL, and its JSON no lone surrogates."""
    return text.replace("\0", "").encode("utf-8", "replace").decode("utf-8")


def save_account() -> None:
    """Write the calls of the account that is open, if one is: so that an erasure finds them."""
    ledger = current_ledger()
    if isinstance(ledger, TenantLedger):
        ledger.save()


@contextmanager
def accounting(
    tenant_id: UUID,
    *,
    space_id: UUID | None = None,
    job_id: UUID | None = None,
    at: datetime | None = None,
) -> Iterator[TenantLedger]:
    """Models asked inside are accounted for, allowed and refused by the tenant's ledger.

    Inside an account of the same tenant it is that one. Call outside any transaction that the
    calls must outlive.
    """
    outer = current_ledger()
    if isinstance(outer, TenantLedger) and outer.tenant_id == tenant_id:
        yield outer
        return
    ledger = TenantLedger(tenant_id, space_id, job_id, at)
    try:
        with accounted(ledger):
            yield ledger
    finally:
        ledger.save()
