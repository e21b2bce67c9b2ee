"""Memories as an engine that answers reads them: what holds, when it was said, what it is about."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, tzinfo
from typing import NamedTuple, cast
from uuid import UUID

from django.db.models import Q

from memoryhub.engines.local.dates.times import find_times
from memoryhub.engines.types import Granularity, Quote, TimeSpan
from memoryhub.recall.render.results import MemoryItem
from notes.facts.validity import is_fact_current, is_fact_over, is_plan_over
from notes.models import Derivation, Fact

# What a search's score rises with similarity and with the share of words, by linear regression
# over the results of one conversation's questions.
_NEAR, _WORDS = 6.6, 2.0


@dataclass(frozen=True, slots=True)
class QuoteDetails:
    """What items do not say of themselves, as things stand `at` a time: facts' rows, with what they
    took the place of, since when turns and notes are over, which characters of a turn, by its id,
    told what is, and which turns tell nothing but what is to begin later."""

    facts: Mapping[UUID, Fact]
    end_times: Mapping[UUID, datetime]
    outdated: Mapping[UUID, Sequence[tuple[int, int]]]
    waiting: Collection[UUID]
    at: datetime


def load_quote_details(
    items: Sequence[MemoryItem], at: datetime, predicates: Collection[str]
) -> QuoteDetails:
    """Of a question that asks for `predicates`, about `at`. Call inside the tenant's scope."""
    ids = [item.id for item in items if item.kind == "fact"]
    facts = Fact.objects.select_related("supersedes").in_bulk(ids) if ids else {}
    said = {item.id: _list_turns_of(item) for item in items if item.kind in ("turn", "note")}
    told = _load_told_claims({turn for turns in said.values() for turn in turns})
    outdated = {turn: _list_outdated_spans(claims, at) for turn, claims in told.items()}
    texts = {item.id: item.text for item in items}
    waiting = {turn for turn, claims in told.items() if _is_waiting(texts.get(turn), claims, at)}
    return QuoteDetails(facts, _find_end_times(said, told, at, predicates), outdated, waiting, at)


def _is_waiting(text: str | None, told: Sequence[_ToldClaim], at: datetime) -> bool:
    """Whether a turn says nothing but facts that begin later, as what an application has stored
    with such a time. A plan tells itself that it lies ahead."""
    return bool(told) and all(
        each.fact.valid_from > at and each.fact.polarity == "holds" and each.fact.text == text
        for each in told
    )


def _list_turns_of(item: MemoryItem) -> set[UUID]:
    return {item.id} if item.kind == "turn" else {source.turn_id for source in item.sources}


class _ToldClaim(NamedTuple):
    """A claim that a turn told, and the characters in which it did, if they are known."""

    fact: Fact
    span: tuple[int, int] | None


def _load_told_claims(turns: Collection[UUID]) -> dict[UUID, list[_ToldClaim]]:
    read = Derivation.objects.filter(child_type="fact", role=Derivation.Role.SUPPORT)
    rows = read.filter(turn_id__in=turns).values_list(
        "turn_id", "child_id", "span_start", "span_end"
    )
    links = list(rows)
    # What was put in other words is left to those; what was never so is over.
    kept = Q(retired_at=None) | Q(status=Fact.Status.RETRACTED)
    facts = Fact.objects.filter(kept, id__in={fact for _, fact, *_ in links}).in_bulk()
    told = defaultdict[UUID, list[_ToldClaim]](list)
    for turn, fact, start, end in links:
        if fact in facts:
            span = None if start is None or end is None else (start, end)
            told[turn].append(_ToldClaim(facts[fact], span))
    return told


def _list_outdated_spans(told: Sequence[_ToldClaim], at: datetime) -> list[tuple[int, int]]:
    """Where a turn told what is over, and nothing that is not."""
    over = [each.span for each in told if each.span and is_fact_over(each.fact, at)]
    rest = [each.span for each in told if each.span and not is_fact_over(each.fact, at)]
    return [(a, b) for a, b in over if not any(start < b and a < end for start, end in rest)]


