"""All channels of a question as one list: selected, each thing once, judged (spec §12.2 3-7).

`search` and `context` both go this way; they differ in what they want of it.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from uuid import UUID

from memoryhub.dialogues.messages import normalise_text
from memoryhub.engines.local.answers.asked import ValueKind
from memoryhub.policies.schema import Channel
from memoryhub.recall.candidates import channels as finding
from memoryhub.recall.candidates.channels import graph, similar
from memoryhub.recall.candidates.channels.hits import ChannelHit
from memoryhub.recall.candidates.successors import Succession, find_successions
from memoryhub.recall.judge import judge
from memoryhub.recall.judge.rounds import FurtherRounds
from memoryhub.recall.question import intents
from memoryhub.recall.question.engine import TolerantEngine
from memoryhub.recall.question.prepare import PreparedQuestion, StageTimer
from memoryhub.recall.ranking import fusion, rank
from memoryhub.recall.ranking.select import MODEL_MARGIN, RULES_MARGIN, tells_amount
from memoryhub.recall.render.hydrate import (
    FoundMemory,
    SourceLinks,
    Span,
    hydrate_memories,
    load_source_links,
)
from memoryhub.recall.render.results import DroppedMemory, ItemKind, MemoryItem

# These are no findings to choose from: they are handed over as they are.
UNRANKED_CHANNELS: frozenset[Channel] = frozenset({"stm", "window", "core", "shelf"})
# The channel to look in for a kind of memory, whatever the policy has on.
_CHANNEL_OF_KIND: Mapping[ItemKind, Channel] = {
    "fact": "facts",
    "turn": "raw",
    "note": "notes",
    "page": "pages",
    "episode": "episodes",
}
_KIND_OF_CHANNEL: Mapping[Channel, ItemKind] = {
    **{channel: kind for kind, channel in _CHANNEL_OF_KIND.items()},
    "graph": "fact",
    "shelf": "fact",
    "stm": "turn",
}
# Candidates that are explained although they are not shown, and kept in the log.
MOST_DROPPED = 50


@dataclass(frozen=True, slots=True)
class RetrievalScope:
    """Where to look, and for how much: the `most` best, or K of each kind.

    `kinds`: nothing else is shown, also not by further rounds; None: whatever is found.
    `seen`: there already, by id; a further round looks for something else. `explained`: of what
    is dropped the parts of its score and its place in both arms are told. `nearest`: as many as
    are wanted, also of what does not bear on the question; `nearest_if_none`: where nothing does.
    `least`: only what is like it by so much, from 0 to 1.
    """

    channels: Sequence[Channel]
    most: int
    limit_per_kind: int | None = None
    kinds: frozenset[ItemKind] | None = None
    seen: frozenset[UUID] = frozenset()
    linked: bool = False
    explain: bool = False
    nearest: bool = False
    nearest_if_none: bool = False
    least: float | None = None

    def cut_to_limit(self, items: Sequence[MemoryItem]) -> list[MemoryItem]:
        """The `most` best, and what comes beside them."""
        if not self.linked:
            return list(items[: self.most])
        direct = {item.id for item in [i for i in items if not i.linked][: self.most]}
        return [item for item in items if item.linked or item.id in direct]


@dataclass
class RetrievalResult:
    """What one look brought: `items` best first, each once. `counts` by channel, `links` the
    turns of facts and notes that were looked up on the way. `barren`: channels that would bring
    nothing in a further round either. `irrelevant`: what is only near, by id. `followed`: what took
    the place of what a message told, by message."""

    items: list[MemoryItem] = field(default_factory=list)
    counts: dict[str, int] = field(default_factory=dict)
    dropped: list[DroppedMemory] = field(default_factory=list)
    links: dict[UUID, Mapping[UUID, Span | None]] = field(default_factory=dict)
    exhausted_channels: Sequence[Channel] = ()
    irrelevant: frozenset[UUID] = frozenset()
    followed: Mapping[UUID, Succession] = field(default_factory=dict)

    def list_relevant(self) -> list[MemoryItem]:
        return [item for item in self.items if item.relevant]

    def cut_to(self, wanted: RetrievalScope) -> None:
        """Without what there is no room for, where more was looked at than is wanted."""
        kept = wanted.cut_to_limit(self.items)
        known = {item.id for item in kept}
        left = [DroppedMemory.from_item(i, "over_limit") for i in self.items if i.id not in known]
        self.items, self.dropped = kept, [*left, *self.dropped]

    def place_successors(self) -> None:
        """Before or beside what they took the place of, in whatever order all that is by now."""
        self.items = _place_successors(self.items, self.followed)

    def put_first(self, items: Sequence[MemoryItem]) -> None:
        """These before the others, and each thing once: they bear on the question, whatever a
        floor says of their words."""
        found = {item.id: item for item in self.items}
        first = {item.id: replace(found.get(item.id, item), relevant=True) for item in items}
        self.items = [*first.values(), *(item for item in self.items if item.id not in first)]


def select_channels(ask: PreparedQuestion) -> list[Channel]:
    """AMA's one store, or the channels of the policy that hold out findings."""
    recall = ask.policy.recall
    if recall.select == "routed":
        return [intents.choose_store(ask.routed_question)]
    return [channel for channel in recall.channels if channel not in UNRANKED_CHANNELS]


