"""Searching a space: one question in, the memories that bear on it out (spec §12.2)."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from functools import partial
from typing import Literal, get_args
from uuid import UUID

from django.utils import timezone
from django.utils.translation import gettext as _

from memoryhub.engines.embedding.model_files import count_tokens
from memoryhub.errors import InvalidInput
from memoryhub.metrics.counters import RECALL_SECONDS
from memoryhub.policies.schema import Channel, Policy, SelectMode
from memoryhub.recall import rerank, retrieve
from memoryhub.recall.candidates.channels import at_hand
from memoryhub.recall.judge import conflicts
from memoryhub.recall.log import journal, reinforcement
from memoryhub.recall.question.caller import (
    ANONYMOUS_CALLER,
    SearchCaller,
    SearchOverride,
    SearchVisibility,
)
from memoryhub.recall.question.prepare import (
    PreparedQuestion,
    SpaceSearchState,
    StageTimer,
    prepare_question,
)
from memoryhub.recall.render import explanation, pack
from memoryhub.recall.render.prompt import SECTION_ORDER
from memoryhub.recall.render.results import ContextSection, MemoryItem, MemoryKind, SearchResult
from memoryhub.recall.retrieve import RetrievalScope
from memoryhub.recall.unasked import load_unasked_items
from memoryhub.tenants.models import Space
from memoryhub.tenants.scope import reading_scope

# What can be asked for; and what is, unless something else is said.
ALL_KINDS: tuple[MemoryKind, ...] = get_args(MemoryKind)
DEFAULT_KINDS: tuple[MemoryKind, ...] = ("fact", "turn", "note")
DEFAULT_LIMIT, MAX_LIMIT = 10, 100
SearchLimit = int | None | Literal["policy"]
UnaskedWish = bool | Literal["model", "twice"] | None


@RECALL_SECONDS.time()
def search_memories(
    space: Space,
    query: str,
    *,
    limit: SearchLimit = "policy",
    kinds: Sequence[MemoryKind] | None = None,
    as_of: datetime | None = None,
    include_past: bool = False,
    deep: bool = False,
    only: Sequence[UUID] | None = None,
    session_id: UUID | None = None,
    budget_tokens: int | None = None,
    explain: bool = False,
    policy: Policy | None = None,
    channels: Sequence[Channel] | None = None,
    select: SelectMode | None = None,
    engine: str | None = None,
    vectors: str | None = None,
    asked_by: SearchCaller = ANONYMOUS_CALLER,
    now: datetime | None = None,
    reinforce: bool = True,
    inspect: bool = False,
    standing: SpaceSearchState | None = None,
    unasked: UnaskedWish = None,
    nearest: bool | None = False,
    min_relevance: float | None = None,
) -> SearchResult:
    """The memories of `space` that bear on `query`, best first. Opens its own tenant scope.

    `limit` "policy": ten, or where the policy routes questions as many as the router thinks are
    wanted, or all where it hands over the whole dialogue; notes that are linked to them come beside
    those, unless it ranks all channels together. None: as many as the question wants, and linked
    notes, under any policy. `kinds` None: those whose
    channels the policy has on. `as_of`: as things stood in the world then;
    `include_past`: also what no longer holds; `deep`: also what has faded, which revives it;
    `only`: of these facts, turns, notes and episodes, by id, where only those are asked for.
    `session_id` tells the router what was said before. `budget_tokens`: no more text than that.
    `policy`, or `channels` and `select` of it, ask this one question in place of the space's own,
    `engine` in place of the tenant's, by the `vectors` of another embedder. What was found is
    remembered better for it, unless not to `reinforce`: then the search leaves no trace.
    `inspect`: a person only looks; that is logged at once, and reinforces nothing. `standing`: read
    together with the space, just now. `unasked`: also what the policy hands over whatever is asked;
    None: where the policy does not rank all channels together; "model": also where a model is to
    answer, since rules quote what was found and can not weigh what was not; "twice": in any case,
    what was found as well among it, for who shows fewer than are found. `nearest`: as many as were
    asked for, nearest first, and each says whether it bears on the query; None: where the floor is
    unsure of what does, for rules that weigh it themselves. `min_relevance`:
    only what is like the query by so much, 0 to 1 (`ranking.select.measure_likeness`).
    What fails degrades the search; raises InvalidInput for an empty query.
    """
    _check_arguments(limit, kinds, min_relevance)
    pack.check_token_budget(budget_tokens)
    clock, now = StageTimer(), now or timezone.now()
    visibility = SearchVisibility(now, as_of, include_past, deep, only=only)
    override = SearchOverride(policy, channels, select, engine, vectors)
    ask, consultant = prepare_question(
        space, query, visibility, clock, session_id=session_id, override=override, standing=standing
    )
    scope = _build_scope(ask, limit, kinds, override)
    is_weighed = nearest is None and _is_floor_unsure(ask)
    nearest = nearest or is_weighed
    read = rerank.is_read_by_packaged(ask) and min_relevance is None and not is_weighed
    wanted = replace(
        scope, explain=explain, nearest=nearest, nearest_if_none=read, least=min_relevance
    )
    with reading_scope(space.tenant_id):
        first = retrieve.retrieve_memories(ask, _widen_for_reranker(ask, wanted), clock)
        likely, named = _load_named_items(ask) if "facts" in wanted.channels else ([], [])
        hidden = explanation.find_hidden(ask, wanted.channels) if explain else []
        beside = {}
        if kinds is None and _is_unasked_wanted(ask, unasked):
            beside = load_unasked_items(ask, "")
    first.put_first(likely)
    if rerank.is_reranked(ask):
        first.items = rerank.rerank_items(ask, consultant, first.items, clock, read_nearest=read)
        if not nearest:
            first.items = first.list_relevant()
        first.place_successors()
        first.cut_to(wanted)
    first.put_first(named)
    clashing = conflicts.list_conflicts(ask, first.list_relevant())
    judged = retrieve.judge_retrieval(ask, consultant, first, wanted, clock)
    best = wanted.cut_to_limit(_add_nearest(judged.items, first.items if nearest else ()))
    shown, tokens = pack.fit_token_budget(best, budget_tokens, count_tokens)
    told = explanation.SearchTrace(ask, wanted.channels, first, judged, shown, hidden, wanted.most)
    result = SearchResult(
        items=shown,
        insufficient=not (shown and judged.enough),
        degraded=consultant.degraded,
        unverified=judged.unverified,
        conflicts=[*clashing, *judged.conflicts],
        pending_turns=ask.pending,
        query_truncated=ask.parsed_question.truncated,
        tokens=tokens,
        rounds=judged.rounds,
        took_ms=clock.took_ms,
        explain=told.build_explanation() if explain else None,
        recall_id=journal.generate_recall_id() if reinforce or inspect else None,
        unasked=_exclude_found(beside, () if unasked == "twice" else shown),
    )
    if reinforce or inspect:
        options = {
            "limit": limit,
            "kinds": list(kinds or ()),
            "budget_tokens": budget_tokens,
            **visibility.to_log_options(),
            **override.to_log_options(),
        }
        asked = journal.AskedQuestion("search", query, options, asked_by, now)
        entry = journal.build_entry(told, result, [("", shown)], asked)
        bearing = [item for item in shown if item.relevant]
        reinforcement.record_search(space, bearing, now, entry, inspected=inspect)
    return result


def _widen_for_reranker(ask: PreparedQuestion, wanted: RetrievalScope) -> RetrievalScope:
    """As many as it puts in order, whose first are shown."""
    if not rerank.is_reranked(ask):
        return wanted
    return replace(wanted, most=max(wanted.most, ask.policy.recall.rerank_most))


def _load_named_items(ask: PreparedQuestion) -> tuple[list[MemoryItem], list[MemoryItem]]:
    """What tells of the kind of thing that is asked for, and comes first unless what reads it
    beside the question knows better; and what is first whatever reads it: who somebody is, all that
    is known of the subject, or lies ahead. Call inside the tenant's scope."""
    asked, load = ask.parsed_question, partial(retrieve.load_items_of_hits, part="asked")
    likely, named = list[MemoryItem](), list[MemoryItem]()
    # Of talk with an assistant: what two tell each other is found by what they say.
    if asked.kind and ask.is_assisted:
        likely += load(at_hand.find_asked_kind_facts(ask, asked.kind))
    if asked.identity:
        named += load(at_hand.find_identity(ask, asked.identity))
    if asked.kin:
        named += load(at_hand.find_relatives(ask, asked.kin))
    if asked.wants_overview:
        named += load(at_hand.find_overview(ask))
    if asked.wants_agenda:
        named += load(at_hand.find_agenda(ask))
    return likely, named