def _find_end_times(
    said: Mapping[UUID, Collection[UUID]],
    told: Mapping[UUID, Sequence[_ToldClaim]],
    at: datetime,
    predicates: Collection[str],
) -> dict[UUID, datetime]:
    """Turns, and notes by theirs, that told what holds no longer, with the time it ended: for what
    was never true, the time it was said. Of several things told, what is asked for decides."""
    ended = {
        memory: _compute_end_time(
            [each.fact for turn in turns for each in told.get(turn, ())], at, predicates
        )
        for memory, turns in said.items()
    }
    return {memory: end for memory, end in ended.items() if end is not None}


def _compute_end_time(
    facts: Sequence[Fact], at: datetime, predicates: Collection[str]
) -> datetime | None:
    asked = [fact for fact in facts if fact.predicate_key in predicates] or facts
    if not asked or any(is_fact_current(fact, at) or not is_fact_over(fact, at) for fact in asked):
        return None
    return max(fact.valid_to or fact.valid_from for fact in asked)


def build_quote(
    item: MemoryItem, known: QuoteDetails, zone: tzinfo, bearing: float | None = None
) -> Quote:
    """Times are those of the space's zone. A turn's event is the first time it speaks of."""
    said_at = item.occurred_at.astimezone(zone)
    if item.kind != "fact":
        events = find_times(item.text, said_at) if item.kind in ("turn", "note") else ()
        return Quote(
            text=item.text,
            said_at=said_at,
            event=events[0] if events else None,
            speaker=item.speaker,
            note=item.summary or item.description,
            until=known.end_times.get(item.id),
            relevance=bearing,
            passed=bool(events) and all(each.end <= known.at for each in events),
            outdated=_place_outdated(item, known.outdated),
            bears=item.relevant,
        )
    fact = known.facts.get(item.id)
    is_due = fact is not None and is_plan_over(fact, known.at)
    return Quote(
        text=item.text,
        said_at=said_at,
        event=_build_event_span(item, fact, zone),
        owner=item.owner,
        note=item.description,
        predicate=fact.predicate_key if fact else "",
        tells_end=fact is not None and fact.polarity == "ended",
        due=is_due,
        planned=fact is not None and fact.polarity == "planned" and not is_due,
        passed=item.event_to is not None and item.event_to <= known.at,
        object=(fact.object or fact.complement) if fact else "",
        until=item.valid_to,
        relevance=bearing,
        replaced=fact.supersedes.text if fact and fact.supersedes else "",
        bears=item.relevant,
    )


def _place_outdated(
    item: MemoryItem, outdated: Mapping[UUID, Sequence[tuple[int, int]]]
) -> list[tuple[int, int]]:
    """Where a turn, or a note that has the words of its turns, tells what is over."""
    texts = {source.turn_id: source.text for source in item.sources} | {item.id: item.text}
    return [
        (at + start, at + end)
        for turn, text in texts.items()
        if text and (at := item.text.find(text)) >= 0
        for start, end in outdated.get(turn, ())
    ]


def _build_event_span(item: MemoryItem, fact: Fact | None, zone: tzinfo) -> TimeSpan | None:
    if item.event_from is None or item.event_to is None:
        return None
    known = cast("Granularity", fact.event_granularity if fact else "") or "day"
    start, end = item.event_from.astimezone(zone), item.event_to.astimezone(zone)
    return TimeSpan(start, end, known, item.event_text, max(0, item.text.find(item.event_text)))


def score_bearings(items: Sequence[MemoryItem]) -> list[float | None]:
    """How well each bears on the question, without what the question's naming somebody adds for
    their own words; in the units of a search's score. None for what was not ranked with the rest.

    Where turns, facts and notes were not ranked together, by the arms of the channel that found it.
    """
    together = any(_is_ranked(item) for item in items)
    return [_score_from_ranking(item) if together else _score_from_arms(item) for item in items]


def _is_ranked(item: MemoryItem) -> bool:
    return "dense" in item.parts or "lexical" in item.parts


def _score_from_ranking(item: MemoryItem) -> float | None:
    return item.score - item.parts.get("speaker", 0.0) if _is_ranked(item) else None


def _score_from_arms(item: MemoryItem) -> float | None:
    arms = next((found.arms for found in item.found if found.arms), None)
    if arms is None:
        return None
    near, words = arms.get("dense"), arms.get("lexical")
    return _NEAR * (near.score if near else 0.0) + _WORDS * (words.score if words else 0.0)