def select_channels_for_kinds(
    ask: PreparedQuestion, kinds: Collection[ItemKind] | None
) -> list[Channel]:
    """The selected channels, or where such kinds are found; everything if policy has none on,
    for an agent with tools of its own."""
    chosen = select_channels(ask)
    if kinds is not None:
        own = [channel for channel in chosen if _KIND_OF_CHANNEL[channel] in kinds]
        missing = [_CHANNEL_OF_KIND[kind] for kind in kinds]
        chosen = own + [channel for channel in missing if channel not in own]
    return chosen or ["facts", "raw", "notes"]


def select_named_channels(ask: PreparedQuestion) -> list[Channel]:
    """The channels the question names, the shelf and the latest exchanges too."""
    if ask.policy.recall.select == "routed":
        return select_channels(ask)
    return [channel for channel in ask.policy.recall.channels if channel in _KIND_OF_CHANNEL]


def select_precise_channels(ask: PreparedQuestion, chosen: Sequence[Channel]) -> list[Channel]:
    """Of these the ones that answer in few words, and those the question's intent favours."""
    favoured = {*rank.KIND_OF_CHANNEL, *intents.compute_channel_weights(ask.routed_question)}
    return [channel for channel in chosen if channel in favoured] or ["facts", "raw", "notes"]


def retrieve_memories(
    ask: PreparedQuestion, wanted: RetrievalScope, clock: StageTimer
) -> RetrievalResult:
    """One look into all channels wanted. Call inside the tenant's scope.

    A list shows each thing once; of a look for so many `limit_per_kind` whoever packs it sees to
    that.
    """
    ask = ask if wanted.limit_per_kind else replace(ask, limit=wanted.most)
    found, made = _find_memories(ask, wanted, clock)
    with clock.measure_stage("hydrate"):
        items = load_items(found, made.links)
        if far := made.irrelevant:
            items = [replace(i, relevant=False) if i.id in far else i for i in items]
        items = _add_relations(items, every=ask.policy.recall.select != "fused")
    if not wanted.limit_per_kind:
        margin = RULES_MARGIN if ask.is_read_by_rules else MODEL_MARGIN
        items, told = remove_duplicates(items, margin, ask.parsed_question.value)
        made.dropped += told
        with clock.measure_stage("hydrate"):
            items, made.followed = _add_successors(ask, wanted, items)
            items = _place_successors(items, made.followed)
    made.items = [i for i in items if wanted.kinds is None or i.kind in wanted.kinds]
    return made


def _find_memories(
    ask: PreparedQuestion, wanted: RetrievalScope, clock: StageTimer
) -> tuple[list[FoundMemory], RetrievalResult]:
    recall = ask.policy.recall
    fused = recall.select == "fused"
    if not fused or recall.whole:
        with clock.measure_stage("candidates"):
            lists = finding.find_hits_by_channel(ask, wanted.channels)
        weights = intents.compute_channel_weights(ask.routed_question) if fused else {}
        return fusion.fuse_channels(lists, weights), RetrievalResult(counts=_count_hits(lists))
    result = rank.rank_candidates(
        ask,
        wanted.channels,
        wanted.most,
        wanted.limit_per_kind,
        clock,
        nearest=wanted.nearest,
        nearest_if_none=wanted.nearest_if_none,
        least=wanted.least,
    )
    with clock.measure_stage("candidates"):
        beside = [channel for channel in wanted.channels if channel not in rank.KIND_OF_CHANNEL]
        lists = finding.find_hits_by_channel(ask, beside)
        if (wanted.limit_per_kind or wanted.linked) and "notes" in wanted.channels:
            lists["linked"] = _find_linked_notes(ask, result)
    with clock.measure_stage("rank"):
        left = rank.list_unchosen(result, MOST_DROPPED)
        # For the log places are enough.
        told = [*result.chosen, *left] if wanted.explain else result.chosen
        own = rank.build_channel_ranks(result.order, told, by_place=left)
        found = fusion.merge_into_ranking(result.chosen, lists, _weigh_other_channels(ask), own)
        dropped = rank.explain_unchosen(result, left, own, in_full=wanted.explain)
    joined = {each.id for each in found}
    dropped = [each for each in dropped if each.id not in joined]
    counts = {**result.count_by_channel(), **_count_hits(lists)}
    barren = list(rank.KIND_OF_CHANNEL) if result.is_exhausted else []
    barren = [channel for channel in barren if channel in wanted.channels]
    far = result.list_irrelevant_ids() - _list_ids_of_hits(lists)
    return found, RetrievalResult([], counts, dropped, result.links, barren, far)


