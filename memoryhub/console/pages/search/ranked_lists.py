"""What several settings answer one question with, as ranked lists beside one another: the same
memory bears the same mark in all of them, and lines show where it goes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from uuid import UUID

from memoryhub.console.pages.search.explanation import ShownResult
from memoryhub.console.pages.search.trial import AnswerColumn

# As high as a row of the style sheet, and as wide as the space between two lists, in pixels.
ROW_HEIGHT, GAP_WIDTH = 64, 40
# Marks with a colour of their own.
_TONES = 10


@dataclass(frozen=True, slots=True)
class MemoryMark:
    """What a memory is known by in every list: letters, and a tone; 0 where those are used up."""

    letters: str
    tone: int


@dataclass(frozen=True, slots=True)
class RankedRow:
    """`before`: its place in the first list, None where it isn't there. `climbed`: by how many
    places it stands above that one."""

    result: ShownResult
    place: int
    mark: MemoryMark
    before: int | None

    @property
    def climbed(self) -> int:
        return (self.before or self.place) - self.place


@dataclass(frozen=True, slots=True)
class RankLine:
    """From the end of a row to the same memory in the next list, as a path of SVG."""

    path: str
    tone: int


@dataclass(frozen=True, slots=True)
class RankedList:
    """`lines` lead to the next list; none from the last. `absent`: how many of the first list are
    not in this one."""

    column: AnswerColumn
    rows: Sequence[RankedRow]
    lines: Sequence[RankLine]
    absent: int


def rank_side_by_side(columns: Sequence[AnswerColumn]) -> list[RankedList]:
    """The first column is what the others are told against."""
    marks = _mark_memories(row.memory_id for column in columns for row in column.results)
    places = [_list_places(column) for column in columns]
    first = places[0]
    lists = [
        [
            RankedRow(row, place, marks[row.memory_id], first.get(row.memory_id))
            for place, row in enumerate(_list_distinct(column), 1)
        ]
        for column in columns
    ]
    lines = [_draw_lines(here, there, marks) for here, there in pairwise(places)]
    return [
        RankedList(column, rows, leading, len(first.keys() - own.keys()))
        for column, rows, own, leading in zip(columns, lists, places, [*lines, []], strict=True)
    ]


def compute_height(lists: Sequence[RankedList]) -> int:
    """Of the longest list, in pixels."""
    return ROW_HEIGHT * max((len(each.rows) for each in lists), default=0)


def _list_distinct(column: AnswerColumn) -> list[ShownResult]:
    """A context may hold a memory in two of its sections: its first place counts."""
    return list({row.memory_id: row for row in reversed(column.results)}.values())[::-1]


def _list_places(column: AnswerColumn) -> dict[UUID, int]:
    return {row.memory_id: place for place, row in enumerate(_list_distinct(column), 1)}


def _mark_memories(found: Iterable[UUID]) -> dict[UUID, MemoryMark]:
    return {
        memory_id: MemoryMark(_spell_letters(at), at + 1 if at < _TONES else 0)
        for at, memory_id in enumerate(dict.fromkeys(found))
    }


def _spell_letters(at: int) -> str:
    """A to Z, then AA, AB …"""
    more, last = divmod(at, 26)
    return (_spell_letters(more - 1) if more else "") + chr(ord("A") + last)


def _draw_lines(
    here: dict[UUID, int], there: dict[UUID, int], marks: dict[UUID, MemoryMark]
) -> list[RankLine]:
    return [
        RankLine(_draw_line(place, there[memory_id]), marks[memory_id].tone)
        for memory_id, place in here.items()
        if memory_id in there
    ]


def _draw_line(start: int, end: int) -> str:
    half = GAP_WIDTH // 2
    y1, y2 = (ROW_HEIGHT * place - ROW_HEIGHT // 2 for place in (start, end))
    return f"M0 {y1}C{half} {y1} {half} {y2} {GAP_WIDTH} {y2}"
