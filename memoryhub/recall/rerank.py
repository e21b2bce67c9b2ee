"""The best of what was found, read once more beside the question and put in order by a model.

It has the last word on the order only: what bears on the question is told by the floor before,
and what is enough by the judge after.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from memoryhub.engines.types import JudgeEntry
from memoryhub.recall.candidates.channels.hits import RRF_CONSTANT
from memoryhub.recall.question.engine import TolerantEngine
from memoryhub.recall.question.prepare import PreparedQuestion, StageTimer
from memoryhub.recall.render.results import ChannelRank, MemoryItem

# Of a memory; a model reads no more of it.
_MOST_CHARACTERS = 2000


@dataclass(frozen=True, slots=True)
class _GivenOrder:
    """Whose it is, the places of the items best first, and a score for each item."""

    name: str
    order: Sequence[int]
    scores: Sequence[float]


def is_reranked(ask: PreparedQuestion) -> bool:
    """A whole dialogue stays in the order it was said in."""
    return ask.policy.recall.rerank != "off" and not ask.policy.recall.whole


def rerank_items(
    ask: PreparedQuestion,
    consultant: TolerantEngine,
    items: Sequence[MemoryItem],
    clock: StageTimer,
) -> list[MemoryItem]:
    """The first of what bears on the question in a new order, each with the score of the place it
    takes; then everything else as it was, also where nobody can be asked. Models are asked: call
    outside of any scope."""
    if not is_reranked(ask):
        return list(items)
    recall = ask.policy.recall
    bearing = [item for item in items if item.relevant][: recall.rerank_most]
    if len(bearing) < 2:
        return list(items)
    with clock.measure_stage("rerank"):
        given = _ask_for_order(ask, consultant, bearing)
    if given is None:
        return list(items)
    places = {at: place for place, at in enumerate(given.order, 1)}
    scores = sorted((item.score for item in bearing), reverse=True)
    order = sorted(places, key=lambda at: -_weigh_places(at + 1, places[at], recall.rerank_weight))
    taken = [
        _move_to_score(bearing[at], score, _build_rank(given, at, places[at]))
        for at, score in zip(order, scores, strict=True)
    ]
    known = {item.id for item in bearing}
    return [*taken, *(item for item in items if item.id not in known)]


def _ask_for_order(
    ask: PreparedQuestion, consultant: TolerantEngine, items: Sequence[MemoryItem]
) -> _GivenOrder | None:
    question = ask.routed_question.query
    if ask.policy.recall.rerank == "model":
        given = consultant.score_texts(question, [_render_text(item) for item in items])
        if given is None:
            return None
        name, scores = given
        return _GivenOrder(name, sorted(range(len(items)), key=lambda at: -scores[at]), scores)
    handles = [f"m{n}" for n in range(1, len(items) + 1)]
    entries = [
        JudgeEntry(handle, _render_words(item), item.occurred_at)
        for handle, item in zip(handles, items, strict=True)
    ]
    named = consultant.order_entries(question, entries)
    if named is None:
        return None
    order = [handles.index(handle) for handle in named]
    # A model puts in order and gives no scores: what is told is the share it stands before.
    scores = [1 - order.index(at) / len(order) for at in range(len(order))]
    return _GivenOrder("llm", order, scores)


def _render_text(item: MemoryItem) -> str:
    """With its day, which a question may ask for."""
    return f"{item.occurred_at.date().isoformat()} {_render_words(item)}"


def _render_words(item: MemoryItem) -> str:
    said_by = f"{item.speaker}: " if item.kind == "turn" and item.speaker else ""
    return f"{said_by}{item.text}"[:_MOST_CHARACTERS]


def _weigh_places(found: int, given: int, weight: float) -> float:
    """Scores of two rankers can't be compared; their places can, as between channels."""
    return (1 - weight) / (RRF_CONSTANT + found) + weight / (RRF_CONSTANT + given)


def _build_rank(given: _GivenOrder, at: int, place: int) -> ChannelRank:
    return ChannelRank("rerank", place, round(given.scores[at], 4), given.name)


def _move_to_score(item: MemoryItem, score: float, rank: ChannelRank) -> MemoryItem:
    """At the score of its new place: the difference is shown as a part of it."""
    moved = {"rerank": score - item.score} if score != item.score else {}
    return replace(item, score=score, parts={**item.parts, **moved}, found=(*item.found, rank))
