"""The account of what a job or a request asks of models.

Kept in memory while models are asked, and written in one short transaction of its own at the
end, also when the work failed: no transaction is ever open during a call.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from decimal import Decimal
from uuid import UUID

import structlog
from django.conf import settings
from django.db import DatabaseError
from django.db.models import F, Func, QuerySet, Sum, Value
from django.utils import timezone
from django.utils.translation import gettext

from memoryhub.background.news import News, notify_listeners
from memoryhub.background.stopping import stop_if_unwanted
from memoryhub.engines.ledger import CallRecord, get_current_ledger, use_ledger
from memoryhub.errors import EngineError, ModelsPaused
from memoryhub.inference import breaker
from memoryhub.inference.breaker import CallOutcome
from memoryhub.inference.budgets import (
    Spending,
    compute_day_start,
    compute_next_day,
    describe_spent_budget,
)
from memoryhub.inference.connections import load_prices
from memoryhub.inference.models import ModelCall
from memoryhub.inference.prices import Prices, compute_call_cost
from memoryhub.metrics.counters import MODEL_CALLS, MODEL_COST, MODEL_TOKENS
from memoryhub.observability.tracing import Told, trace_model_call
from memoryhub.policies.schema import LlmPolicy
from memoryhub.policies.services import load_tenant_policy
from memoryhub.tenants.scope import tenant_scope

log = structlog.get_logger()

MAX_KEPT_CHARACTERS = 64 * 1024  # characters of an input or an output
_MAX_OUTCOMES = 200  # calls the breaker looks at
_BREAKER_HISTORY = timedelta(hours=6)


@dataclass(slots=True)
class _LedgerState:
    """What earlier calls say, read once and kept up to date: newest outcomes first."""

    limits: LlmPolicy
    spent: Spending
    outcomes: list[CallOutcome]


def _count_call(call: CallRecord, cost: Decimal) -> None:
    MODEL_CALLS.labels(call.purpose, call.model, "failed" if call.error else "ok").inc()
    MODEL_TOKENS.labels(call.model, "in").inc(call.prompt_tokens)
    MODEL_TOKENS.labels(call.model, "out").inc(call.completion_tokens)
    MODEL_COST.labels(call.model).inc(float(cost))
    told: Told = {
        "gen_ai.request.model": call.model,
        "gen_ai.usage.input_tokens": call.prompt_tokens,
        "gen_ai.usage.output_tokens": call.completion_tokens,
        "memoryhub.purpose": call.purpose,
        "memoryhub.requests": call.attempts,
    }
    trace_model_call(told, call.milliseconds, _parse_error_code(call.error))


@dataclass(slots=True)
class TenantLedger:
    """Implements `engines.ledger.Ledger` for a tenant. `at` stands for the present in a replay."""

    tenant_id: UUID
    space_id: UUID | None = None
    job_id: UUID | None = None
    at: datetime | None = None
    calls: list[tuple[CallRecord, datetime]] = field(default_factory=list)
    _state: _LedgerState | None = None
    _prices: Prices | None = None

    def check_allowed(self, purpose: str, model: str) -> None:
        """Raises Paused, and what breaks off work that nobody wants any more. The first call of
        a job reads what was spent; the others reckon on."""
        stop_if_unwanted()
        known, now = self._load_state(), self._current_time()
        limits = known.limits
        if said := describe_spent_budget(
            known.spent, limits.budget_tokens_per_day, limits.budget_money_per_day
        ):
            until = compute_next_day(now)
            self._notify_budget_reached(known, now, until)
            message = gettext("Today's budget for models is spent: %(said)s") % {"said": said}
            raise ModelsPaused(message, until, code="budget_spent")
        end = self._find_breaker_end(purpose, model)
        if end and end > now:
            told = {"model": model, "purpose": purpose, "code": known.outcomes[0].code}
            message = gettext(
                "%(model)s keeps failing at %(purpose)s in the same way (%(code)s): it is left"
                " alone for a while"
            )
            raise ModelsPaused(message % told, end, code="breaker_open")

    def _notify_budget_reached(self, known: _LedgerState, now: datetime, until: datetime) -> None:
        """Once a day, when the first question is refused."""
        spent = known.spent
        data = {"tokens": spent.tokens, "money": str(spent.money), "until": until.isoformat()}
        once = f"budget:{compute_day_start(now):%Y-%m-%d}"
        with tenant_scope(self.tenant_id):
            notify_listeners(self.tenant_id, lambda: [News("budget.reached", now, data, once=once)])

    def record_call(self, call: CallRecord) -> None:
        now, cost = self._current_time(), self._price_call(call)
        self.calls.append((call, now))
        _count_call(call, cost)
        known = self._state
        if known is None:
            return
        money = known.spent.money + cost
        tokens = known.spent.tokens + call.prompt_tokens + call.completion_tokens
        known.spent = Spending(tokens, money)
        known.outcomes.insert(
            0, CallOutcome(call.purpose, call.model, _parse_error_code(call.error), now)
        )

    def count_rejected_items(self, purpose: str, count: int) -> None:
        for call, _ in reversed(self.calls):
            if call.purpose == purpose:
                call.rejected += count
                return

    def find_pause_end(self, error: Exception) -> datetime | None:
        """Until when the work had better wait without losing an attempt; None: it has failed.

        An outage does not wear jobs out: once the breaker is open, they wait for its end.
        """
        if isinstance(error, ModelsPaused):
            return error.until
        if not (isinstance(error, EngineError) and not error.permanent and self.calls):
            return None
        call, _ = self.calls[-1]
        if error.code not in breaker.OUTAGE_CODES or error.code != _parse_error_code(call.error):
            return None
        return self._find_breaker_end(call.purpose, call.model)

    def save(self) -> None:
        """Write the calls. Trouble with that is logged: the work itself is done."""
        calls, self.calls = self.calls, []
        if not calls:
            return
        try:
            with tenant_scope(self.tenant_id):
                ModelCall.objects.bulk_create(
                    [self._build_row(call, at) for call, at in calls], batch_size=200
                )
        except DatabaseError as error:
            log.warning("model_calls.unsaved", calls=len(calls), error=str(error))

    def drop_words(self) -> None:
        """Keep the figures only: what was asked may have been erased while it was asked."""
        for call, _ in self.calls:
            call.messages, call.output, call.error = (), "", ""

    def _current_time(self) -> datetime:
        return self.at or timezone.now()

    def _find_breaker_end(self, purpose: str, model: str) -> datetime | None:
        history = self._load_state().outcomes
        return breaker.compute_open_until(history, purpose, model, settings.MODEL_BREAKER_FAILURES)

    def _load_state(self) -> _LedgerState:
        if self._state is None:
            with tenant_scope(self.tenant_id):
                now, limits = self._current_time(), load_tenant_policy(self.tenant_id).policy.llm
                budgets = (limits.budget_tokens_per_day, limits.budget_money_per_day)
                spent = Spending() if budgets == (None, None) else load_spending(now)
                made = ModelCall.objects.filter(created_at__range=(now - _BREAKER_HISTORY, now))
                told = made.values_list("purpose", "model", "error", "created_at")[:_MAX_OUTCOMES]
                outcomes = [CallOutcome(p, m, _parse_error_code(e), at) for p, m, e, at in told]
            self._state = _LedgerState(limits, spent, outcomes)
        return self._state

    def _price_call(self, call: CallRecord) -> Decimal:
        """By the prices of when this account was opened. The first asks for them."""
        if self._prices is None:
            self._prices = load_prices()
        return compute_call_cost(
            self._prices, call.model, call.prompt_tokens, call.completion_tokens
        )

    def _build_row(self, call: CallRecord, at: datetime) -> ModelCall:
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
            cost=self._price_call(call),
            milliseconds=call.milliseconds,
            rejected=call.rejected,
            error=_clean_text(call.error)[:2000],
            input=_clip_messages(call.messages) if keeps else None,
            output=_clean_text(call.output)[:MAX_KEPT_CHARACTERS] if keeps else "",
            created_at=at,
        )


def load_spending(now: datetime) -> Spending:
    """What the tenant in scope has spent in the day of `now`. One statement."""
    today = ModelCall.objects.filter(
        created_at__gte=compute_day_start(now), created_at__lt=compute_next_day(now)
    )
    tokens = Sum(F("prompt_tokens") + F("completion_tokens"), default=0)
    money = Sum("cost", default=Spending().money)
    return Spending(**today.order_by().aggregate(tokens=tokens, money=money))


def _parse_error_code(error: str) -> str:
    """Errors are kept as "code: message"."""
    return error.partition(":")[0]


def _clip_messages(messages: Sequence[Mapping[str, str]]) -> list[dict[str, str]]:
    """The messages as sent, up to KEPT characters together."""
    left, kept = MAX_KEPT_CHARACTERS, []
    for message in messages:
        text = _clean_text(message["content"])
        kept.append({"role": message["role"], "content": text[: max(0, left)]})
        left -= len(text)
    return kept


def _clean_text(text: str) -> str:
    """PostgreSQL's text has no NUL, and its JSON no lone surrogates."""
    return text.replace("\0", "").encode("utf-8", "replace").decode("utf-8")


def save_open_ledger() -> None:
    """Write the calls of the account that is open, if one is: so that an erasure finds them."""
    ledger = get_current_ledger()
    if isinstance(ledger, TenantLedger):
        ledger.save()


@contextmanager
def open_ledger(
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
    outer = get_current_ledger()
    if isinstance(outer, TenantLedger) and outer.tenant_id == tenant_id:
        yield outer
        return
    ledger = TenantLedger(tenant_id, space_id, job_id, at)
    try:
        with use_ledger(ledger):
            yield ledger
    finally:
        ledger.save()


# Taking the words out of calls: what was asked and answered goes, the figures stay.


def redact_calls(calls: QuerySet[ModelCall]) -> int:
    """How many had words. Of an error its code stays, which the breaker goes by; what follows it
    may quote the model. Call inside the tenant's scope."""
    worded = calls.exclude(input=None, output="", error="")
    code = Func(F("error"), Value(":"), Value(1), function="split_part")
    count: int = worded.order_by().update(input=None, output="", error=code)
    return count