def _list_ids_of_hits(lists: Mapping[str, Sequence[ChannelHit]]) -> set[UUID]:
    return {hit.id for hits in lists.values() for hit in hits}


def _weigh_other_channels(ask: PreparedQuestion) -> Mapping[str, float]:
    weights = intents.compute_channel_weights(ask.routed_question)
    return {name: weight for name, weight in weights.items() if name not in rank.KIND_OF_CHANNEL}


def _count_hits(lists: Mapping[str, Sequence[ChannelHit]]) -> dict[str, int]:
    return {channel: len(hits) for channel, hits in lists.items()}


def _find_linked_notes(ask: PreparedQuestion, result: rank.Ranking) -> list[ChannelHit]:
    """Notes linked to those chosen, with a budget of their own (A10)."""
    known = [s.candidate for s in result.order if s.candidate.kind == "note"]
    direct = [s.candidate.id for s in result.chosen if s.candidate.kind == "note"]
    return similar.find_linked_hits(ask, known, direct[: ask.k])


def judge_retrieval(
    ask: PreparedQuestion,
    consultant: TolerantEngine,
    first: RetrievalResult,
    wanted: RetrievalScope,
    clock: StageTimer,
) -> judge.JudgedMemories:
    """What of it is shown. The judge is asked outside of any scope; opens its own for further
    rounds. What a model judges is cut to K_max."""
    mode, rounds = ask.policy.judge.mode, ask.policy.recall.rounds
    if mode == "llm" and consultant.answers_by_rules:
        # A text alone tells rules less than the search knew that found it.
        mode = "rules"
    bearing = first.list_relevant()
    if mode == "off" or (mode == "rules" and bearing):
        return judge.JudgedMemories(first.items, enough=bool(bearing))

    def find(deeper: PreparedQuestion, channel: Channel) -> list[MemoryItem]:
        further = retrieve_memories(deeper, replace(wanted, channels=[channel]), StageTimer())
        return further.items

    known = {*wanted.seen, *(item.id for item in first.items)}
    further = FurtherRounds(
        ask, find, wanted.channels, first.exhausted_channels, known, rounds, wanted.kinds
    )
    with clock.measure_stage("judge"):
        if mode == "rules":
            return judge.judge_by_floor(bearing, further.find_more, rounds)
        offered = bearing[: ask.policy.recall.k_max]
        return judge.judge_by_engine(ask, consultant, offered, further.find_more, rounds)


def load_items(found: Sequence[FoundMemory], known: SourceLinks) -> list[MemoryItem]:
    """Call inside the tenant's scope. In the order given. `known`: turns looked up already."""
    rest = [e.id for e in found if e.kind in ("fact", "note") and e.id not in known]
    return hydrate_memories(found, {**known, **load_source_links(rest)})


def load_items_of_hits(hits: Sequence[ChannelHit], part: str = "") -> list[MemoryItem]:
    """What a channel holds out, read: `part` is what its score is called where it stands in a
    ranking. Call inside the tenant's scope."""
    found = [
        FoundMemory(
            hit.kind, hit.id, hit.score, {part: hit.score} if part else {}, hit.linked, hit.reason
        )
        for hit in hits
    ]
    return load_items(found, {})


def _add_relations(items: list[MemoryItem], *, every: bool) -> list[MemoryItem]:
    """With what the facts relate that the graph has found: Mem0g hands over both. Where all
    channels are ranked together (not `every`) a fact's own words say what it relates, unless an end
    is called by another name there. Call inside the tenant's scope."""
    by_graph = [item.id for item in items if any(each.channel == "graph" for each in item.found)]
    triples = graph.load_triples(by_graph) if by_graph else {}
    told = {
        item.id: tuple(" ".join(t) for t in triples[item.id] if every or not _names_both(item, t))
        for item in items
        if item.id in triples
    }
    return [replace(i, relations=told[i.id]) if i.id in told else i for i in items]


