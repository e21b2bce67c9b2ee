"""What to put in front of a model: sections of memories under a budget of tokens (§12.2 step 8).

Always in this order: core, window, shelf, facts, notes, episodes, pages with the summary of their
chain, what was said, the latest exchanges. Every item carries its id, times and sources.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from uuid import UUID

from django.utils import timezone

from memoryhub.dialogues.models import Turn
from memoryhub.engines.embedding.packaged import count_tokens
from memoryhub.policies.schema import Channel, Policy, Select
from memoryhub.recall import channels as finding
from memoryhub.recall import conflicts, explaining, gathering, journal, packing, reinforcing
from memoryhub.recall.arms import Visibility
from memoryhub.recall.asking import NOBODY, Ask, Asker, Clock, Override, Standing, prepare
from memoryhub.recall.channels import core
from memoryhub.recall.channels.hits import Hit
from memoryhub.recall.gathering import Wanted, as_items
from memoryhub.recall.prompting import ORDER, block, frame, handles_of, heading, line_of, words_for
from memoryhub.recall.results import Conflicting, Explanation, Item
from memoryhub.tenants.models import Space
from memoryhub.tenants.scope import tenant_scope
from notes.episodes import live, rolling_text
from notes.models import Episode
from personas.models import Window

# Shown whatever is asked: recall says nothing about their worth.
_UNASKED = frozenset({"core", "window", "stm"})
# Findings of one kind are at most K; all kinds together no more than this.
_MOST = 1000


@dataclass(frozen=True, slots=True)
class Section:
    name: str
    items: Sequence[Item]


@dataclass(frozen=True, slots=True)
class Context:
    """`text` is the block to put into a prompt, `tokens` of it at most those asked for.

    `handles`: what the block calls the memories. `ranked`: those that were found, best
    first. `left_out`: items there was no room for. The other fields are those of a search.
    """

    sections: Sequence[Section]
    text: str
    tokens: int
    ranked: Sequence[UUID] = ()
    handles: Mapping[str, UUID] = field(default_factory=dict)
    left_out: int = 0
    insufficient: bool = False
    degraded: Sequence[str] = ()
    unverified: bool = False
    conflicts: Sequence[Conflicting] = ()
    pending_turns: int = 0
    rounds: int = 1
    took_ms: dict[str, float] = field(default_factory=dict)
    explain: Explanation | None = None
    recall_id: UUID | None = None

    def items(self, *sections: str) -> list[Item]:
        """Those of the sections, or all."""
        return [i for s in self.sections if not sections or s.name in sections for i in s.items]


def context(
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
    select: Select | None = None,
    asked_by: Asker = NOBODY,
    now: datetime | None = None,
    reinforce: bool = True,
    inspect: bool = False,
    standing: Standing | None = None,
) -> Context:
    """What of the space's memory to hand to a model that is to answer `query`.

    `policy`, or `channels` and `select` of it, answer this one question in place of the space's
    own. What made it into the text is remembered better for it, unless not to `reinforce`: then
    nothing is left of the question. `inspect`: a person only looks; that is logged at once, and
    reinforces nothing. `standing`: read together with the space, just now. Raises InvalidInput for
    an empty query or a budget out of bounds. Opens its own scopes.
    """
    packing.check(budget_tokens)
    clock, now = Clock(), now or timezone.now()
    visibility = Visibility(now, as_of, include_past, deep)
    override = Override(policy, channels, select)
    ask, consultant = prepare(
        space,
        query,
        visibility,
        clock,
        session_id=session_id,
        name_entities=True,
        override=override,
        standing=standing,
    )
    chosen = gathering.selected(ask)
    with tenant_scope(space.tenant_id):
        with clock.stage("always"):
            parts = _always(ask, agent)
        there = frozenset(item.id for items in parts.values() for item in items)
        wanted = Wanted(chosen, _MOST, of_each=_of_each(ask), seen=there, explained=explain)
        first = gathering.look(ask, wanted, clock)
        clashing = conflicts.among([*parts.get("shelf", ()), *first.items], visibility.at)
        hidden = explaining.hidden(ask, chosen) if explain else []
    judged = gathering.judged(ask, consultant, first, wanted, clock)
    with clock.stage("pack"):
        packed, kept, text, handles = _packed(ask, parts, judged.items, budget_tokens)
    first.dropped += [gathering.duplicate(item, of) for item, of in packed.told]
    judged.items = _without(judged.items, packed.told)
    asked = [item for s in kept if s.name not in _UNASKED for item in s.items]
    told = explaining.Told(ask, chosen, first, judged, asked, hidden, _MOST)
    result = Context(
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
        took_ms=clock.took,
        explain=told.explanation() if explain else None,
        recall_id=journal.new_recall() if reinforce or inspect else None,
    )
    if reinforce or inspect:
        options = {
            "as_of": as_of.isoformat() if as_of else "",
            "include_past": include_past,
            "deep": deep,
            "budget_tokens": budget_tokens,
            "agent": agent,
            **override.told(),
        }
        done = journal.Outcome.of("context", query, options, result)
        shown = [(section.name, section.items) for section in kept]
        entry = journal.entry(told, done, shown, asked_by, now)
        unasked = [item for s in kept if s.name in _UNASKED for item in s.items]
        reinforcing.left(space, asked, now, entry, inspected=inspect, beside=unasked)
    return result


def _always(ask: Ask, agent: str) -> dict[str, list[Item]]:
    """What is there whatever is asked, as far as its channel is on."""
    on = ask.policy.recall.channels
    hits = finding.find(ask, [channel for channel in on if channel in ("shelf", "stm")])
    if "episodes" in on and ask.visibility.as_of is None:
        hits["episodes"] = _global(ask)
    items = {item.id: item for item in as_items([hit for some in hits.values() for hit in some])}
    parts = {name: [items[h.id] for h in some if h.id in items] for name, some in hits.items()}
    if "core" in on:
        parts["core"] = core.read(ask, agent)
    window = _window(ask)
    if window:
        parts["window"] = window
        there = {item.id for item in window}
        parts["stm"] = [item for item in parts.get("stm", ()) if item.id not in there]
    return {name: items for name, items in parts.items() if items}


def _global(ask: Ask) -> list[Hit]:
    """The digest of everything is handed over whole, alike or not (spec B9)."""
    rows = Episode.objects.filter(live(), space=ask.space, kind=Episode.Kind.GLOBAL)
    newest = rows.order_by("-to_at").values_list("id", flat=True)[:1]
    return [Hit("episode", at, 1.0, "all there is, in brief") for at in newest]


def _window(ask: Ask) -> list[Item]:
    """The session's own window, where it has one: the summary so far and the turns behind it."""
    if ask.session_id is None or ask.policy.window.mode == "off":
        return []
    window = Window.objects.filter(session_id=ask.session_id).select_related("session").first()
    if window is None:
        return []
    turns = Turn.objects.filter(session_id=ask.session_id, seq__gte=window.head_seq)
    ids = turns.exclude(state=Turn.State.REDACTED).order_by("seq").values_list("id", flat=True)
    said = as_items([Hit("turn", at, 1.0, "in the window") for at in ids])
    summary = rolling_text(ask.space, window.session)
    if not summary:
        return said
    return [
        Item(
            "core",
            window.id,
            f"{words_for([summary]).so_far} {summary}",
            1.0,
            {},
            ask.visibility.at,
        ),
        *said,
    ]


