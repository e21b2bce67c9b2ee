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
    Exists,
    F,
    FloatField,
    OuterRef,
    Q,
    QuerySet,
    TextField,
    Value,
    When,
)
from django.db.models.functions import Cast, Coalesce, Left, NullIf
from django.utils.translation import gettext

from memoryhub.console.frame.text.wording import LINK_KINDS, NODE_KINDS
from memoryhub.console.pages.graph.link_graph import (
    MAX_LINKS,
    MAX_NODES,
    GraphEdge,
    GraphNode,
    GraphRequest,
    LinkGraph,
    build_support_edges,
    select_edges,
)
from memoryhub.policies.schema import HeatPolicy
from memoryhub.tenants.models import Space
from notes.facts.validity import build_past_q
from notes.models import Derivation, Entity, Episode, Fact, Link, Note, Relation, Segment
from notes.topics.heat import annotate_heat, build_warmth_expression

MAX_TEXT_LENGTH = 300  # characters of a memory
_NODE_COLUMNS = ("id_", "kind_", "text_", "heat_", "past_")
# Digests of whole days rest on everything: what rests on all says nothing.
_GRAPH_EPISODE_KINDS = (Episode.Kind.TOPIC, Episode.Kind.SESSION)
NodeIds = Collection[str] | None


def load_graph(space: Space, wish: GraphRequest, weights: HeatPolicy, now: datetime) -> LinkGraph:
    """The warmest memories of the wish's kinds with the links between them; with `around`, those
    at most `depth` links from it. Ten statements at most, and five more a step of depth."""
    hubs = {} if wish.speakers else _load_speakers(space)
    reach = _find_reachable_ids(space, wish, hubs) if wish.around else None
    drawn = None if reach is None else reach - set(hubs)
    starts = [each for each in wish.around if each not in hubs]
    wanted = _list_node_rows(space, wish.kinds, weights, now, drawn, starts, hubs)
    most = min(wish.most, MAX_NODES)
    found = list(map(GraphNode._make, wanted.order_by("-heat_", "id_")[: most + 1]))
    total = len(found) if len(found) <= most else wanted.count()
    nodes = _keep_starts(found, starts, most, space, weights, now)
    held = {node.id for node in nodes}
    narrow = held if reach is not None or total > most else None
    touching = _load_touching_edges(space, tuple(LINK_KINDS), narrow) if held else []
    edges = select_edges(touching, held)
    words = _load_note_words(space, held) if most < MAX_NODES else {}
    return LinkGraph(nodes, edges[:MAX_LINKS], total, len(edges), sorted(hubs.values()), words)


def _load_speakers(space: Space) -> dict[str, str]:
    """By id, the names of those who speak here: nearly every memory is linked with them."""
    names = {*space.people, *space.called_names}
    rows = Entity.objects.filter(space=space, name__in=names, retired_at=None, merged_into=None)
    return dict(_read_edge_columns(rows, ("id",), ("name",)))


def find_person(space: Space) -> str | None:
    """The id of the space's person among the entities; where that is none of them, of whoever, or
    of whatever, is spoken of most: of what was mentioned once only there is nothing around, nor of
    what no relation names. One statement."""
    named = Relation.objects.filter(space=space, retired_at=None)
    rows = Entity.objects.filter(
        Exists(named.filter(src=OuterRef("id"))) | Exists(named.filter(dst=OuterRef("id"))),
        space=space,
        retired_at=None,
        merged_into=None,
    )
    rows = rows.filter(Q(name__in=space.called_names) | Q(mention_count__gt=1))
    likely = Case(When(name__in=space.called_names, then=0), When(type="person", then=1), default=2)
    ordered = rows.annotate(likely=likely).order_by("likely", "-mention_count", "id")
    found = ordered.values_list("id", flat=True).first()
    return str(found) if found else None


def load_people(space: Space, count: int) -> list[tuple[str, str]]:
    """(id, name) of the people that memories speak of, those spoken of most first."""
    rows = Entity.objects.filter(space=space, type="person", retired_at=None, merged_into=None)
    found = rows.order_by("-mention_count", "id").values_list("id", "name")[:count]
    return [(str(row_id), name) for row_id, name in found]


def _keep_starts(
    found: Sequence[GraphNode],
    starts: Sequence[str],
    most: int,
    space: Space,
    weights: HeatPolicy,
    now: datetime,
) -> list[GraphNode]:
    """The first of what was found, and what is in the middle however cold it is."""
    shown = list(found[:most])
    missing = set(starts) - {node.id for node in shown}
    if not missing or len(found) <= most:
        return shown
    cold = load_nodes(space, tuple(NODE_KINDS), missing, weights, now)
    return [*shown[: most - len(cold)], *cold]


def _load_note_words(space: Space, ids: Collection[str]) -> dict[str, list[str]]:
    """By id, the keywords of notes. One statement."""
    rows = Note.objects.filter(space=space, id__in=ids).exclude(keywords=[])
    return dict(_read_edge_columns(rows, ("id",), ("keywords",)))


