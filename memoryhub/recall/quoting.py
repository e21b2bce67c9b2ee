"""Memories as an engine that answers reads them: what holds, when it was said, what it is about."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, tzinfo
from typing import cast
from uuid import UUID

from memoryhub.engines.local.timing import times_in
from memoryhub.engines.types import Granularity, Quote, TimeSpan
from memoryhub.recall.results import Item
from notes.models import Derivation, Fact
from notes.queries import holds, is_over


@dataclass(frozen=True, slots=True)
class Known:
    """What items do not say of themselves: facts' rows, and since when turns are out of date."""

    facts: Mapping[UUID, Fact]
    over: Mapping[UUID, datetime]


def known(items: Sequence[Item], at: datetime, predicates: Collection[str]) -> Known:
    """Of a question that asks for `predicates`, about `at`. Call inside the tenant's scope."""
    ids = [item.id for item in items if item.kind == "fact"]
    facts = Fact.objects.in_bulk(ids) if ids else {}
    return Known(facts, _over([item.id for item in items if item.kind == "turn"], at, predicates))


def _over(turns: Iterable[UUID], at: datetime, predicates: Collection[str]) -> dict[UUID, datetime]:
    """Turns that told what holds no longer, with the time it ended: for what was never true,
    the time it was said. Of a turn that told several things, what is asked for decides."""
    read = Derivation.objects.filter(child_type="fact", role=Derivation.Role.SUPPORT)
    pairs = list(read.filter(turn_id__in=list(turns)).values_list("turn_id", "child_id"))
    facts = Fact.objects.filter(id__in={f for _, f in pairs}, retired_at=None).in_bulk()
    told = defaultdict[UUID, list[Fact]](list)
    for turn, fact in pairs:
        if fact in facts:
            told[turn].append(facts[fact])
    ended = {turn: _ended(some, at, predicates) for turn, some in told.items()}
    return {turn: end for turn, end in ended.items() if end is not None}


def _ended(facts: Sequence[Fact], at: datetime, predicates: Collection[str]) -> datetime | None:
    asked = [fact for fact in facts if fact.predicate_key in predicates] or facts
    if any(holds(fact, at) or not is_over(fact, at) for fact in asked):
        return None
    return max(fact.valid_to or fact.valid_from for fact in asked)


def quote_of(item: Item, known: Known, zone: tzinfo) -> Quote:
    """Times are those of the space's zone. A turn's event is the first time it speaks of."""
    said_at = item.occurred_at.astimezone(zone)
    if item.kind != "fact":
        events = times_in(item.text, said_at) if item.kind in ("turn", "note") else ()
        return Quote(
            text=item.text,
            said_at=said_at,
            event=events[0] if events else None,
            speaker=item.speaker,
            until=known.over.get(item.id),
            bearing=_bearing(item),
        )
    fact = known.facts.get(item.id)
    return Quote(
        text=item.text,
        said_at=said_at,
        event=_event(item, fact, zone),
        owner=item.owner,
        predicate=fact.predicate_key if fact else "",
        object=(fact.o or fact.c) if fact else "",
        until=item.valid_to,
        bearing=_bearing(item),
    )


def _event(item: Item, fact: Fact | None, zone: tzinfo) -> TimeSpan | None:
    if item.event_from is None or item.event_to is None:
        return None
    known = cast("Granularity", fact.event_granularity if fact else "") or "day"
    start, end = item.event_from.astimezone(zone), item.event_to.astimezone(zone)
    return TimeSpan(start, end, known, item.event_text, max(0, item.text.find(item.event_text)))


def _bearing(item: Item) -> float | None:
    """The score without what the question's naming somebody adds for their own words; None where
    the policy did not have turns, facts and notes ranked together."""
    if "dense" not in item.parts and "lexical" not in item.parts:
        return None
    return item.score - item.parts.get("speaker", 0.0)
