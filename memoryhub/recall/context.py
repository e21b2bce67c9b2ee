"""What to put in front of a model: sections of memories within so many tokens (spec §12.2 step 8).

Always in this order: core, window, shelf, facts, notes, episodes, pages with the summary of their
chain, what was said, the latest exchanges. Every item carries its id, times and sources.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from uuid import UUID

from django.utils import timezone

from memoryhub.engines.embedding.model_files import count_tokens
from memoryhub.policies.schema import Channel, Policy, SelectMode
from memoryhub.recall import rerank, retrieve
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
from memoryhub.recall.render.prompt import (
    SECTION_ORDER,
    build_handles,
    choose_prompt_words,
    format_block,
    format_frame,
    format_heading,
    format_memory_line,
)
from memoryhub.recall.render.results import (
    Conflicts,
    ContextSection,
    Degraded,
    DroppedMemory,
    Explanation,
    Insufficient,
    MemoryItem,
    PendingTurns,
    Unverified,
)
from memoryhub.recall.render.subject_name import name_subject
from memoryhub.recall.retrieve import RetrievalScope
from memoryhub.recall.unasked import UNRATED_SECTIONS, load_unasked_items
from memoryhub.tenants.models import Space
from memoryhub.tenants.scope import reading_scope

# Findings of one kind are at most K; all kinds together no more than this.
_MAX_FINDINGS = 1000


@dataclass(frozen=True, slots=True)
class MemoryContext:
    """`text` is the block to put into a prompt, `tokens` of it at most those asked for.

    `handles`: what the block calls the memories. `ranked`: those that were found, best
    first. `left_out`: items there was no room for. The other fields are those of a search.
    """

    sections: Sequence[ContextSection]
    text: str
    tokens: int
    ranked: Sequence[UUID] = ()
    handles: Mapping[str, UUID] = field(default_factory=dict)
    left_out: int = 0
    insufficient: Insufficient = False
    degraded: Degraded = ()
    unverified: Unverified = False
    conflicts: Conflicts = ()
    pending_turns: PendingTurns = 0
    rounds: int = 1
    took_ms: dict[str, float] = field(default_factory=dict)
    explain: Explanation | None = None
    recall_id: UUID | None = None

    def items(self, *sections: str) -> list[MemoryItem]:
        """Those of the sections, or all."""
        return [i for s in self.sections if not sections or s.name in sections for i in s.items]


def build_context(
    space: Space,
    query: str,
    *,
    session_id: UUID | None = None,
    budget_tokens: int = 2000,
    agent: str = "",
    as_of: datetime | None = None,
    include_past: bool = False,
    deep: bool = False,
    explain: bool = False,
    policy: Policy | None = None,
    channels: Sequence[Channel] | None = None,
    select: SelectMode | None = None,
    asked_by: SearchCaller = ANONYMOUS_CALLER,
    now: datetime | None = None,
    reinforce: bool = True,
    inspect: bool = False,
    standing: SpaceSearchState | None = None,
    seen: Collection[str] = (),
) -> MemoryContext:
    """What of the space's memory to hand to a model that is to answer `query`.

    `policy`, or `channels` and `select` of it, answer this one question in place of the space's
    own. What made it into the text is remembered better for it, unless not to `reinforce`: then
    nothing is left of the question. `inspect`: a person only looks; that is logged at once, and
    reinforces nothing. `standing`: read together with the space, just now. `seen`: texts that the
    model has in front of it already, which no turn of the window need repeat. Raises InvalidInput
    for an empty query or a budget out of bounds. Opens its own scopes.
    """
    pack.check_token_budget(budget_tokens)
    clock, now = StageTimer(), now or timezone.now()
    visibility = SearchVisibility(now, as_of, include_past, deep)
    override = SearchOverride(policy, channels, select)
    ask, consultant = prepare_question(
        space,
        query,
        visibility,
        clock,
        session_id=session_id,
        name_entities=True,
        override=override,
        standing=standing,
    )
    chosen = retrieve.select_channels(ask)
    with reading_scope(space.tenant_id):
        with clock.measure_stage("always"):
            parts = load_unasked_items(ask, agent, seen)
        there = frozenset(item.id for items in parts.values() for item in items)
        most = _compute_limit_per_kind(ask)
        read_nearest = rerank.is_read_by_packaged(ask)
        wanted = RetrievalScope(
            chosen,
            _MAX_FINDINGS,
            most,
            seen=there,
            explain=explain,
            nearest_if_none=read_nearest,
        )
        first = retrieve.retrieve_memories(ask, wanted, clock)
        clashing = conflicts.list_conflicts(ask, [*parts.get("shelf", ()), *first.items])
        hidden = explanation.find_hidden(ask, chosen) if explain else []
    first.items = rerank.rerank_items(
        ask, consultant, first.items, clock, read_nearest=read_nearest
    )
    first.items = first.list_relevant()
    judged = retrieve.judge_retrieval(ask, consultant, first, wanted, clock)
    with clock.measure_stage("pack"):
        packed, kept, text, handles = _pack_sections(ask, parts, judged.items, budget_tokens)
    twice = packed.duplicates
    first.dropped += [DroppedMemory.from_item(item, "duplicate", of.id) for item, of in twice]
    gone = {item.id for item, _ in twice}
    judged.items = [item for item in judged.items if item.id not in gone]
    asked = [item for s in kept if s.name not in UNRATED_SECTIONS for item in s.items]
    told = explanation.SearchTrace(ask, chosen, first, judged, asked, hidden, _MAX_FINDINGS)
    result = MemoryContext(
        sections=kept,
        text=text,
        tokens=count_tokens([text])[0],
        ranked=[item.id for item in judged.items if item.id in handles],
        handles={handle: at for at, handle in handles.items()},
        left_out=len(packed.left_out),
        insufficient=not judged.enough,
        degraded=consultant.degraded,
        unverified=judged.unverified,
        conflicts=[*clashing, *judged.conflicts],
        pending_turns=ask.pending,
        rounds=judged.rounds,
        took_ms=clock.took_ms,
        explain=told.build_explanation() if explain else None,
        recall_id=journal.generate_recall_id() if reinforce or inspect else None,
    )
    if reinforce or inspect:
        options = {
            "budget_tokens": budget_tokens,
            "agent": agent,
            **visibility.to_log_options(),
            **override.to_log_options(),
        }
        question = journal.AskedQuestion("context", query, options, asked_by, now)
        shown = [(section.name, section.items) for section in kept]
        entry = journal.build_entry(told, result, shown, question)
        unasked = [item for s in kept if s.name in UNRATED_SECTIONS for item in s.items]
        reinforcement.record_search(space, asked, now, entry, inspected=inspect, beside=unasked)
    return result


def _compute_limit_per_kind(ask: PreparedQuestion) -> int:
    """Of each kind K memories, as the papers' systems have it; where all channels are ranked
    together as many as K_max, since it is the budget that decides what of them is shown."""
    recall = ask.policy.recall
    return recall.k_max if recall.select == "fused" else ask.k


def _pack_sections(
    ask: PreparedQuestion,
    always: dict[str, list[MemoryItem]],
    found: Sequence[MemoryItem],
    budget: int,
) -> tuple[pack.PackedContext, list[ContextSection], str, dict[UUID, str]]:
    """(what fits, its sections, the block of text, the handle of each memory in it)."""
    called = ask.space.called_names
    always = {name: name_subject(items, called) for name, items in always.items()}
    found = name_subject(found, called)
    words = choose_prompt_words(item.text for items in (*always.values(), found) for item in items)
    headings = [format_heading(name, words) for name in SECTION_ORDER]
    around, *titles = count_tokens(["\n".join(format_frame(words)), *headings])
    packed = pack.pack_context(
        always,
        found,
        budget - around - 1,
        count_tokens,
        heading=max(titles) + 1,
        line=lambda item: format_memory_line(item, "f99", words),
        whole=ask.policy.recall.whole,
    )
    there = [name for name in SECTION_ORDER if packed.parts.get(name)]
    kept = [ContextSection(name, packed.parts[name]) for name in there]
    told = [(section.name, section.items) for section in kept]
    handles = build_handles(told)
    return packed, kept, format_block(told, handles, words), handles
