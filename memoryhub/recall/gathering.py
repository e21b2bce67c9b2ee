"""All channels of a question as one list: selected, each thing once, judged (spec §12.2 3-7).

`search` and `context` both go this way; they differ in what they want of it.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from uuid import UUID

from memoryhub.policies.schema import Channel
from memoryhub.recall import channels as finding
from memoryhub.recall import intents, joining, judging, ranking
from memoryhub.recall.asking import Ask, Clock
from memoryhub.recall.channels import notes
from memoryhub.recall.channels.hits import Hit
from memoryhub.recall.consulting import Consultant
from memoryhub.recall.hydration import Found, Links, Span, hydrate, links_of
from memoryhub.recall.results import Dropped, Item, ItemKind
from memoryhub.recall.rounds import Further

# These are no findings to choose from: they are handed over as they are.
ALWAYS: frozenset[Channel] = frozenset({"stm", "window", "core", "shelf"})
# The channel to look in for a kind of memory, whatever the policy has on.
_HOME: Mapping[ItemKind, Channel] = {
    "fact": "facts",
    "turn": "raw",
    "note": "notes",
    "page": "pages",
    "episode": "episodes",
}
_GIVES: Mapping[Channel, ItemKind] = {
    **{channel: kind for kind, channel in _HOME.items()},
    "graph": "fact",
    "shelf": "fact",
    "stm": "turn",
}
# Candidates that are explained although they are not shown, and kept in the log.
MOST_DROPPED = 50


@dataclass(frozen=True, slots=True)
class Wanted:
    """Where to look, and for how much: the `most` best, or K of each kind.

    `kinds`: nothing else is shown, also not by further rounds; None: whatever is found.
    `seen`: there already, by id; a further round looks for something else. `explained`: of what
    is dropped the parts of its score and its place in both arms are told.
    """

    channels: Sequence[Channel]
    most: int
    of_each: int | None = None
    kinds: frozenset[ItemKind] | None = None
    seen: frozenset[UUID] = frozenset()
    linked: bool = False
    explained: bool = False

    def cut(self, items: Sequence[Item]) -> list[Item]:
        """The `most` best, and what comes beside them."""
        if not self.linked:
            return list(items[: self.most])
        direct = {item.id for item in [i for i in items if not i.linked][: self.most]}
        return [item for item in items if item.linked or item.id in direct]


@dataclass
class Look:
    """What one look brought: `items` best first, each once. `counts` by channel, `links` the
    turns of facts and notes that were looked up on the way. `barren`: channels that would bring
    nothing in a further round either."""

    items: list[Item] = field(default_factory=list)
    counts: dict[str, int] = field(default_factory=dict)
    dropped: list[Dropped] = field(default_factory=list)
    links: dict[UUID, Mapping[UUID, Span | None]] = field(default_factory=dict)
    barren: Sequence[Channel] = ()


def selected(ask: Ask) -> list[Channel]:
    """AMA's one store, or the channels of the policy that hold out findings."""
    recall = ask.policy.recall
    if recall.select == "routed":
        return [intents.store(ask.asked)]
    return [channel for channel in recall.channels if channel not in ALWAYS]


def channels_of(ask: Ask, kinds: Collection[ItemKind] | None) -> list[Channel]:
    """The selected channels, or where such kinds are found; everything if policy has none on,
    for an agent with tools of its own."""
    chosen = selected(ask)
    if kinds is not None:
        own = [channel for channel in chosen if _GIVES[channel] in kinds]
        given = {_GIVES[channel] for channel in own if _HOME[_GIVES[channel]] == channel}
        chosen = own + [_HOME[kind] for kind in kinds if kind not in given]
    return chosen or ["facts", "raw", "notes"]


def held_out(ask: Ask) -> list[Channel]:
    """The channels the question names, the shelf and the latest exchanges too."""
    if ask.policy.recall.select == "routed":
        return selected(ask)
    return [channel for channel in ask.policy.recall.channels if channel in _GIVES]


def precise(ask: Ask, chosen: Sequence[Channel]) -> list[Channel]:
    """Of these the ones that answer in few words, and those the question's intent favours."""
    favoured = {*ranking.KIND_OF, *intents.weights(ask.asked)}
    return [channel for channel in chosen if channel in favoured] or ["facts", "raw", "notes"]


def look(ask: Ask, wanted: Wanted, clock: Clock) -> Look:
    """One look into all channels wanted. Call inside the tenant's scope.

    A list shows each thing once; of a look for so many `of_each` whoever packs it sees to that.
    """
    ask = ask if wanted.of_each else replace(ask, limit=wanted.most)
    found, made = _found(ask, wanted, clock)
    with clock.stage("hydrate"):
        items = read(found, made.links)
    if not wanted.of_each:
        items, told = each_once(items)
        made.dropped += told
    made.items = [i for i in items if wanted.kinds is None or i.kind in wanted.kinds]
    return made


