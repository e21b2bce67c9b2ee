"""The embedding map of a space with what its points are."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import F

from memoryhub.console.graphing import KINDS, Node, shorten, warmth
from memoryhub.console.queries.graph import nodes_of
from memoryhub.pipeline import mapping, queue
from memoryhub.pipeline.models import Job, SpaceMap
from memoryhub.policies.schema import Heat
from memoryhub.tenants.models import Space
from notes.models import Derivation, Note, Segment, SegmentPage

MOST_GROUPS = 10  # with a colour of their own, the largest


@dataclass(frozen=True, slots=True)
class Standing:
    """How a map stands: being drawn (`job`), drawn, and whether memories have changed since."""

    row: SpaceMap | None
    job: Job | None
    stale: bool

    @property
    def going(self) -> bool:
        return self.job is not None and self.job.state in queue.UNFINISHED

    @property
    def failed(self) -> bool:
        return self.job is not None and self.job.state == Job.State.DEAD


def standing(space: Space) -> Standing:
    """Four statements at most."""
    row: SpaceMap | None = SpaceMap.objects.filter(space=space).first()
    if row is None:
        return Standing(None, None, stale=False)
    stale = row.drawn_at is not None and row.mark != mapping.mark_of(space)
    return Standing(row, mapping.job_of(row), stale)


@dataclass(frozen=True, slots=True)
class Point:
    """A memory on the map. `segment` and `tags` are names; empty for none."""

    node: Node
    x: float
    y: float
    segment: str
    tags: tuple[str, ...]


def points_of(space: Space, row: SpaceMap, weights: Heat, now: datetime) -> list[Point]:
    """Those whose memories are still held. Four statements."""
    places = {owner: (x, y) for _, owner, x, y in row.points}
    kinds = tuple({kind for kind, *_ in row.points})
    nodes = nodes_of(space, kinds, places, weights, now) if places else []
    topics = _topics(space, nodes)
    tags = _tags(nodes)
    return [
        Point(node, *places[node.id], topics.get(node.id, ""), tags.get(node.id, ()))
        for node in nodes
    ]


def _of_kind(nodes: Iterable[Node], kind: str) -> list[str]:
    return [node.id for node in nodes if node.kind == kind]


def _tags(nodes: Sequence[Node]) -> dict[str, tuple[str, ...]]:
    rows = Note.objects.filter(id__in=_of_kind(nodes, "note")).exclude(tags=[])
    return {str(note): tuple(tags) for note, tags in rows.order_by().values_list("id", "tags")}


def _topics(space: Space, nodes: Sequence[Node]) -> dict[str, str]:
    """What segment each belongs to: a note by its page, a fact by the page of its words."""
    found = {node.id: shorten(node.text, 60) for node in nodes if node.kind == "segment"}
    named = _segments(space)
    notes = Note.objects.filter(id__in=_of_kind(nodes, "note")).exclude(page=None)
    for note, segment in notes.order_by().values_list("id", "page__memberships__segment"):
        if segment in named:
            found.setdefault(str(note), named[segment])
    by_turn = _by_turn(space)
    facts = Derivation.objects.filter(
        space=space, child_type="fact", role=Derivation.Role.SUPPORT
    ).order_by("turn__seq")
    for fact, seq in facts.values_list("child_id", "turn__seq"):
        if by_turn.get(seq) in named:
            found.setdefault(str(fact), named[by_turn[seq]])
    return found


def _segments(space: Space) -> dict[UUID, str]:
    rows = Segment.objects.filter(space=space, retired_at=None).order_by()
    return {row.id: shorten(str(row), 60) for row in rows.only("id", "summary", "keywords")}


def _by_turn(space: Space) -> dict[int, UUID]:
    """Of each turn's number the segment of its page."""
    rows = SegmentPage.objects.filter(space=space).order_by("-score")
    found: dict[int, UUID] = {}
    spans = rows.annotate(first=F("page__first_seq"), last=F("page__last_seq"))
    for segment, first, last in spans.values_list("segment", "first", "last"):
        # Turns of other sessions between are few: pages are short.
        for seq in range(first, min(last, first + 50) + 1):
            found.setdefault(seq, segment)
    return found


def largest(names: Iterable[str]) -> list[str]:
    """The names that most points have, the first the commonest."""
    counts = Counter(name for name in names if name)
    return [name for name, _ in counts.most_common(MOST_GROUPS)]


def compact(points: Sequence[Point], left_out: str) -> dict[str, Any]:
    """As `graphing.compact`, with places and the groups that colours stand for."""
    topics = largest(point.segment for point in points)
    tags = largest(tag for point in points for tag in point.tags)
    heats = warmth([point.node for point in points])
    kinds = list(KINDS)
    return {
        "kinds": kinds,
        "links": [],
        "placed": True,
        "groups": {"segment": topics, "tag": tags},
        "nodes": [
            [
                point.node.id,
                kinds.index(point.node.kind),
                shorten(point.node.text),
                heat,
                int(point.node.past),
                point.x,
                -point.y,
                _place(topics, (point.segment,)),
                _place(tags, point.tags),
            ]
            for point, heat in zip(points, heats, strict=True)
        ],
        "edges": [],
        "total": len(points),
        "left_out": left_out,
    }


def _place(names: Sequence[str], own: Iterable[str]) -> int:
    return next((names.index(name) for name in own if name in names), -1)
