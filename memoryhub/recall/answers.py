"""A question answered from a space's memories, with what the answer rests on (spec §7.2, §12.2).

The tenant's engine answers; where its model fails, the rules quote instead. Nothing is made up:
an answer has a memory behind it, or says that nothing is known (E32).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from typing import Any
from uuid import UUID
from zoneinfo import ZoneInfo

import structlog
from django.utils import timezone

from memoryhub.dialogues.queries import build_assisted_condition
from memoryhub.engines.embedding.model_files import count_tokens
from memoryhub.engines.local.answers import extractive
from memoryhub.engines.local.answers.asked import asks_for_past, find_asked_tense
from memoryhub.engines.local.answers.evidence import extract_stems
from memoryhub.engines.local.answers.typos import correct_typos
from memoryhub.engines.local.claims.predicates import find_question_predicates
from memoryhub.engines.types import GroundedAnswer, Quote
from memoryhub.errors import EngineError
from memoryhub.inference import selection
from memoryhub.inference.ledger import TenantLedger, open_ledger
from memoryhub.policies.schema import Policy
from memoryhub.policies.services import load_effective_policy
from memoryhub.recall.question.caller import ANONYMOUS_CALLER, SearchCaller
from memoryhub.recall.question.prepare import StageTimer
from memoryhub.recall.render.citations import AnswerResult, AnswerTokens, build_citations
from memoryhub.recall.render.pack import check_token_budget, pack_context
from memoryhub.recall.render.prompt import format_memory_line
from memoryhub.recall.render.quotes import build_quote, load_quote_details, score_bearings
from memoryhub.recall.render.results import ContextSection, MemoryItem, SearchResult
from memoryhub.recall.render.summary_sources import cite_summaries
from memoryhub.recall.services import SearchLimit, search_memories
from memoryhub.tenants.models import Space, Tenant
from memoryhub.tenants.scope import tenant_scope

log = structlog.get_logger()
BUDGET = 2000
# Of a question this much is read by the rules and shown to a model.
_MAX_QUESTION_CHARACTERS = 4_000


@dataclass(frozen=True, slots=True)
class ComposedAnswer:
    """An answer and what it was made of: `items` are what its indices point at."""

    answer: GroundedAnswer
    items: Sequence[MemoryItem]
    tokens: int
    failed: bool = False

    @property
    def rests_on_nearest(self) -> bool:
        """Whether it is taken from what a search takes for near and no more."""
        return any(not self.items[index].relevant for index in self.answer.used)


def answer_question(
    space: Space,
    question: str,
    *,
    session_id: UUID | None = None,
    as_of: datetime | None = None,
    include_past: bool = False,
    deep: bool = False,
    limit: SearchLimit = "policy",
    budget_tokens: int = BUDGET,
    explain: bool = False,
    policy: Policy | None = None,
    asked_by: SearchCaller = ANONYMOUS_CALLER,
    now: datetime | None = None,
    reinforce: bool = True,
) -> AnswerResult:
    """Answer `question` from at most `limit` memories, as `search_memories` has it, of together
    `budget_tokens`.

    `as_of`: as things stood then; `include_past`: also from what no longer holds. The other
    arguments are those of `search`. Raises InvalidInput as it does, and for a budget out of
    bounds. A model that fails degrades the answer. Opens its own scopes.
    """
    check_token_budget(budget_tokens)
    now, clock = now or timezone.now(), StageTimer()
    with open_ledger(space.tenant_id, space_id=space.id, at=now) as ledger:
        before = len(ledger.calls)
        found = search_memories(
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
            unasked="model",
            nearest=None,
        )
        with clock.measure_stage("answer"):
            made = compose_answer(
                space,
                question,
                found.items,
                beside=found.unasked,
                at=as_of or now,
                include_past=include_past,
                budget_tokens=budget_tokens,
                policy=policy,
                now=now,
            )
        tokens, calls = _sum_model_usage(ledger, before, made.tokens)
    return _build_result(made, found, tokens, calls, clock, explain)


def _list_section_items(sections: Sequence[ContextSection]) -> list[MemoryItem]:
    return [item for section in sections for item in section.items]


def compose_answer(
    space: Space,
    question: str,
    items: Sequence[MemoryItem],
    *,
    beside: Sequence[ContextSection] = (),
    at: datetime,
    include_past: bool = False,
    budget_tokens: int = BUDGET,
    policy: Policy | None = None,
    now: datetime | None = None,
    engine: str = "",
) -> ComposedAnswer:
    """The answer that these memories, best first, give to the question as things stood at `at`.

    `beside`: what the policy hands over whatever is asked, by section. `engine` is asked in place
    of the tenant's. Opens its own scopes; none may be open, since a model may be asked.
    """
    with tenant_scope(space.tenant_id):
        policy = policy or load_effective_policy(space).policy
        tenant, is_assisted = _load_tenant(space)
        tenant.engine = engine or tenant.engine
        all_items = [*items, *_list_section_items(beside)]
        quoted = _build_quotes(space, question, all_items, at, is_assisted=is_assisted)
    # Who asks what was once so is told so.
    wants_past = include_past or asks_for_past(question[:_MAX_QUESTION_CHARACTERS])
    holding = [(i, q) for i, q in quoted if wants_past or q.until is None]
    if not wants_past:
        holding = _add_what_is_named(question, quoted, holding)
    holding.sort(key=lambda pair: not pair[1].bears)
    kept, tokens = _fit_token_budget(holding, beside, budget_tokens, whole=policy.recall.whole)
    quotes, subject = [quote for _, quote in kept], space.display_name
    with open_ledger(space.tenant_id, space_id=space.id, at=now):
        made, failed = _ask_engine(tenant, policy, question, quotes, subject)
    rests_on = [item for item, _ in kept]
    if any(rests_on[index].kind == "episode" for index in made.used):
        with tenant_scope(space.tenant_id):
            rests_on = cite_summaries(made, rests_on)
    return ComposedAnswer(made, rests_on, tokens, failed)


def _add_what_is_named(
    question: str,
    quoted: Sequence[tuple[MemoryItem, Quote]],
    holding: Sequence[tuple[MemoryItem, Quote]],
) -> list[tuple[MemoryItem, Quote]]:
    """With what is over, where a question in the past names it and nothing that holds does: "how
    much did I make at the rec center". In the order of what was found."""
    asked = question[:_MAX_QUESTION_CHARACTERS]
    if len(holding) == len(quoted) or find_asked_tense(asked) == "now":
        return [*holding]
    kept = {id(quote) for _, quote in holding}
    told = {stem for _, quote in holding for stem in extract_stems(quote.text)}
    named = extract_stems(asked) - told
    return [
        (item, quote)
        for item, quote in quoted
        if id(quote) in kept or named & extract_stems(quote.text)
    ]