def _found(ask: Ask, wanted: Wanted, clock: Clock) -> tuple[list[Found], Look]:
    recall = ask.policy.recall
    if recall.select != "fused" or recall.whole:
        with clock.stage("candidates"):
            lists = finding.find(ask, wanted.channels)
        weights = intents.weights(ask.asked) if recall.select == "fused" else {}
        return joining.fused(lists, weights), Look(counts=_counts(lists))
    result = ranking.ranked(ask, wanted.channels, wanted.most, wanted.of_each, clock)
    with clock.stage("candidates"):
        beside = [channel for channel in wanted.channels if channel not in ranking.KIND_OF]
        lists = finding.find(ask, beside)
        if (wanted.of_each or wanted.linked) and "notes" in wanted.channels:
            lists["linked"] = _linked(ask, result)
    with clock.stage("rank"):
        left = ranking.left_over(result, MOST_DROPPED)
        # For the log places are enough.
        told = [*result.chosen, *left] if wanted.explained else result.chosen
        own = ranking.findings(result.order, told, by_place=left)
        found = joining.joined(result.chosen, lists, _weights(ask), own)
        dropped = ranking.dropped(result, left, own, in_full=wanted.explained)
    joined = {each.id for each in found}
    dropped = [each for each in dropped if each.id not in joined]
    counts = {**result.counts(), **_counts(lists)}
    barren = list(ranking.KIND_OF) if result.barren else []
    barren = [channel for channel in barren if channel in wanted.channels]
    return found, Look([], counts, dropped, result.links, barren)


def _weights(ask: Ask) -> Mapping[str, float]:
    return {k: v for k, v in intents.weights(ask.asked).items() if k not in ranking.KIND_OF}


def _counts(lists: Mapping[str, Sequence[Hit]]) -> dict[str, int]:
    return {channel: len(hits) for channel, hits in lists.items()}


def _linked(ask: Ask, result: ranking.Ranked) -> list[Hit]:
    """Notes linked to those chosen, with a budget of their own (A10)."""
    known = [s.candidate for s in result.order if s.candidate.kind == "note"]
    direct = [s.candidate.id for s in result.chosen if s.candidate.kind == "note"]
    return notes.linked(ask, known, direct[: ask.k])


def judged(
    ask: Ask, consultant: Consultant, first: Look, wanted: Wanted, clock: Clock
) -> judging.Judged:
    """What of it is shown. The judge is asked outside of any scope; opens its own for further
    rounds. What a model judges is cut to K_max."""
    mode, rounds = ask.policy.judge.mode, ask.policy.recall.rounds
    if mode == "off" or (mode == "rules" and first.items):
        return judging.Judged(first.items, enough=bool(first.items))

    def find(deeper: Ask, channel: Channel) -> list[Item]:
        further = look(deeper, replace(wanted, channels=[channel]), Clock())
        return further.items

    known = {*wanted.seen, *(item.id for item in first.items)}
    further = Further(
        ask,
        find,
        tried=wanted.channels,
        barren=first.barren,
        seen=known,
        last=rounds,
        kinds=wanted.kinds,
    )
    with clock.stage("judge"):
        if mode == "rules":
            return judging.by_floor(first.items, further.more, rounds)
        offered = first.items[: ask.policy.recall.k_max]
        return judging.by_engine(ask, consultant, offered, further.more, rounds)


def read(found: Sequence[Found], known: Links) -> list[Item]:
    """Call inside the tenant's scope. In the order given. `known`: turns looked up already."""
    rest = [e.id for e in found if e.kind in ("fact", "note") and e.id not in known]
    return hydrate(found, {**known, **links_of(rest)})


def as_items(hits: Sequence[Hit]) -> list[Item]:
    """What a channel holds out, read. Call inside the tenant's scope."""
    return read(
        [Found(hit.kind, hit.id, hit.score, {}, hit.linked, hit.reason) for hit in hits], {}
    )


def each_once(items: Sequence[Item]) -> tuple[list[Item], list[Dropped]]:
    """Without turns that a fact or a page here shows as its own, nor notes on pages that are here.

    Facts and pages stay, and take the better place: what is held true, and what was said around
    it (spec §12.2 step 5). (what stays, what gave way)
    """
    shown = _tellers(items, ("page", "fact"))
    paged = _tellers(items, ("page",))
    kept: dict[UUID, Item] = {}
    told = []
    for item in items:
        teller = _teller(item, shown, paged)
        if teller is None:
            kept.setdefault(item.id, item)
            continue
        told.append(duplicate(item, teller))
        if teller.id not in kept:
            kept[teller.id] = _lifted(teller, item)
    return list(kept.values()), told


def _tellers(items: Sequence[Item], kinds: Collection[str]) -> dict[UUID, Item]:
    """By turn, the best memory here that shows it."""
    found: dict[UUID, Item] = {}
    for item in items:
        if item.kind in kinds:
            for source in item.sources:
                found.setdefault(source.turn_id, item)
    return found


def _teller(item: Item, shown: Mapping[UUID, Item], paged: Mapping[UUID, Item]) -> Item | None:
    if item.kind == "turn":
        return shown.get(item.id)
    own = [source.turn_id for source in item.sources]
    if item.kind == "note" and own and all(turn in paged for turn in own):
        return paged[own[0]]
    return None


def _lifted(item: Item, instead: Item) -> Item:
    """At the place of what it stands for: the difference is shown as a part of its score."""
    parts = {**item.parts, "source": instead.score - item.score}
    return replace(item, score=instead.score, parts=parts)


def duplicate(item: Item, of: Item) -> Dropped:
    return Dropped(
        kind=item.kind,
        id=item.id,
        text=item.text[:120],
        why="duplicate",
        score=item.score,
        parts=item.parts,
        of=of.id,
        found=item.found,
    )