def _is_unasked_wanted(ask: PreparedQuestion, unasked: UnaskedWish) -> bool:
    if isinstance(unasked, bool):
        return unasked
    if unasked == "twice" or ask.policy.recall.select != "fused":
        return True
    return unasked == "model" and not ask.is_read_by_rules


def _exclude_found(
    beside: Mapping[str, Sequence[MemoryItem]], shown: Sequence[MemoryItem]
) -> list[ContextSection]:
    """The sections in the order of a context, each thing once."""
    seen = {item.id for item in shown}
    found = []
    for name in SECTION_ORDER:
        items = [item for item in beside.get(name, ()) if item.id not in seen]
        seen |= {item.id for item in items}
        found += [ContextSection(name, items)] if items else []
    return found


def _is_floor_unsure(ask: PreparedQuestion) -> bool:
    """Whether what lies below the floor may answer as well: it was set on what people tell each
    other in English, where little in common is nothing. A model is shown what bears on it."""
    unsure = ask.is_assisted or ask.parsed_question.language == "zh"
    return unsure and ask.is_read_by_rules


def _add_nearest(
    judged: Sequence[MemoryItem], nearest: Sequence[MemoryItem]
) -> Sequence[MemoryItem]:
    """What was judged, and what else is near: that, a judge set aside or never saw."""
    known = {item.id for item in judged}
    return [*judged, *(replace(i, relevant=False) for i in nearest if i.id not in known)]