def load_quotes_for_question(space: Space, question: str, *, now: datetime) -> list[Quote]:
    """What an answer would be made from, best first. Leaves no trace; opens its own scopes."""
    found = search_memories(
        space,
        question,
        now=now,
        reinforce=False,
        unasked="model",
        nearest=None,
    )
    with tenant_scope(space.tenant_id):
        all_items = [*found.items, *_list_section_items(found.unasked)]
        _, is_assisted = _load_tenant(space)
        quoted = _build_quotes(space, question, all_items, now, is_assisted=is_assisted)
    return [quote for _, quote in quoted]


def _load_tenant(space: Space) -> tuple[Tenant, bool]:
    """The space's, and whether what was said there is talk with an assistant. One statement; call
    inside the tenant's scope."""
    assisted = build_assisted_condition(space)
    tenant = Tenant.objects.annotate(assisted=assisted).get(id=space.tenant_id)
    return tenant, tenant.assisted


def _build_quotes(
    space: Space,
    question: str,
    items: Sequence[MemoryItem],
    at: datetime,
    *,
    is_assisted: bool,
) -> list[tuple[MemoryItem, Quote]]:
    """Of what holds at that time, no end is told that comes later. Call inside the tenant's
    scope."""
    asked_for = find_question_predicates(correct_typos(question[:_MAX_QUESTION_CHARACTERS]))
    details, zone = load_quote_details(items, at, asked_for), ZoneInfo(space.timezone)
    bearing = [
        (item, worth)
        for item, worth in zip(items, score_bearings(items), strict=True)
        if item.id not in details.waiting
    ]
    quotes = [(item, build_quote(item, details, zone, worth)) for item, worth in bearing]
    quotes = [(i, replace(q, until=None) if q.until and q.until > at else q) for i, q in quotes]
    return [(i, replace(_name_people(space, q), assisted=is_assisted)) for i, q in quotes]


