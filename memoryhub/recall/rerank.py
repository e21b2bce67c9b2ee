"""The best of what was found, read once more beside the question and put in order by a model.

It has the last word on the order only: what bears on the question is told by the floor before,
and what is enough by the judge after.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import log

from django.conf import settings

from memoryhub.engines.local.answers.asked import AskedTense
from memoryhub.engines.local.answers.decide import NEWS
from memoryhub.engines.local.language import HAN
from memoryhub.engines.types import JudgeEntry
from memoryhub.recall.candidates.channels.hits import RRF_CONSTANT
from memoryhub.recall.question.engine import TolerantEngine
from memoryhub.recall.question.prepare import PreparedQuestion, StageTimer
from memoryhub.recall.render.results import ChannelRank, MemoryItem

# How much a place counts, as a logarithm of odds, where both orders have the same weight.
_PLACE_ODDS = 4.5
# The packaged reader begins with so many, since four to seven questions of ten need no more.
# What it says at the most, and what is assumed of a memory that it has not read.
_FIRST_READ, _MOST_ODDS, _UNREAD_ODDS = 3, 4.0, -3.0
# From when on it says of a memory that it bears on the question, where the floor finds none.
_BEARING_ODDS = -0.5
# By what is asked for, the odds of what was told last beside what was told first: two may well
# answer a question, of which one is over, and a text alone does not tell which.
_LATEST_ODDS: Mapping[AskedTense, float] = {"now": 2.5, "former": -2.0, "": 1.25}
# And of what says by its own words that something has changed.
_NEWS_ODDS: Mapping[AskedTense, float] = {"now": 1.5, "former": -1.5, "": 0.0}
_SEVERAL_WORDS = re.compile(rf"\w\W+\w|[{HAN}]{{3}}")
# Of a memory; a model reads no more of it.
_MOST_CHARACTERS = 2000


@dataclass(frozen=True, slots=True)
class _GivenOrder:
    """Whose it is, the scores of the items that were read, by where they were found (from 0), and
    whether these are logarithms of odds."""

    name: str
    scores: Mapping[int, float]
    odds: bool = False

    def rank_read(self) -> dict[int, int]:
        """Of each item that was read the place it is given, from 1."""
        order = sorted(self.scores, key=lambda at: -self.scores[at])
        return {at: place for place, at in enumerate(order, 1)}


def is_reranked(ask: PreparedQuestion) -> bool:
    """A whole dialogue stays in the order it was said in; and the packaged reader learned from what
    people tell an assistant, and knows nothing of what they tell each other."""
    mode = ask.policy.recall.rerank
    taught = mode != "packaged" or ask.is_assisted
    return mode != "off" and taught and not ask.policy.recall.whole


def is_read_by_packaged(ask: PreparedQuestion) -> bool:
    """Whether the reader tells what bears on the question where the floor finds nothing that does:
    of talk with an assistant it knows better, since "joined the shelter" and "where am I employed"
    have no word in common. A single word is no question that it could read."""
    mode = ask.policy.recall.rerank
    packaged = mode == "packaged" or (mode == "model" and settings.RERANKER == "packaged")
    is_question = _SEVERAL_WORDS.search(ask.parsed_question.query) is not None
    return packaged and is_question and ask.is_assisted and is_reranked(ask)


def rerank_items(
    ask: PreparedQuestion,
    consultant: TolerantEngine,
    items: Sequence[MemoryItem],
    clock: StageTimer,
    *,
    read_nearest: bool,
) -> list[MemoryItem]:
    """The first of what bears on the question in a new order, each with the score of the place it
    takes; then everything else as it was, also where nobody can be asked. `read_nearest`: where
    nothing bears on it by the floor, what does by the packaged reader. Models are asked: call
    outside of any scope."""
    if not is_reranked(ask):
        return list(items)
    recall = ask.policy.recall
    bearing = [item for item in items if item.relevant][: recall.rerank_most]
    none_bears = not bearing and read_nearest
    if none_bears:
        bearing = list(items[: recall.rerank_most])
    if len(bearing) < 2 and not none_bears:
        return list(items)
    with clock.measure_stage("rerank"):
        given = _ask_for_order(ask, consultant, bearing, every=none_bears) if bearing else None
    if given is None:
        return list(items)
    if none_bears:
        found = [at for at, odds in given.scores.items() if odds >= _BEARING_ODDS]
        bearing = [replace(bearing[at], relevant=True) for at in sorted(found)]
        given = replace(given, scores={n: given.scores[at] for n, at in enumerate(sorted(found))})
    places, weight = given.rank_read(), recall.rerank_weight
    if given.odds:
        worth = _weigh_odds(given.scores, _list_time_odds(ask, bearing), weight)
    else:
        worth = [_weigh_places(at + 1, places[at], weight) for at in range(len(bearing))]
    order = sorted(range(len(bearing)), key=lambda at: -worth[at])
    scores = sorted((item.score for item in bearing), reverse=True)
    taken = [
        _move_to_score(bearing[at], score, _list_ranks(given, at, places))
        for at, score in zip(order, scores, strict=True)
    ]
    known = {item.id for item in bearing}
    return [*taken, *(item for item in items if item.id not in known)]


def _ask_for_order(
    ask: PreparedQuestion,
    consultant: TolerantEngine,
    items: Sequence[MemoryItem],
    *,
    every: bool,
) -> _GivenOrder | None:
    question, mode = ask.routed_question.query, ask.policy.recall.rerank
    if mode != "llm":
        return _ask_for_scores(ask, consultant, question, items, every=every)
    handles = [f"m{n}" for n in range(1, len(items) + 1)]
    entries = [
        JudgeEntry(handle, _render_words(item), item.occurred_at)
        for handle, item in zip(handles, items, strict=True)
    ]
    named = consultant.order_entries(question, entries)
    if named is None:
        return None
    # A model puts in order and gives no scores: what is told is the share it stands before.
    places = {handles.index(handle): place for place, handle in enumerate(named)}
    return _GivenOrder("llm", {at: 1 - place / len(named) for at, place in places.items()})


def _ask_for_scores(
    ask: PreparedQuestion,
    consultant: TolerantEngine,
    question: str,
    items: Sequence[MemoryItem],
    *,
    every: bool,
) -> _GivenOrder | None:
    """Of all items; of the packaged reader, unless of `every` one, of the first few if no other can
    overtake them."""
    mode = ask.policy.recall.rerank
    packaged = mode == "packaged" or settings.RERANKER == "packaged"
    texts = [item.text if packaged else _render_text(item) for item in items]
    few = _FIRST_READ if packaged and not every else len(items)
    given = consultant.score_texts(question, texts[:few], packaged=packaged)
    if given is None:
        return None
    reranker, scores = given
    weight = ask.policy.recall.rerank_weight
    if few < len(items) and _can_be_overtaken(scores, _list_time_odds(ask, items), weight):
        rest = consultant.score_texts(question, texts[few:], packaged=packaged)
        if rest is None:
            return None
        scores = [*scores, *rest[1]]
    return _GivenOrder(reranker.name, dict(enumerate(scores)), reranker.tells_odds)


def _render_text(item: MemoryItem) -> str:
    """With its day, which a question may ask for."""
    return f"{item.occurred_at.date().isoformat()} {_render_words(item)}"


def _render_words(item: MemoryItem) -> str:
    said_by = f"{item.speaker}: " if item.kind == "turn" and item.speaker else ""
    return f"{said_by}{item.text}"[:_MOST_CHARACTERS]


def _list_time_odds(ask: PreparedQuestion, items: Sequence[MemoryItem]) -> list[float]:
    """What speaks for each by when it was told, beside the others, and by words such as "now". A
    time that is named is not found by that."""
    question = ask.parsed_question
    times = sorted({item.occurred_at for item in items})
    if len(times) < 2 or question.spans:
        return [0.0] * len(items)
    latest, news = _LATEST_ODDS[question.tense] / (len(times) - 1), _NEWS_ODDS[question.tense]
    return [
        latest * times.index(item.occurred_at) + news * bool(NEWS.search(item.text))
        for item in items
    ]


def _can_be_overtaken(scores: Sequence[float], time_odds: Sequence[float], weight: float) -> bool:
    """Whether one of those that were not read could be worth more than the best that was."""
    most = [*scores, *[_MOST_ODDS] * (len(time_odds) - len(scores))]
    worth = _weigh_odds(dict(enumerate(most)), time_odds, weight)
    return max(worth[: len(scores)]) < max(worth[len(scores) :])


def _weigh_odds(
    scores: Mapping[int, float], time_odds: Sequence[float], weight: float
) -> list[float]:
    """What each memory is worth by its odds, where it was read, and by its place, whose odds fall
    with its square."""
    return [
        weight * (scores.get(at, _UNREAD_ODDS) + odds) - (1 - weight) * _PLACE_ODDS * log(at + 1)
        for at, odds in enumerate(time_odds)
    ]


def _weigh_places(found: int, given: int, weight: float) -> float:
    """Scores of two rankers can't be compared; their places can, as between channels."""
    return (1 - weight) / (RRF_CONSTANT + found) + weight / (RRF_CONSTANT + given)


def _list_ranks(given: _GivenOrder, at: int, places: Mapping[int, int]) -> list[ChannelRank]:
    if at not in places:
        return []
    return [ChannelRank("rerank", places[at], round(given.scores[at], 4), given.name)]


def _move_to_score(item: MemoryItem, score: float, ranks: Sequence[ChannelRank]) -> MemoryItem:
    """At the score of its new place: the difference is shown as a part of it."""
    moved = {"rerank": score - item.score} if score != item.score else {}
    return replace(item, score=score, parts={**item.parts, **moved}, found=(*item.found, *ranks))
