"""Why a memory was shown or was not, as a page tells it: of the recall log, or of a search
just made. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.utils.translation import gettext
from django.utils.translation import gettext_noop as _

from memoryhub.console.frame.text.recall_words import get_score_tone
from memoryhub.recall.models import RecallLogItem
from memoryhub.recall.render.results import ChannelRank, DroppedMemory, MemoryItem

# Pages of memories, by kind: a topic's page stands among what was said.
_MEMORY_PAGES = {
    "fact": "space-fact",
    "turn": "space-turn",
    "note": "space-note",
    "episode": "space-episode",
}
DROP_REASONS = {
    "below_floor": _("not relevant enough"),
    "out_of_date": _("not true"),
    "faded": _("faded"),
    "duplicate": _("covered by another"),
    "over_limit": _("over the result limit"),
    "no_room": _("over the token budget"),
    "irrelevant": _("irrelevant, according to the judge"),
}
_ARM_NAMES = {"dense": _("meaning"), "lexical": _("words")}
# What more a search says of why: see `recall.render.explanation`.
DROP_DETAILS = (
    _("retracted"),
    _("reworded"),
    _("dormant"),
    _("superseded"),
    _("expired"),
    _("not yet"),
)
# In the order they come in; a log keeps none.
STAGE_ORDER = (
    "route", "embed", "always", "candidates", "rank", "hydrate", "rerank", "judge", "pack", "answer"
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class ScorePart:
    """A piece of a score's bar: `x` and `width` of 100, `tone` from 1 to 7 by its name."""

    name: str
    value: float
    x: float
    width: float
    tone: int


@dataclass(frozen=True, slots=True)
class ChannelPlace:
    """Where a channel had it: its rank there, from 1, and in its arms (name, rank, score)."""

    channel: str
    rank: int
    score: float | None = None
    reason: str = ""
    arms: Sequence[tuple[str, int, float]] = ()


@dataclass(frozen=True, slots=True)
class ShownResult:
    """A result. `item` is None where the memory is gone; `page` the name of its address, for
    `page_id`."""

    place: int
    section: str
    kind: str
    memory_id: UUID
    score: float
    parts: Mapping[str, float]
    bar: Sequence[ScorePart]
    found: Sequence[ChannelPlace]
    item: MemoryItem | None
    page: str
    page_id: UUID


@dataclass(frozen=True, slots=True)
class DroppedResult:
    """Something that was not shown: why, and what stands in its place (`of`)."""

    kind: str
    memory_id: UUID
    why: str
    detail: str
    score: float | None
    of: UUID | None
    found: Sequence[ChannelPlace]
    text: str
    page: str
    page_id: UUID


def describe_drop_reason(why: str) -> str:
    """Why something is not shown."""
    return gettext(DROP_REASONS[why]) if why in DROP_REASONS else why


def _format_arm(name: str) -> str:
    return gettext(_ARM_NAMES[name]) if name in _ARM_NAMES else name


def explain_sections(sections: Iterable[tuple[str, Sequence[MemoryItem]]]) -> list[ShownResult]:
    """What a search has just shown."""
    rows = [(name, item) for name, items in sections for item in items]
    most = _compute_highest_score(item.parts for _, item in rows)
    return [
        ShownResult(
            place=place,
            section=name,
            kind=item.kind,
            memory_id=item.id,
            score=item.score,
            parts=_sort_parts_by_size(item.parts),
            bar=build_score_bar(_sort_parts_by_size(item.parts), most),
            found=[_build_channel_place(each) for each in item.found],
            item=item,
            **_find_memory_page(item.kind, item.id, item),
        )
        for place, (name, item) in enumerate(rows, 1)
    ]


def explain_dropped(dropped: Iterable[DroppedMemory]) -> list[DroppedResult]:
    return [
        DroppedResult(
            kind=each.kind,
            memory_id=each.id,
            why=describe_drop_reason(each.why),
            detail=each.detail,
            score=each.score,
            of=each.of,
            found=[_build_channel_place(place) for place in each.found],
            text=each.text,
            page=_MEMORY_PAGES.get(each.kind, ""),
            page_id=each.id,
        )
        for each in dropped
    ]


def explain_log(
    rows: Sequence[RecallLogItem], known: Mapping[UUID, MemoryItem]
) -> list[ShownResult]:
    """What a search showed once, in the words its memories have now."""
    most = _compute_highest_score(row.parts for row in rows)
    return [
        ShownResult(
            place=row.place,
            section=row.section,
            kind=row.kind,
            memory_id=row.memory_id,
            score=row.score,
            parts=_sort_parts_by_size(row.parts),
            bar=build_score_bar(_sort_parts_by_size(row.parts), most),
            found=[_build_logged_place(each) for each in row.found],
            item=known.get(row.memory_id),
            **_find_memory_page(row.kind, row.memory_id, known.get(row.memory_id)),
        )
        for row in rows
    ]


def explain_logged_dropped(
    dropped: Iterable[Mapping[str, Any]], known: Mapping[UUID, MemoryItem]
) -> list[DroppedResult]:
    found = []
    for each in dropped:
        kind, memory_id = each["kind"], UUID(each["id"])
        item = known.get(memory_id)
        row = DroppedResult(
            kind=kind,
            memory_id=memory_id,
            why=describe_drop_reason(each["why"]),
            detail=each["detail"],
            score=each["score"],
            of=UUID(each["of"]) if each["of"] else None,
            found=[ChannelPlace(channel, rank) for channel, rank in each["found"]],
            text=item.text if item else "",
            **_find_memory_page(kind, memory_id, item),
        )
        found.append(row)
    return found


def _find_memory_page(kind: str, at: UUID, item: MemoryItem | None) -> dict[str, Any]:
    """A topic's page is looked up where it was said."""
    if item is not None and kind == "page" and item.sources:
        return {"page": "space-turn", "page_id": item.sources[0].turn_id}
    return {"page": _MEMORY_PAGES.get(kind, "") if item else "", "page_id": at}


def _build_channel_place(found: ChannelRank) -> ChannelPlace:
    arms = [(_format_arm(name), arm.rank, arm.score) for name, arm in found.arms.items()]
    return ChannelPlace(found.channel, found.rank, found.score, found.reason, arms)


def _build_logged_place(found: Mapping[str, Any]) -> ChannelPlace:
    arms = [(_format_arm(name), rank, score) for name, (rank, score) in found["arms"].items()]
    return ChannelPlace(found["channel"], found["rank"], found["score"], "", arms)


def sort_stages(took_ms: Mapping[str, float]) -> list[tuple[str, float]]:
    """Milliseconds by stage, the first stage first."""
    known = {name: at for at, name in enumerate(STAGE_ORDER)}
    return sorted(took_ms.items(), key=lambda pair: (known.get(pair[0], len(known)), pair[0]))


def _sort_parts_by_size(parts: Mapping[str, float]) -> dict[str, float]:
    return dict(sorted(parts.items(), key=lambda part: -part[1]))


def _compute_highest_score(parts: Iterable[Mapping[str, float]]) -> float:
    return max((sum(v for v in each.values() if v > 0) for each in parts), default=0.0)


def build_score_bar(parts: Mapping[str, float], most: float) -> list[ScorePart]:
    """What raised the score, one behind the other; `most` fills the bar."""
    made, x = list[ScorePart](), 0.0
    for name, value in parts.items():
        if value > 0 and most > 0:
            width = round(100 * value / most, 2)
            made.append(ScorePart(name, value, round(x, 2), width, get_score_tone(name)))
            x += width
    return made