def _check_arguments(
    limit: SearchLimit, kinds: Sequence[MemoryKind] | None, min_relevance: float | None
) -> None:
    if min_relevance is not None and not 0 <= min_relevance <= 1:
        raise InvalidInput(_("from 0 to 1"), field="min_relevance")
    if isinstance(limit, int) and not 1 <= limit <= MAX_LIMIT:
        raise InvalidInput(_("from 1 to %(limit)s") % {"limit": MAX_LIMIT}, field="limit")
    if kinds is not None and (not kinds or set(kinds) - set(ALL_KINDS)):
        raise InvalidInput(_("some of %(known)s") % {"known": ", ".join(ALL_KINDS)}, field="kinds")


def _build_scope(
    ask: PreparedQuestion,
    limit: SearchLimit,
    kinds: Sequence[MemoryKind] | None,
    override: SearchOverride,
) -> RetrievalScope:
    """Unless something else is asked for, what a list can answer with in few words: facts, what
    was said, notes; and summaries where the question is after an overview."""
    if override.channels is not None and kinds is None:
        chosen = retrieve.select_named_channels(ask)
    else:
        chosen = retrieve.select_channels_for_kinds(ask, kinds)
        if kinds is None and ask.policy.recall.select == "fused":
            chosen = retrieve.select_precise_channels(ask, chosen)
    only = None if kinds is None else frozenset(kinds)
    select = ask.policy.recall.select
    # Linked notes have a budget of their own, however many there are that were found (A10); who
    # asks for so many gets no more.
    linked = limit is None or (limit == "policy" and select != "fused")
    if limit == "policy" and ask.policy.recall.whole:
        limit = sys.maxsize
    elif limit == "policy":
        limit = ask.k if select == "routed" else DEFAULT_LIMIT
    return RetrievalScope(chosen, limit or ask.k, kinds=only, linked=linked)