def _of_each(ask: Ask) -> int:
    """Of each kind K memories, as the papers' systems have it; where all channels are ranked
    together as many as K_max, since it is the budget that decides what of them is shown."""
    recall = ask.policy.recall
    return recall.k_max if recall.select == "fused" else ask.k


def _without(items: Sequence[Item], told: Sequence[tuple[Item, Item]]) -> list[Item]:
    gone = {item.id for item, _ in told}
    return [item for item in items if item.id not in gone]


def _packed(
    ask: Ask, always: dict[str, list[Item]], found: Sequence[Item], budget: int
) -> tuple[packing.Packed, list[Section], str, dict[UUID, str]]:
    """(what fits, its sections, the block of text, the handle of each memory in it)."""
    words = words_for(item.text for items in (*always.values(), found) for item in items)
    around, *titles = count_tokens(
        ["\n".join(frame(words)), *(heading(name, words) for name in ORDER)]
    )
    packed = packing.pack(
        always,
        found,
        budget - around - 1,
        count_tokens,
        heading=max(titles) + 1,
        line=lambda item: line_of(item, "f99", words),
        whole=ask.policy.recall.whole,
    )
    kept = [Section(name, packed.parts[name]) for name in ORDER if packed.parts.get(name)]
    told = [(section.name, section.items) for section in kept]
    handles = handles_of(told)
    return packed, kept, block(told, handles, words), handles
