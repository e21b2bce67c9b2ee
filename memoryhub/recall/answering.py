"""A question answered from a space's memories, with what the answer rests on (spec §7.2, §12.2).

The tenant's engine answers; where its model fails, the rules quote instead. Nothing is made up:
an answer has a memory behind it, or says that nothing is known (E32).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any
from uuid import UUID
from zoneinfo import ZoneInfo

import structlog
from django.utils import timezone
from django.utils.translation import gettext

from memoryhub import models_in_use
from memoryhub.engines.embedding.packaged import count_tokens
from memoryhub.engines.local import answers
from memoryhub.engines.local.predicates import question_predicates
from memoryhub.engines.types import Answer, Quote
from memoryhub.errors import EngineError, InvalidInput
from memoryhub.inference.ledger import TenantLedger, accounting
from memoryhub.policies.schema import Policy
from memoryhub.policies.services import policy_of
from memoryhub.recall.asking import NOBODY, Asker, Clock
from memoryhub.recall.citations import Answered, Tokens, citations
from memoryhub.recall.packing import LEAST_TOKENS, MOST_TOKENS
from memoryhub.recall.prompting import line_of
from memoryhub.recall.quoting import bearings, known, quote_of
from memoryhub.recall.results import Item, SearchResult
from memoryhub.recall.services import search
from memoryhub.tenants.models import Space, Tenant
from memoryhub.tenants.scope import tenant_scope

log = structlog.get_logger()
LIMIT, BUDGET = 10, 2000
# Of a question this much is read by the rules and shown to a model.
_READ = 4_000


@dataclass(frozen=True, slots=True)
class Composed:
    """An answer and what it was made of: `items` are what its indices point at."""

    answer: Answer
    items: Sequence[Item]
    tokens: int
    failed: bool = False


def answer(
    space: Space,
    question: str,
    *,
    session_id: UUID | None = None,
    as_of: datetime | None = None,
    include_past: bool = False,
    deep: bool = False,
    limit: int | None = LIMIT,
    budget_tokens: int = BUDGET,
    explain: bool = False,
    policy: Policy | None = None,
    asked_by: Asker = NOBODY,
    now: datetime | None = None,
    reinforce: bool = True,
) -> Answered:
    """Answer `question` from at most `limit` memories (None: as many as it asks for) of together
    `budget_tokens`.

    `as_of`: as things stood then; `include_past`: also from what no longer holds. The other
    arguments are those of `search`. Raises InvalidInput as it does, and for a budget out of
    bounds. A model that fails degrades the answer. Opens its own scopes.
    """
    if not LEAST_TOKENS <= budget_tokens <= MOST_TOKENS:
        raise InvalidInput(
            gettext("from %(least)s to %(most)s") % {"least": LEAST_TOKENS, "most": MOST_TOKENS},
            field="budget_tokens",
        )
    now, clock = now or timezone.now(), Clock()
    with accounting(space.tenant_id, space_id=space.id, at=now) as ledger:
        before = len(ledger.calls)
        found = search(
            space,
            question,
            limit=limit,
            as_of=as_of,
            include_past=include_past,
            deep=deep,
            session_id=session_id,
            policy=policy,
            asked_by=asked_by,
            explain=explain,
            now=now,
            reinforce=reinforce,
        )
        with clock.stage("answer"):
            made = compose(
                space,
                question,
                found.items,
                at=as_of or now,
                include_past=include_past,
                budget_tokens=budget_tokens,
                policy=policy,
                now=now,
            )
        tokens, calls = _asked(ledger, before, made.tokens)
    return _answered(made, found, tokens, calls, clock, explain)


def compose(
    space: Space,
    question: str,
    items: Sequence[Item],
    *,
    at: datetime,
    include_past: bool = False,
    budget_tokens: int = BUDGET,
    policy: Policy | None = None,
    now: datetime | None = None,
    engine: str = "",
) -> Composed:
    """The answer that these memories, best first, give to the question as things stood at `at`.

    `engine` is asked in place of the tenant's. Opens its own scopes; none may be open, since a
    model may be asked.
    """
    with tenant_scope(space.tenant_id):
        policy = policy or policy_of(space).policy
        tenant = Tenant.objects.get(id=space.tenant_id)
        tenant.engine = engine or tenant.engine
        details = known(items, at, question_predicates(question[:_READ]))
    zone = ZoneInfo(space.timezone)
    bearing = zip(items, bearings(items), strict=True)
    quoted = [(item, quote_of(item, details, zone, worth)) for item, worth in bearing]
    holding = [(i, q) for i, q in quoted if include_past or not _is_over(q, at)]
    kept, tokens = _within(holding, budget_tokens)
    quotes, subject = [quote for _, quote in kept], space.name or space.subject
    with accounting(space.tenant_id, space_id=space.id, at=now):
        made, failed = _made(tenant, policy, question, quotes, subject)
    return Composed(made, [item for item, _ in kept], tokens, failed)


def _is_over(quote: Quote, at: datetime) -> bool:
    return quote.until is not None and quote.until <= at


def _within(
    quoted: Sequence[tuple[Item, Quote]], budget: int
) -> tuple[list[tuple[Item, Quote]], int]:
    """(those that fit together, the first first; their tokens)."""
    sizes = count_tokens([line_of(item) for item, _ in quoted]) if quoted else []
    kept, total = list[tuple[Item, Quote]](), 0
    for pair, size in zip(quoted, sizes, strict=True):
        if total + size <= budget:
            kept.append(pair)
            total += size
    return kept, total


def _made(
    tenant: Tenant, policy: Policy, question: str, quotes: Sequence[Quote], subject: str
) -> tuple[Answer, bool]:
    """(the engine's answer, False), or (the rules' one, True) where it could not be asked (E16)."""
    try:
        engine = models_in_use.engine_for(tenant, policy)
        return engine.answer(question, quotes, subject=subject), False
    except EngineError as error:
        log.warning("recall.degraded", part="answer", error=error.message)
        return answers.answer(question, quotes, subject=subject), True


def _asked(ledger: TenantLedger, before: int, memories: int) -> tuple[Tokens, int]:
    calls = [call for call, _ in ledger.calls[before:]]
    prompt = sum(call.prompt_tokens for call in calls)
    return Tokens(memories, prompt, sum(call.completion_tokens for call in calls)), len(calls)


def _answered(
    made: Composed,
    found: SearchResult,
    tokens: Tokens,
    calls: int,
    clock: Clock,
    explain: bool,
) -> Answered:
    shown: dict[str, Any] = {"memories": [_brief(item) for item in made.items]}
    if found.explain is not None:
        shown = asdict(found.explain) | shown
    return Answered(
        text=made.answer.text,
        quoted=made.answer.quoted,
        abstained=made.answer.abstained,
        citations=citations(made.answer, made.items),
        insufficient=found.insufficient,
        degraded=[*found.degraded, *(["answer"] if made.failed else [])],
        unverified=found.unverified,
        conflicts=found.conflicts,
        pending_turns=found.pending_turns,
        query_truncated=found.query_truncated,
        tokens=tokens,
        calls=calls,
        took_ms={**found.took_ms, **clock.took},
        explain=shown if explain else {},
        recall_id=found.recall_id,
    )


def _brief(item: Item) -> dict[str, Any]:
    return {"kind": item.kind, "id": str(item.id), "text": item.text}
