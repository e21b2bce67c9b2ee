"""The link graph as plain values: which memories, how they hang together, and what is asked of it.

Pure: no ORM, no clock. What the picture is drawn from and what the table lists is the same `Graph`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import log1p
from operator import attrgetter
from typing import Any, NamedTuple

from django.http import QueryDict
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from memoryhub.console.frame.forms import read_id
from memoryhub.console.frame.lists import has_all_words, read_filters
from memoryhub.console.frame.text.wording import (
    LINK_KINDS,
    NODE_KINDS,
    join_list,
    shorten_text,
)

MAX_NODES = 5000  # memories drawn at once
MAX_LINKS = 20_000
READABLE_NODES = 40  # as many as are drawn where nothing else is asked for
NODE_LIMITS = (
    (str(READABLE_NODES), _("the 40 hottest")),
    ("120", _("the 120 hottest")),
    ("all", _("everything")),
)
MAX_STARTS = 12  # memories in the middle
MAX_QUESTION_LENGTH = 400
DEPTHS = (1, 2, 3)
USUAL_NODE_KINDS = ("note", "fact", "entity")
COLOUR_OPTIONS = (("kind", _("Kind")), ("cluster", _("Cluster")))


class GraphNode(NamedTuple):
    """A memory; `id` as an address has it. `heat` is above 0; `past`: true once, and no longer."""

    id: str
    kind: str
    text: str
    heat: float
    past: bool = False


class GraphEdge(NamedTuple):
    """`weight` in 0 to 1: what the link is worth, or how sure the fact behind it is."""

    source: str
    target: str
    kind: str
    weight: float = 1.0
    label: str = ""


@dataclass(frozen=True, slots=True)
class LinkGraph:
    """`total`: memories there are, `nodes` the warmest of them; `links` likewise of `edges`.
    `hubs`: names of the speakers who were left out. `words`: by memory, what may name its group."""

    nodes: list[GraphNode]
    edges: list[GraphEdge]
    total: int
    links: int
    hubs: Sequence[str] = ()
    words: Mapping[str, Sequence[str]] = field(default_factory=dict)

    @property
    def left_out(self) -> str:
        """What is not drawn, in a sentence; empty when all is."""
        told = []
        if self.total > len(self.nodes):
            message = gettext(
                "Showing the %(shown)s hottest of %(total)s memories. Choose fewer kinds, or "
                "look around one memory, to see others."
            )
            told.append(message % {"total": f"{self.total:,}", "shown": f"{len(self.nodes):,}"})
        if self.links > len(self.edges):
            message = gettext("Showing the %(shown)s strongest of %(total)s links.")
            told.append(message % {"total": f"{self.links:,}", "shown": f"{len(self.edges):,}"})
        if self.hubs:
            message = gettext("Left out, because nearly everything is linked to them: %(names)s.")
            told.append(message % {"names": join_list(self.hubs)})
        return " ".join(told)


@dataclass(frozen=True, slots=True)
class GraphRequest:
    """What the address asks of a graph. Unknown values fall back to the default.

    `around`: memories in the middle, with what is at most `depth` links away. `ask`: the question
    that they answer. `most`: of the warmest. `speakers`: whether those who speak are drawn too,
    with whom nearly everything is linked.
    """

    kinds: tuple[str, ...] = USUAL_NODE_KINDS
    links: tuple[str, ...] = tuple(LINK_KINDS)
    weight: float = 0.0
    around: tuple[str, ...] = ()
    depth: int = 1
    most: int = MAX_NODES
    speakers: bool = False
    ask: str = ""
    node: str | None = None
    colour: str = "kind"
    view: str = "picture"
    q: str = ""
    page: int = 1

    @property
    def narrowed(self) -> bool:
        return bool(self.q or self.around or self.weight or self.most < MAX_NODES) or (
            set(self.kinds) != set(USUAL_NODE_KINDS) or len(self.links) < len(LINK_KINDS)
        )

    @property
    def data_params(self) -> dict[str, Any]:
        """What the data depends on; the picture sees to the rest by itself."""
        given: dict[str, Any] = {}
        if self.around:
            given = {"around": self.around, "depth": self.depth, "weight": self.weight}
            given["link"] = self.links
        if self.most != MAX_NODES:
            given["most"] = self.most
        if self.speakers:
            given["speakers"] = 1
        if self.kinds != USUAL_NODE_KINDS:
            given["kind"] = self.kinds
        return given


def read_graph_request(query: QueryDict) -> GraphRequest:
    filters = read_filters(query)
    return GraphRequest(
        kinds=_select_known(query.getlist("kind"), tuple(NODE_KINDS), USUAL_NODE_KINDS),
        links=_select_known(query.getlist("link"), tuple(LINK_KINDS), tuple(LINK_KINDS)),
        weight=_parse_share(query.get("weight", "")),
        around=tuple(filter(None, map(parse_node_id, query.getlist("around")[:MAX_STARTS]))),
        depth=int(query.get("depth", "1")) if query.get("depth") in ("1", "2", "3") else 1,
        most=_parse_limit(query.get("most", "")),
        speakers=query.get("speakers") == "1",
        ask=query.get("ask", "").replace("\0", "").strip()[:MAX_QUESTION_LENGTH],
        node=parse_node_id(query.get("node", "")),
        colour="cluster" if query.get("colour") == "cluster" else "kind",
        view=query.get("view", "") if query.get("view") in ("table", "links") else "picture",
        q=filters.q,
        page=filters.page,
    )


def _select_known(given: Collection[str], known: Sequence[str], usual: tuple[str, ...]) -> Any:
    return tuple(name for name in known if name in given) or usual


def _parse_share(text: str) -> float:
    try:
        return min(1.0, max(0.0, float(text)))
    except ValueError:
        return 0.0


def _parse_limit(text: str) -> int:
    return min(MAX_NODES, max(1, int(text))) if text.isdecimal() and len(text) < 6 else MAX_NODES


def parse_node_id(text: str) -> str | None:
    found = read_id(text)
    return str(found) if found else None


def select_edges(edges: Iterable[GraphEdge], held: Collection[str]) -> list[GraphEdge]:
    """Those with both ends held and none to itself, each pair once a kind and label: strongest
    first."""
    best: dict[tuple[str, str, str, str], GraphEdge] = {}
    for edge in edges:
        source, target, kind, weight, label = edge
        if source == target or source not in held or target not in held:
            continue
        other = best.get(key := (source, target, kind, label))
        if other is None or other.weight < weight:
            best[key] = edge
    return sorted(best.values(), key=attrgetter("weight"), reverse=True)


def build_support_edges(
    by_turn: Mapping[Any, Mapping[str, Collection[str]]],
) -> Iterable[GraphEdge]:
    """Links of what rests on the same words. `by_turn`: of each turn, the ids by kind."""
    for held in by_turn.values():
        for upper, lower in (("note", "fact"), ("episode", "note")):
            for one in held.get(upper, ()):
                yield from (GraphEdge(one, other, "support") for other in held.get(lower, ()))


def compute_warmth(nodes: Sequence[GraphNode]) -> list[float]:
    """The heat of each between 0 and 1: logarithms, since a few are far warmer than the rest."""
    most = max((log1p(node.heat) for node in nodes), default=0.0)
    return [round(log1p(node.heat) / most, 2) if most else 0.0 for node in nodes]


def serialize_graph(graph: LinkGraph) -> dict[str, Any]:
    """For the browser: rows instead of objects, places in the list instead of ids."""
    place = {node.id: at for at, node in enumerate(graph.nodes)}
    kinds = {kind: at for at, kind in enumerate(NODE_KINDS)}
    links = {kind: at for at, kind in enumerate(LINK_KINDS)}
    return {
        "kinds": list(kinds),
        "links": list(links),
        "nodes": [
            (node.id, kinds[node.kind], shorten_text(node.text), heat, int(node.past))
            for node, heat in zip(graph.nodes, compute_warmth(graph.nodes), strict=True)
        ],
        "edges": [
            (place[source], place[target], links[kind], round(weight, 2), label)
            for source, target, kind, weight, label in graph.edges
        ],
        "words": [graph.words.get(node.id, ()) for node in graph.nodes] if graph.words else [],
        "hubs": list(graph.hubs),
        "total": graph.total,
        "left_out": graph.left_out,
    }


@dataclass(frozen=True, slots=True)
class GraphRow:
    """A memory of the table with how many links it has."""

    node: GraphNode
    heat: float
    degree: int


def filter_edges(edges: Iterable[GraphEdge], wish: GraphRequest) -> list[GraphEdge]:
    return [edge for edge in edges if edge.kind in wish.links and edge.weight >= wish.weight]


def list_graph_rows(graph: LinkGraph, wish: GraphRequest) -> list[GraphRow]:
    """The memories that the wish leaves, the warmest first."""
    degree: Counter[str] = Counter()
    for edge in filter_edges(graph.edges, wish):
        degree.update((edge.source, edge.target))
    heats = zip(graph.nodes, compute_warmth(graph.nodes), strict=True)
    return [
        GraphRow(node, heat, degree[node.id])
        for node, heat in heats
        if has_all_words(node.text, wish.q)
    ]


def list_linked_pairs(
    graph: LinkGraph, wish: GraphRequest
) -> list[tuple[GraphNode, GraphEdge, GraphNode]]:
    """The links that the wish leaves, with what is at their ends."""
    by_id = {node.id: node for node in graph.nodes}
    ends = ((by_id[e.source], e, by_id[e.target]) for e in filter_edges(graph.edges, wish))
    return [
        each
        for each in ends
        if has_all_words(f"{each[0].text} {each[1].label} {each[2].text}", wish.q)
    ]