def _find_reachable_ids(space: Space, wish: GraphRequest, hubs: Collection[str]) -> set[str]:
    """The ids at most `depth` links away. What lies behind a kind that is not shown counts too;
    what lies behind a hub does not: all does."""
    found = edge_of_it = set(wish.around)
    for _ in range(wish.depth):
        edges = _load_touching_edges(space, wish.links, edge_of_it)
        pairs = [{edge.source, edge.target} for edge in edges if edge.weight >= wish.weight]
        ends = {end for pair in pairs if pair & edge_of_it for end in pair}
        edge_of_it = ends - found
        found = found | edge_of_it
        edge_of_it = edge_of_it - set(hubs)
        if not edge_of_it:
            break
    return found


def _list_node_rows(
    space: Space,
    kinds: Iterable[str],
    weights: HeatPolicy,
    now: datetime,
    ids: NodeIds = None,
    besides: Collection[str] = (),
    without: Collection[str] = (),
) -> QuerySet[Any, Any]:
    """Rows of `_COLUMNS`. `besides` are of any kind, `without` are entities."""
    chosen = []
    for kind in NODE_KINDS:
        rows = _NODE_ROWS[kind](space, weights, now)
        if kind not in kinds:
            rows = rows.filter(id__in=besides) if besides else rows.none()
        elif ids is not None:
            rows = rows.filter(id__in=ids)
        if kind == "entity" and without:
            rows = rows.exclude(id__in=without)
        chosen.append(rows.order_by().values_list(*_NODE_COLUMNS))
    return chosen[0].union(*chosen[1:], all=True)


def find_node(space: Space, node_id: str, weights: HeatPolicy, now: datetime) -> GraphNode | None:
    """One statement over all kinds."""
    rows = _list_node_rows(space, (), weights, now, besides=[node_id])[:1]
    return next(map(GraphNode._make, rows), None)


def load_nodes(
    space: Space, kinds: Iterable[str], ids: Collection[str], weights: HeatPolicy, now: datetime
) -> list[GraphNode]:
    """Those of the ids that are held, the warmest first. One statement."""
    rows = _list_node_rows(space, kinds, weights, now, ids)
    return list(map(GraphNode._make, rows.order_by("-heat_", "id_")))


def _annotate_node_columns(
    rows: Any, kind: str, text: Any, heat: Any, past: Any = None
) -> QuerySet[Any]:
    shown: QuerySet[Any] = rows.annotate(
        id_=_cast_to_text("id"),
        kind_=Value(kind, CharField()),
        text_=Left(text, MAX_TEXT_LENGTH),
        heat_=heat,
        past_=past or Value(value=False, output_field=BooleanField()),
    )
    return shown


def _list_note_nodes(space: Space, weights: HeatPolicy, now: datetime) -> QuerySet[Any]:
    rows = Note.objects.filter(space=space, retired_at=None)
    last = Coalesce("last_recall_at", "occurred_at")
    heat = build_warmth_expression(F("recall_count"), Value(1), last, weights, now)
    return _annotate_node_columns(
        rows, "note", Coalesce(NullIf("context", Value("")), "content"), heat
    )


def _list_fact_nodes(space: Space, weights: HeatPolicy, now: datetime) -> QuerySet[Any]:
    """Those that held once stay, or nothing could be seen to have been replaced."""
    rows = Fact.objects.filter(~Q(status=Fact.Status.RETRACTED), space=space, retired_at=None)
    last = Coalesce("last_recall_at", "asserted_at")
    heat = build_warmth_expression(F("recall_count"), F("mention_count"), last, weights, now)
    over = Case(When(build_past_q(now), then=True), default=False)
    return _annotate_node_columns(rows, "fact", F("text"), heat, over)


def _list_entity_nodes(space: Space, weights: HeatPolicy, now: datetime) -> QuerySet[Any]:
    rows = Entity.objects.filter(space=space, retired_at=None, merged_into=None)
    heat = weights.beta * Cast("mention_count", FloatField())
    return _annotate_node_columns(rows, "entity", F("name"), heat)


def _list_segment_nodes(space: Space, weights: HeatPolicy, now: datetime) -> QuerySet[Any]:
    rows = annotate_heat(Segment.objects.filter(space=space, retired_at=None), weights, now)
    words = Coalesce(NullIf("summary", Value("")), Value(gettext("A topic without a summary yet")))
    return _annotate_node_columns(rows, "segment", words, F("heat"))


def _list_episode_nodes(space: Space, weights: HeatPolicy, now: datetime) -> QuerySet[Any]:
    rows = Episode.objects.filter(space=space, retired_at=None, kind__in=_GRAPH_EPISODE_KINDS)
    last = Coalesce("last_recall_at", "to_at")
    heat = build_warmth_expression(F("recall_count"), Value(1), last, weights, now)
    return _annotate_node_columns(
        rows, "episode", Coalesce(NullIf("title", Value("")), "text"), heat
    )


_NODE_ROWS: dict[str, Callable[[Space, HeatPolicy, datetime], QuerySet[Any]]] = {
    "note": _list_note_nodes,
    "fact": _list_fact_nodes,
    "entity": _list_entity_nodes,
    "segment": _list_segment_nodes,
    "episode": _list_episode_nodes,
}