def _name_people(space: Space, quote: Quote) -> Quote:
    """With the subject by one name, whatever they spoke under."""
    names = space.called_names
    named = replace(quote, subject_names=names)
    speaker, owner = named.name_person(quote.speaker), named.name_person(quote.owner)
    return replace(named, speaker=speaker, owner=owner)


def _fit_token_budget(
    quoted: Sequence[tuple[MemoryItem, Quote]],
    beside: Sequence[ContextSection],
    budget: int,
    *,
    whole: bool,
) -> tuple[list[tuple[MemoryItem, Quote]], int]:
    """(those that fit together, in their order; their tokens). Where not all do, they are packed
    as a context is: the latest exchanges have their share, of which the newest stay."""
    items = [item for item, _ in quoted]
    sizes = count_tokens([format_memory_line(item) for item in items]) if items else []
    kept = {item.id for item in items}
    if sum(sizes) > budget:
        always = {each.name: [i for i in each.items if i.id in kept] for each in beside}
        handed = {item.id for some in always.values() for item in some}
        found = [item for item in items if item.id not in handed]
        packed = pack_context(always, found, budget, count_tokens, heading=0, whole=whole)
        kept = {item.id for some in packed.parts.values() for item in some}
    total = sum(size for (item, _), size in zip(quoted, sizes, strict=True) if item.id in kept)
    return [pair for pair in quoted if pair[0].id in kept], total


def _ask_engine(
    tenant: Tenant, policy: Policy, question: str, quotes: Sequence[Quote], subject: str
) -> tuple[GroundedAnswer, bool]:
    """(the engine's answer, False), or (the rules' one, True) where it could not be asked (E16)."""
    try:
        engine = selection.select_engine(tenant, policy)
        if not engine.reads_by_rules:
            quotes = [quote for quote in quotes if quote.bears]
        return engine.answer_question(question, quotes, subject=subject), False
    except EngineError as error:
        log.warning("recall.degraded", part="answer", error=error.message)
        return extractive.answer_from_quotes(question, quotes, subject=subject), True


def _sum_model_usage(ledger: TenantLedger, before: int, memories: int) -> tuple[AnswerTokens, int]:
    calls = [call for call, _ in ledger.calls[before:]]
    prompt = sum(call.prompt_tokens for call in calls)
    return AnswerTokens(memories, prompt, sum(call.completion_tokens for call in calls)), len(calls)


def _build_result(
    made: ComposedAnswer,
    found: SearchResult,
    tokens: AnswerTokens,
    calls: int,
    clock: StageTimer,
    explain: bool,
) -> AnswerResult:
    memories = [{"kind": i.kind, "id": str(i.id), "text": i.text} for i in made.items]
    shown: dict[str, Any] = {"memories": memories}
    if found.explain is not None:
        shown = asdict(found.explain) | shown
    return AnswerResult(
        text=made.answer.text,
        quoted=made.answer.quoted,
        abstained=made.answer.abstained,
        citations=build_citations(made.answer, made.items),
        insufficient=found.insufficient and not made.rests_on_nearest,
        degraded=[*found.degraded, *(["answer"] if made.failed else [])],
        unverified=found.unverified,
        conflicts=found.conflicts,
        pending_turns=found.pending_turns,
        query_truncated=found.query_truncated,
        tokens=tokens,
        calls=calls,
        took_ms={**found.took_ms, **clock.took_ms},
        explain=shown if explain else {},
        recall_id=found.recall_id,
    )
