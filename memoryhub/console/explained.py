"""Why a memory was shown or was not, as a page tells it: of the recall log, or of a search
just made. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.utils.translation import gettext
from django.utils.translation import gettext_noop as _

from memoryhub.recall.models import RecallLogItem
from memoryhub.recall.results import Dropped, Finding, Item

# Pages of memories, by kind: a topic's page stands among what was said.
_PAGES = {
    "fact": "space-fact",
    "turn": "space-turn",
    "note": "space-note",
    "episode": "space-episode",
}
WHY = {
    "below_floor": _("too far from the question"),
    "out_of_date": _("does not hold"),
    "faded": _("faded"),
    "duplicate": _("shown by another"),
    "over_limit": _("over the limit"),
    "no_room": _("no room left"),
    "irrelevant": _("irrelevant, says the judge"),
}
_ARMS = {"dense": _("meaning"), "lexical": _("words")}
# What more a search says of why: see `recall.explaining`.
DETAILS = (_("retracted"), _("worded anew"), _("dormant"), _("superseded"), _("over"), _("not yet"))
# In the order they come in; a log keeps none.
_STAGES = ("route", "embed", "always", "candidates", "rank", "hydrate", "judge", "pack", "answer")
_TONES = {
    "dense": 1,
    "facts": 1,
    "lexical": 2,
    "raw": 2,
    "speaker": 3,
    "notes": 3,
    "rare": 2,
    "date": 4,
    "graph": 4,
    "predicate": 5,
    "pages": 5,
    "source": 6,
    "episodes": 6,
}


@dataclass(frozen=True, slots=True)
class Part:
    """A piece of a score's bar: `x` and `width` of 100, `tone` from 1 to 7 by its name."""

    name: str
    value: float
    x: float
    width: float
    tone: int


@dataclass(frozen=True, slots=True)
class Place:
    """Where a channel had it: its rank there, from 1, and in its arms (name, rank, score)."""

    channel: str
    rank: int
    score: float | None = None
    reason: str = ""
    arms: Sequence[tuple[str, int, float]] = ()


@dataclass(frozen=True, slots=True)
class Shown:
    """A result. `item` is None where the memory is gone; `page` the name of its address, for
    `page_id`."""

    place: int
    section: str
    kind: str
    memory_id: UUID
    score: float
    parts: Mapping[str, float]
    bar: Sequence[Part]
    found: Sequence[Place]
    item: Item | None
    page: str
    page_id: UUID


@dataclass(frozen=True, slots=True)
class Left:
    """Something that was not shown: why, and what stands in its place (`of`)."""

    kind: str
    memory_id: UUID
    why: str
    detail: str
    score: float | None
    of: UUID | None
    found: Sequence[Place]
    text: str
    page: str
    page_id: UUID


def why_words(why: str) -> str:
    """Why something is not shown."""
    return gettext(WHY[why]) if why in WHY else why


def _arm(name: str) -> str:
    return gettext(_ARMS[name]) if name in _ARMS else name


def of_sections(sections: Iterable[tuple[str, Sequence[Item]]]) -> list[Shown]:
    """What a search has just shown."""
    rows = [(name, item) for name, items in sections for item in items]
    most = _most(item.parts for _, item in rows)
    return [
        Shown(
            place=place,
            section=name,
            kind=item.kind,
            memory_id=item.id,
            score=item.score,
            parts=_by_size(item.parts),
            bar=bar(_by_size(item.parts), most),
            found=[_place(each) for each in item.found],
            item=item,
            **_page(item.kind, item.id, item),
        )
        for place, (name, item) in enumerate(rows, 1)
    ]


def of_dropped(dropped: Iterable[Dropped]) -> list[Left]:
    return [
        Left(
            kind=each.kind,
            memory_id=each.id,
            why=why_words(each.why),
            detail=each.detail,
            score=each.score,
            of=each.of,
            found=[_place(place) for place in each.found],
            text=each.text,
            page=_PAGES.get(each.kind, ""),
            page_id=each.id,
        )
        for each in dropped
    ]


def of_log(rows: Sequence[RecallLogItem], known: Mapping[UUID, Item]) -> list[Shown]:
    """What a search showed once, in the words its memories have now."""
    most = _most(row.parts for row in rows)
    return [
        Shown(
            place=row.place,
            section=row.section,
            kind=row.kind,
            memory_id=row.memory_id,
            score=row.score,
            parts=_by_size(row.parts),
            bar=bar(_by_size(row.parts), most),
            found=[_logged_place(each) for each in row.found],
            item=known.get(row.memory_id),
            **_page(row.kind, row.memory_id, known.get(row.memory_id)),
        )
        for row in rows
    ]


def of_logged_dropped(
    dropped: Iterable[Mapping[str, Any]], known: Mapping[UUID, Item]
) -> list[Left]:
    return [_left(each, known.get(UUID(each["id"]))) for each in dropped]


def _left(each: Mapping[str, Any], item: Item | None) -> Left:
    return Left(
        kind=each["kind"],
        memory_id=UUID(each["id"]),
        why=why_words(each["why"]),
        detail=each["detail"],
        score=each["score"],
        of=UUID(each["of"]) if each["of"] else None,
        found=[Place(channel, rank) for channel, rank in each["found"]],
        text=item.text if item else "",
        **_page(each["kind"], UUID(each["id"]), item),
    )


def _page(kind: str, at: UUID, item: Item | None) -> dict[str, Any]:
    """A topic's page is looked up where it was said."""
    if item is not None and kind == "page" and item.sources:
        return {"page": "space-turn", "page_id": item.sources[0].turn_id}
    return {"page": _PAGES.get(kind, "") if item else "", "page_id": at}


def _place(found: Finding) -> Place:
    arms = [(_arm(name), arm.rank, arm.score) for name, arm in found.arms.items()]
    return Place(found.channel, found.rank, found.score, found.reason, arms)


def _logged_place(found: Mapping[str, Any]) -> Place:
    arms = [(_arm(name), rank, score) for name, (rank, score) in found["arms"].items()]
    return Place(found["channel"], found["rank"], found["score"], "", arms)


def stages(took_ms: Mapping[str, float]) -> list[tuple[str, float]]:
    """Milliseconds by stage, the first stage first."""
    known = {name: at for at, name in enumerate(_STAGES)}
    return sorted(took_ms.items(), key=lambda pair: (known.get(pair[0], len(known)), pair[0]))


def _by_size(parts: Mapping[str, float]) -> dict[str, float]:
    return dict(sorted(parts.items(), key=lambda part: -part[1]))


def _most(parts: Iterable[Mapping[str, float]]) -> float:
    return max((sum(v for v in each.values() if v > 0) for each in parts), default=0.0)


def bar(parts: Mapping[str, float], most: float) -> list[Part]:
    """What raised the score, one behind the other; `most` fills the bar."""
    made, x = list[Part](), 0.0
    for name, value in parts.items():
        if value > 0 and most > 0:
            width = round(100 * value / most, 2)
            made.append(Part(name, value, round(x, 2), width, _TONES.get(name, 7)))
            x += width
    return made
