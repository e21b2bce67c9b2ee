"""The memories of a space as a graph, in as many statements whatever its size."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Sequence
from datetime import datetime
from functools import reduce
from typing import Any

from django.db.models import (
    BooleanField,
    Case,
    CharField,
    F,
    FloatField,
    Q,
    QuerySet,
    TextField,
    Value,
    When,
)
from django.db.models.functions import Cast, Coalesce, Left, NullIf
from django.utils.translation import gettext

from memoryhub.console.graphing import (
    KINDS,
    LINKS,
    MOST,
    MOST_LINKS,
    Edge,
    Graph,
    Node,
    Wish,
    joined,
    shares,
)
from memoryhub.policies.schema import Heat
from memoryhub.tenants.models import Space
from notes.heat import warmth, with_heat
from notes.models import Derivation, Entity, Episode, Fact, Link, Note, Relation, Segment
from notes.queries import is_past

LONGEST = 300  # characters of a memory
_COLUMNS = ("id_", "kind_", "text_", "heat_", "past_")
# Digests of whole days rest on everything: what rests on all says nothing.
_EPISODES = (Episode.Kind.TOPIC, Episode.Kind.SESSION)
Ids = Collection[str] | None


def graph_of(space: Space, wish: Wish, weights: Heat, now: datetime) -> Graph:
    """The warmest memories of the wish's kinds with the links between them; with `around`, those
    at most `depth` links from it. Seven statements at most, and five more a step of depth."""
    reach = _reach(space, wish, wish.around) if wish.around else None
    wanted = _wanted(space, wish.kinds, weights, now, reach, wish.around)
    found = list(map(Node._make, wanted.order_by("-heat_", "id_")[: MOST + 1]))
    nodes = found[:MOST]
    total = len(found) if len(found) <= MOST else wanted.count()
    held = {node.id for node in nodes}
    narrow = held if reach is not None or total > MOST else None
    edges = joined(_touching(space, tuple(LINKS), narrow), held) if held else []
    return Graph(nodes, edges[:MOST_LINKS], total, len(edges))


def _reach(space: Space, wish: Wish, start: str) -> set[str]:
    """The ids at most `depth` links away. What lies behind a kind that is not shown counts too."""
    found = edge_of_it = {start}
    for _ in range(wish.depth):
        edges = _touching(space, wish.links, edge_of_it)
        pairs = [{edge.source, edge.target} for edge in edges if edge.weight >= wish.weight]
        ends = {end for pair in pairs if pair & edge_of_it for end in pair}
        edge_of_it = ends - found
        found = found | edge_of_it
    return found


def _wanted(
    space: Space,
    kinds: Iterable[str],
    weights: Heat,
    now: datetime,
    ids: Ids = None,
    besides: str | None = None,
) -> QuerySet[Any, Any]:
    """Rows of `_COLUMNS`. `besides` is one of any kind."""
    chosen = []
    for kind in KINDS:
        rows = _ROWS[kind](space, weights, now)
        if kind not in kinds:
            rows = rows.filter(id=besides) if besides else rows.none()
        elif ids is not None:
            rows = rows.filter(id__in=ids)
        chosen.append(rows.order_by().values_list(*_COLUMNS))
    return chosen[0].union(*chosen[1:], all=True)


def node_of(space: Space, node_id: str, weights: Heat, now: datetime) -> Node | None:
    """One statement over all kinds."""
    rows = _wanted(space, (), weights, now, besides=node_id)[:1]
    return next(map(Node._make, rows), None)


def nodes_of(
    space: Space, kinds: Iterable[str], ids: Collection[str], weights: Heat, now: datetime
) -> list[Node]:
    """Those of the ids that are held, the warmest first. One statement."""
    rows = _wanted(space, kinds, weights, now, ids)
    return list(map(Node._make, rows.order_by("-heat_", "id_")))


def _columns(rows: Any, kind: str, text: Any, heat: Any, past: Any = None) -> QuerySet[Any]:
    shown: QuerySet[Any] = rows.annotate(
        id_=_text("id"),
        kind_=Value(kind, CharField()),
        text_=Left(text, LONGEST),
        heat_=heat,
        past_=past or Value(value=False, output_field=BooleanField()),
    )
    return shown


def _notes(space: Space, weights: Heat, now: datetime) -> QuerySet[Any]:
    rows = Note.objects.filter(space=space, retired_at=None)
    last = Coalesce("last_recall_at", "occurred_at")
    heat = warmth(F("recall_count"), Value(1), last, weights, now)
    return _columns(rows, "note", Coalesce(NullIf("context", Value("")), "content"), heat)


def _facts(space: Space, weights: Heat, now: datetime) -> QuerySet[Any]:
    """Those that held once stay, or nothing could be seen to have been replaced."""
    rows = Fact.objects.filter(~Q(status=Fact.Status.RETRACTED), space=space, retired_at=None)
    last = Coalesce("last_recall_at", "asserted_at")
    heat = warmth(F("recall_count"), F("mention_count"), last, weights, now)
    over = Case(When(is_past(now), then=True), default=False)
    return _columns(rows, "fact", F("text"), heat, over)


def _entities(space: Space, weights: Heat, now: datetime) -> QuerySet[Any]:
    rows = Entity.objects.filter(space=space, retired_at=None, merged_into=None)
    heat = weights.beta * Cast("mention_count", FloatField())
    return _columns(rows, "entity", F("name"), heat)


def _segments(space: Space, weights: Heat, now: datetime) -> QuerySet[Any]:
    rows = with_heat(Segment.objects.filter(space=space, retired_at=None), weights, now)
    words = Coalesce(NullIf("summary", Value("")), Value(gettext("A topic without a summary yet")))
    return _columns(rows, "segment", words, F("heat"))


def _episodes(space: Space, weights: Heat, now: datetime) -> QuerySet[Any]:
    rows = Episode.objects.filter(space=space, retired_at=None, kind__in=_EPISODES)
    last = Coalesce("last_recall_at", "to_at")
    heat = warmth(F("recall_count"), Value(1), last, weights, now)
    return _columns(rows, "episode", Coalesce(NullIf("title", Value("")), "text"), heat)


_ROWS: dict[str, Callable[[Space, Heat, datetime], QuerySet[Any]]] = {
    "note": _notes,
    "fact": _facts,
    "entity": _entities,
    "segment": _segments,
    "episode": _episodes,
}


def _touching(space: Space, kinds: Collection[str], ids: Ids) -> Iterable[Edge]:
    """Links with an end among `ids`, or all of the space; ends may be memories not held."""
    if "link" in kinds:
        yield from _links(space, ids)
    if "supersedes" in kinds:
        yield from _successions(space, ids)
    if {"relation", "mentions"} & set(kinds):
        yield from (edge for edge in _relations(space, ids) if edge.kind in kinds)
    if "support" in kinds:
        yield from _supports(space, ids)
    if "about" in kinds:
        yield from _topics(space, ids)


def _at(ids: Ids, *ends: str) -> Q:
    """Rows with one of the ids at one of their ends."""
    if ids is None:
        return Q()
    return reduce(Q.__or__, (Q(**{f"{end}__in": ids}) for end in ends))


def _read(rows: QuerySet[Any], ids: Sequence[str], rest: Sequence[str] = ()) -> Iterable[Any]:
    """The columns in any order of the rows; ids as text."""
    return rows.order_by().values_list(*map(_text, ids), *rest)


def _text(column: str) -> Cast:
    """An id as text: thousands of UUIDs take longer to be made than to be read."""
    return Cast(column, TextField())


def _links(space: Space, ids: Ids) -> Iterable[Edge]:
    rows = Link.objects.filter(_at(ids, "a", "b"), space=space, active=True, retired_at=None)
    for a, b, kind, weight in _read(rows, ("a", "b"), ("kind", "weight")):
        yield Edge(a, b, "link", weight, "" if kind == Link.Kind.RELATED else kind)


def _successions(space: Space, ids: Ids) -> Iterable[Edge]:
    rows = Fact.objects.filter(_at(ids, "id", "supersedes"), space=space, retired_at=None)
    pairs = _read(rows.exclude(supersedes=None), ("id", "supersedes"))
    return (Edge(newer, older, "supersedes") for newer, older in pairs)


def _relations(space: Space, ids: Ids) -> Iterable[Edge]:
    rows = Relation.objects.filter(_at(ids, "src", "dst", "fact"), space=space, retired_at=None)
    ends, told = ("src", "dst", "fact"), ("label", "fact__confidence")
    for src, dst, fact, label, confidence in _read(rows, ends, told):
        sure = min(1.0, max(0.0, confidence))
        yield Edge(src, dst, "relation", sure, label)
        yield Edge(fact, src, "mentions", sure)
        yield Edge(fact, dst, "mentions", sure)


def _supports(space: Space, ids: Ids) -> Iterable[Edge]:
    """A note and a fact of the same words, or a note made of a fact. Two statements."""
    anchored = Note.objects.filter(_at(ids, "id", "fact"), space=space, retired_at=None)
    made = _read(anchored.exclude(fact=None), ("id", "fact"))
    yield from (Edge(note, fact, "support") for note, fact in made)
    rows = Derivation.objects.filter(
        space=space, child_type__in=("note", "fact", "episode"), role=Derivation.Role.SUPPORT
    )
    if ids is not None:
        rows = rows.filter(turn__in=rows.filter(child_id__in=ids).order_by().values("turn"))
    by_turn: dict[str, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    for turn, child, kind in _read(rows, ("turn", "child_id"), ("child_type",)):
        by_turn[turn][kind].add(child)
    yield from shares(by_turn)


def _topics(space: Space, ids: Ids) -> Iterable[Edge]:
    segment = "page__memberships__segment"
    rows = Note.objects.filter(_at(ids, "id", segment), space=space, retired_at=None)
    pairs = _read(rows.exclude(**{segment: None}), ("id", segment))
    return (Edge(note, topic, "about") for note, topic in pairs)


def neighbours(
    space: Space, node: Node, weights: Heat, now: datetime
) -> list[tuple[Edge, Node, bool]]:
    """What a memory is linked with: (link, the other end, whether the link leads there). The
    strongest first."""
    wish = Wish(kinds=tuple(KINDS), around=node.id)
    graph = graph_of(space, wish, weights, now)
    by_id = {each.id: each for each in graph.nodes}
    return [
        (edge, by_id[edge.target if out else edge.source], out)
        for edge in graph.edges
        for out in (edge.source == node.id,)
        if node.id in (edge.source, edge.target)
    ]