def _names_both(fact: MemoryItem, triple: tuple[str, str, str]) -> bool:
    said = normalise_text(fact.text)
    return all(normalise_text(end) in said for end in (triple[0], triple[2]))


def _add_successors(
    ask: PreparedQuestion, wanted: RetrievalScope, items: list[MemoryItem]
) -> tuple[list[MemoryItem], Mapping[UUID, Succession]]:
    """With what holds in place of what a message told, and of which message that is. Call inside
    the tenant's scope."""
    seen = ask.visibility
    facts_wanted = wanted.kinds is None or "fact" in wanted.kinds
    if seen.include_past or seen.everything or seen.only is not None or not facts_wanted:
        return items, {}
    turns = [i for i in items[: wanted.most] if i.kind == "turn" and i.relevant]
    followed = find_successions([item.id for item in turns], seen.at)
    known = {item.id for item in items}
    new = [
        FoundMemory("fact", fact, turn.score, turn.parts)
        for turn in turns
        for fact in _list_followers(followed, turn.id)
        if fact not in known
    ]
    return [*items, *(load_items(new, {}) if new else ())], followed


def _place_successors(
    items: Sequence[MemoryItem], followed: Mapping[UUID, Succession]
) -> list[MemoryItem]:
    """What took the place of what a message told before that message, or after it where the message
    tells what still holds as well."""
    known = {item.id: item for item in items}
    placed: dict[UUID, MemoryItem] = {}
    for item in items:
        facts = [known[fact] for fact in _list_followers(followed, item.id) if fact in known]
        raised = [_raise_to_score(f, item) for f in facts]
        entirely = item.id in followed and followed[item.id].entirely
        for each in (*raised, item) if entirely else (item, *raised):
            placed.setdefault(each.id, each)
    return list(placed.values())


def _list_followers(followed: Mapping[UUID, Succession], turn: UUID) -> Sequence[UUID]:
    return followed[turn].facts if turn in followed else ()


def remove_duplicates(
    items: Sequence[MemoryItem], margin: float = MODEL_MARGIN, value: ValueKind = ""
) -> tuple[list[MemoryItem], list[DroppedMemory]]:
    """Without turns that a fact or a page here shows as its own, nor notes on pages that are here.

    Facts and pages stay, and take the better place: what is held true, and what was said around
    it (spec §12.2 step 5). A fact that bears on the question less by more than `margin` does not:
    the turn says more; nor one without an amount where that is the `value` that is asked for, and
    the turn has one. (what stays, what gave way)
    """
    telling = [i for i in items if i.kind != "fact" or tells_amount(i.text, value)]
    shown = _map_turns_to_items(telling, ("page", "fact"))
    partly = _map_turns_to_items(items, ("fact",))
    paged = _map_turns_to_items(items, ("page",))
    kept: dict[UUID, MemoryItem] = {}
    told = []
    for item in items:
        also = {} if tells_amount(item.text, value) else partly
        teller = _find_original(item, {**also, **shown}, paged)
        if teller is None or (teller.kind == "fact" and teller.score < item.score - margin):
            kept.setdefault(item.id, item)
            continue
        told.append(DroppedMemory.from_item(item, "duplicate", teller.id))
        if teller.id not in kept:
            kept[teller.id] = _raise_to_score(teller, item)
    return list(kept.values()), told


def _map_turns_to_items(
    items: Sequence[MemoryItem], kinds: Collection[str]
) -> dict[UUID, MemoryItem]:
    """By turn, the best memory here that shows it."""
    found: dict[UUID, MemoryItem] = {}
    for item in items:
        if item.kind in kinds:
            for source in item.sources:
                found.setdefault(source.turn_id, item)
    return found


def _find_original(
    item: MemoryItem, shown: Mapping[UUID, MemoryItem], paged: Mapping[UUID, MemoryItem]
) -> MemoryItem | None:
    if item.kind == "turn":
        return shown.get(item.id)
    own = [source.turn_id for source in item.sources]
    if item.kind == "note" and own and all(turn in paged for turn in own):
        return paged[own[0]]
    return None


def _raise_to_score(item: MemoryItem, instead: MemoryItem) -> MemoryItem:
    """At the place of what it stands for, and bearing on the question as that does: the difference
    is shown as a part of its score."""
    raised = replace(item, relevant=item.relevant or instead.relevant)
    if item.score >= instead.score:
        return raised
    gained = item.parts.get("source", 0.0) + instead.score - item.score
    return replace(raised, score=instead.score, parts={**item.parts, "source": gained})
