"""A memory with what it is linked with, as numbers for SVG attributes. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from memoryhub.console.frame.text.wording import shorten_text
from memoryhub.console.pages.graph.link_graph import GraphEdge, GraphNode

NEIGHBOURS_A_SIDE = 10
NEIGHBOUR_LENGTH = 38  # characters


@dataclass(frozen=True, slots=True)
class Neighbour:
    """A memory beside the one in the middle: where it is drawn, and the link that leads there."""

    kind: str
    words: str
    link: str
    label: str
    address: str
    x: float
    y: float
    is_left: bool
    is_past: bool

    @property
    def text_x(self) -> float:
        return self.x + (-10 if self.is_left else 10)


@dataclass(frozen=True, slots=True)
class LinkPicture:
    """Each neighbour with the path of its link. `left_out`: neighbours without room."""

    neighbours: list[tuple[Neighbour, str]]
    height: float
    left_out: int

    @property
    def middle(self) -> float:
        return self.height / 2

    @property
    def kinds(self) -> list[str]:
        return sorted({each.kind for each, _ in self.neighbours})


def build_link_picture(
    found: Iterable[tuple[GraphEdge, GraphNode]], find_address: Callable[[GraphNode], str]
) -> LinkPicture | None:
    """Half of what a memory is linked with to its left and half to its right, in the order given;
    each once, by its first link. None without any."""
    first: dict[str, Any] = {}
    for edge, other in found:
        first.setdefault(other.id, (edge, other))
    shown = list(first.values())[: 2 * NEIGHBOURS_A_SIDE]
    if not shown:
        return None
    rows_a_side = (len(shown) + 1) // 2
    height = 34.0 * max(rows_a_side, 2) + 20
    drawn = []
    for at, (edge, other) in enumerate(shown):
        is_left, place = at % 2 == 1, at // 2
        of_side = len(shown) // 2 if is_left else rows_a_side
        y = round(height / 2 + 34 * (place - (of_side - 1) / 2), 1)
        each = Neighbour(
            kind=other.kind,
            words=shorten_text(other.text, NEIGHBOUR_LENGTH),
            link=edge.kind,
            label=edge.label,
            address=find_address(other),
            x=245.0 if is_left else 355.0,
            y=y,
            is_left=is_left,
            is_past=other.past,
        )
        drawn.append((each, f"M300 {height / 2}Q300 {y} {each.x} {y}"))
    return LinkPicture(drawn, height, len(first) - len(shown))
