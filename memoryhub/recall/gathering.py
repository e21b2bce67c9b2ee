"""All channels of a question as one list: selected, each thing once, judged (spec §12.2 3-7)."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from uuid import UUID

from memoryhub.policies.schema import Channel
from memoryhub.recall import channels, intents, judging
from memoryhub.recall.asking import Ask
from memoryhub.recall.channels.hits import Hit, fused
from memoryhub.recall.consulting import Consultant
from memoryhub.recall.hydration import Found, hydrate, links_of
from memoryhub.recall.results import Item
from memoryhub.recall.rounds import Further
from memoryhub.tenants.scope import tenant_scope

# These are no findings to choose from: they are handed over as they are.
ALWAYS: frozenset[Channel] = frozenset({"stm", "window", "core", "shelf"})


def gather(ask: Ask, consultant: Consultant, seen: Collection[UUID] = ()) -> judging.Judged:
    """What bears on the question, best first. Opens its own scopes; the judge is asked outside.

    `seen` is in the context already. What a model judges is cut to K_max.
    """
    chosen = selected(ask)
    with tenant_scope(ask.space.tenant_id):
        first = [item for item in _read(ask, chosen) if not _there(item, seen)]
    mode, rounds = ask.policy.judge.mode, ask.policy.recall.rounds
    if mode == "off":
        return judging.Judged(first, enough=bool(first))
    known = {*seen, *(item.id for item in first)}
    further = Further(ask, _one, tried=chosen, seen=known, last=rounds)
    if mode == "rules":
        return judging.by_floor(first, further.more, rounds)
    offered = first[: ask.policy.recall.k_max]
    return judging.by_engine(ask, consultant, offered, further.more, rounds)


def _there(item: Item, seen: Collection[UUID]) -> bool:
    """It is in the context by itself, or word by word."""
    own = {source.turn_id for source in item.sources}
    told = item.kind in ("page", "note") and bool(own) and own.issubset(seen)
    return item.id in seen or told


def selected(ask: Ask) -> list[Channel]:
    """AMA's one store, or the channels of the policy that hold out findings."""
    recall = ask.policy.recall
    if recall.select == "routed":
        return [intents.store(ask.asked)]
    return [channel for channel in recall.channels if channel not in ALWAYS]


def _one(ask: Ask, channel: Channel) -> list[Item]:
    return _read(ask, [channel])


def _read(ask: Ask, chosen: Sequence[Channel]) -> list[Item]:
    found = channels.find(ask, chosen)
    hits = [hit for some in found.values() for hit in some]
    if len(found) > 1:
        fair = ask.policy.recall.select == "fused"
        hits = fused(found, intents.weights(ask.asked) if fair else {})
    return each_once(read(hits))


def read(hits: Sequence[Hit]) -> list[Item]:
    """Call inside the tenant's scope. In the order given."""
    links = links_of(hit.id for hit in hits if hit.kind in ("fact", "note"))
    return hydrate([_found(hit) for hit in hits], links)


def _found(hit: Hit) -> Found:
    return Found(hit.kind, hit.id, hit.score, {}, hit.linked, hit.reason)


def each_once(items: Sequence[Item]) -> list[Item]:
    """Without turns that a fact or a page here shows as its own, nor notes on pages that are here.

    Facts and pages stay: what is held true, and what was said around it (spec §12.2 step 5).
    """
    shown = {
        source.turn_id for item in items if item.kind in ("fact", "page") for source in item.sources
    }
    paged = {source.turn_id for item in items if item.kind == "page" for source in item.sources}
    return [item for item in items if not _told(item, shown, paged)]


def _told(item: Item, shown: Collection[UUID], paged: Collection[UUID]) -> bool:
    if item.kind == "turn":
        return item.id in shown
    own = {source.turn_id for source in item.sources}
    return item.kind == "note" and bool(own) and own.issubset(paged)