def _load_touching_edges(space: Space, kinds: Collection[str], ids: NodeIds) -> Iterable[GraphEdge]:
    """Links with an end among `ids`, or all of the space; ends may be memories not held."""
    if "link" in kinds:
        yield from _load_link_edges(space, ids)
    if "supersedes" in kinds:
        yield from _load_succession_edges(space, ids)
    if {"relation", "mentions"} & set(kinds):
        yield from (edge for edge in _load_relation_edges(space, ids) if edge.kind in kinds)
    if "support" in kinds:
        yield from _load_support_edges(space, ids)
    if "about" in kinds:
        yield from _load_topic_edges(space, ids)


def _build_ends_condition(ids: NodeIds, *ends: str) -> Q:
    """Rows with one of the ids at one of their ends."""
    if ids is None:
        return Q()
    return reduce(Q.__or__, (Q(**{f"{end}__in": ids}) for end in ends))


def _read_edge_columns(
    rows: QuerySet[Any], ids: Sequence[str], rest: Sequence[str] = ()
) -> Iterable[Any]:
    """The columns in any order of the rows; ids as text."""
    return rows.order_by().values_list(*map(_cast_to_text, ids), *rest)


def _cast_to_text(column: str) -> Cast:
    """An id as text: thousands of UUIDs take longer to be made than to be read."""
    return Cast(column, TextField())


def _load_link_edges(space: Space, ids: NodeIds) -> Iterable[GraphEdge]:
    rows = Link.objects.filter(
        _build_ends_condition(ids, "a", "b"), space=space, active=True, retired_at=None
    )
    for a, b, kind, weight in _read_edge_columns(rows, ("a", "b"), ("kind", "weight")):
        label = "" if kind == Link.Kind.RELATED else str(Link.Kind(kind).label).lower()
        yield GraphEdge(a, b, "link", weight, label)


def _load_succession_edges(space: Space, ids: NodeIds) -> Iterable[GraphEdge]:
    rows = Fact.objects.filter(
        _build_ends_condition(ids, "id", "supersedes"), space=space, retired_at=None
    )
    pairs = _read_edge_columns(rows.exclude(supersedes=None), ("id", "supersedes"))
    return (GraphEdge(newer, older, "supersedes") for newer, older in pairs)


def _load_relation_edges(space: Space, ids: NodeIds) -> Iterable[GraphEdge]:
    rows = Relation.objects.filter(
        _build_ends_condition(ids, "src", "dst", "fact"), space=space, retired_at=None
    )
    ends, told = ("src", "dst", "fact"), ("label", "fact__confidence")
    for src, dst, fact, label, confidence in _read_edge_columns(rows, ends, told):
        sure = min(1.0, max(0.0, confidence))
        yield GraphEdge(src, dst, "relation", sure, label)
        yield GraphEdge(fact, src, "mentions", sure)
        yield GraphEdge(fact, dst, "mentions", sure)


def _load_support_edges(space: Space, ids: NodeIds) -> Iterable[GraphEdge]:
    """A note and a fact of the same words, or a note made of a fact. Two statements."""
    anchored = Note.objects.filter(
        _build_ends_condition(ids, "id", "fact"), space=space, retired_at=None
    )
    made = _read_edge_columns(anchored.exclude(fact=None), ("id", "fact"))
    yield from (GraphEdge(note, fact, "support") for note, fact in made)
    rows = Derivation.objects.filter(
        space=space, child_type__in=("note", "fact", "episode"), role=Derivation.Role.SUPPORT
    )
    if ids is not None:
        rows = rows.filter(turn__in=rows.filter(child_id__in=ids).order_by().values("turn"))
    by_turn: dict[str, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    for turn, child, kind in _read_edge_columns(rows, ("turn", "child_id"), ("child_type",)):
        by_turn[turn][kind].add(child)
    yield from build_support_edges(by_turn)


def _load_topic_edges(space: Space, ids: NodeIds) -> Iterable[GraphEdge]:
    segment = "page__memberships__segment"
    rows = Note.objects.filter(
        _build_ends_condition(ids, "id", segment), space=space, retired_at=None
    )
    pairs = _read_edge_columns(rows.exclude(**{segment: None}), ("id", segment))
    return (GraphEdge(note, topic, "about") for note, topic in pairs)


def load_graph_neighbours(
    space: Space, node: GraphNode, weights: HeatPolicy, now: datetime
) -> list[tuple[GraphEdge, GraphNode, bool]]:
    """What a memory is linked with: (link, the other end, whether the link leads there). The
    strongest first."""
    wish = GraphRequest(kinds=tuple(NODE_KINDS), around=(node.id,), speakers=True)
    graph = load_graph(space, wish, weights, now)
    by_id = {each.id: each for each in graph.nodes}
    return [
        (edge, by_id[edge.target if out else edge.source], out)
        for edge in graph.edges
        for out in (edge.source == node.id,)
        if node.id in (edge.source, edge.target)
    ]
