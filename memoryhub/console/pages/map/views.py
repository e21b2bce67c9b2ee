"""The embedding map of a space: drawn in the background, coloured by kind, topic or tag."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import F, QuerySet
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from django.views.decorators.gzip import gzip_page
from django.views.decorators.http import conditional_page

from memoryhub.console.frame.access import EDITOR, action_at, page_at, tenant_page
from memoryhub.console.frame.forms import run_and_report
from memoryhub.console.frame.lists import (
    FilterChoice,
    Filters,
    ListPage,
    has_all_words,
    read_filters,
    slice_page,
)
from memoryhub.console.frame.requests import ConsoleRequest
from memoryhub.console.frame.space.tabs import get_space_or_404, render_tab
from memoryhub.console.frame.text.wording import NODE_KINDS, shorten_text
from memoryhub.console.pages.graph.link_graph import GraphNode, compute_warmth
from memoryhub.console.pages.graph.queries import load_nodes
from memoryhub.console.pages.graph.views import build_node_address, render_cached_json
from memoryhub.console.pages.map.evolution import (
    MAX_LINKS,
    load_evolution_picture,
    load_evolved_page,
)
from memoryhub.pipeline.embeddings import embedding_map
from memoryhub.pipeline.ingest.services import ring_on_commit
from memoryhub.pipeline.models import Job, SpaceMap
from memoryhub.policies.schema import HeatPolicy
from memoryhub.policies.services import load_effective_policy
from memoryhub.tenants.models import Space
from notes.models import Derivation, Note, Segment, SegmentPage

MAX_GROUPS = 10  # with a colour of their own, the largest


@dataclass(frozen=True, slots=True)
class MapStatus:
    """How a map stands: being drawn (`job`), drawn, and whether memories have changed since."""

    row: SpaceMap | None
    job: Job | None
    stale: bool

    @property
    def going(self) -> bool:
        return self.job is not None and self.job.state in Job.UNFINISHED_STATES

    @property
    def failed(self) -> bool:
        return self.job is not None and self.job.state == Job.State.DEAD


def load_map_status(space: Space) -> MapStatus:
    """Four statements at most."""
    row: SpaceMap | None = SpaceMap.objects.filter(space=space).first()
    if row is None:
        return MapStatus(None, None, stale=False)
    stale = row.drawn_at is not None and row.mark != embedding_map.compute_mark(space)
    return MapStatus(row, embedding_map.find_map_job(row), stale)


@dataclass(frozen=True, slots=True)
class MapPoint:
    """A memory on the map. `segment` and `tags` are names; empty for none."""

    node: GraphNode
    x: float
    y: float
    segment: str
    tags: tuple[str, ...]


def load_map_points(
    space: Space, row: SpaceMap, weights: HeatPolicy, now: datetime
) -> list[MapPoint]:
    """Those whose memories are still held. Four statements."""
    places = {owner: (x, y) for _, owner, x, y in row.points}
    kinds = tuple({kind for kind, *_ in row.points})
    nodes = load_nodes(space, kinds, places, weights, now) if places else []
    topics = _load_point_topics(space, nodes)
    tags = _load_point_tags(nodes)
    return [
        MapPoint(node, *places[node.id], topics.get(node.id, ""), tags.get(node.id, ()))
        for node in nodes
    ]


def _filter_notes(nodes: Iterable[GraphNode]) -> QuerySet[Note]:
    rows: QuerySet[Note] = Note.objects.filter(id__in=[n.id for n in nodes if n.kind == "note"])
    return rows.order_by()


def _load_point_tags(nodes: Sequence[GraphNode]) -> dict[str, tuple[str, ...]]:
    rows = _filter_notes(nodes).exclude(tags=[])
    return {str(note): tuple(tags) for note, tags in rows.values_list("id", "tags")}


def _load_point_topics(space: Space, nodes: Sequence[GraphNode]) -> dict[str, str]:
    """What segment each belongs to: a note by its page, a fact by the page of its words."""
    found = {node.id: shorten_text(node.text, 60) for node in nodes if node.kind == "segment"}
    named = _load_segment_names(space)
    notes = _filter_notes(nodes).exclude(page=None)
    for note, segment in notes.values_list("id", "page__memberships__segment"):
        if segment in named:
            found.setdefault(str(note), named[segment])
    by_turn = _map_turns_to_segments(space)
    facts = Derivation.objects.filter(
        space=space, child_type="fact", role=Derivation.Role.SUPPORT
    ).order_by("turn__seq")
    for fact, seq in facts.values_list("child_id", "turn__seq"):
        if by_turn.get(seq) in named:
            found.setdefault(str(fact), named[by_turn[seq]])
    return found


def _load_segment_names(space: Space) -> dict[UUID, str]:
    rows = Segment.objects.filter(space=space, retired_at=None).order_by()
    return {row.id: shorten_text(str(row), 60) for row in rows.only("id", "summary", "keywords")}


def _map_turns_to_segments(space: Space) -> dict[int, UUID]:
    """Of each turn's number the segment of its page."""
    rows = SegmentPage.objects.filter(space=space).order_by("-score")
    found: dict[int, UUID] = {}
    spans = rows.annotate(first=F("page__first_seq"), last=F("page__last_seq"))
    for segment, first, last in spans.values_list("segment", "first", "last"):
        # Turns of other sessions between are few: pages are short.
        for seq in range(first, min(last, first + 50) + 1):
            found.setdefault(seq, segment)
    return found


def list_largest_groups(names: Iterable[str]) -> list[str]:
    """The names that most points have, the first the commonest."""
    counts = Counter(name for name in names if name)
    return [name for name, _ in counts.most_common(MAX_GROUPS)]


def serialize_map(points: Sequence[MapPoint], left_out: str) -> dict[str, Any]:
    """As `link_graph.serialize_graph`, with places and the groups that colours stand for."""
    topics = list_largest_groups(point.segment for point in points)
    tags = list_largest_groups(tag for point in points for tag in point.tags)
    heats = compute_warmth([point.node for point in points])
    kinds = list(NODE_KINDS)
    return {
        "kinds": kinds,
        "links": [],
        "placed": True,
        "groups": {"segment": topics, "tag": tags},
        "nodes": [
            [
                point.node.id,
                kinds.index(point.node.kind),
                shorten_text(point.node.text),
                heat,
                int(point.node.past),
                point.x,
                -point.y,
                _find_group_index(topics, (point.segment,)),
                _find_group_index(tags, point.tags),
            ]
            for point, heat in zip(points, heats, strict=True)
        ],
        "edges": [],
        "total": len(points),
        "left_out": left_out,
    }


def _find_group_index(names: Sequence[str], own: Iterable[str]) -> int:
    return next((names.index(name) for name in own if name in names), -1)


MAP_COLOUR_CHOICE = FilterChoice(
    "colour", _("Colour by"), (("kind", _("Kind")), ("segment", _("Topic")), ("tag", _("Tag")))
)
MAP_VIEW_CHOICE = FilterChoice(
    "view", _("View"), (("picture", _("Picture")), ("table", _("Table")))
)
MAP_KIND_CHOICE = FilterChoice(
    "kind",
    _("Kind"),
    (("", _("All")), *((kind, NODE_KINDS[kind]) for kind in embedding_map.MAPPED_KINDS)),
)


@page_at("spaces/<uuid:space_id>/map/", "space-map")
@tenant_page()
def map_page(request: ConsoleRequest, space_id: UUID) -> HttpResponse:
    """The page; for the polling browser only how far it is."""
    space = get_space_or_404(space_id, timezone.now())
    standing = load_map_status(space)
    if request.htmx:
        answer = render(request, "map/_state.html", {"space": space, "standing": standing})
        if not standing.going:
            answer["HX-Refresh"] = "true"
        return answer
    view, filters = MAP_VIEW_CHOICE.read(request.GET), read_filters(request.GET, (MAP_KIND_CHOICE,))
    context: dict[str, Any] = {
        "standing": standing,
        "filters": filters,
        "kinds": embedding_map.MAPPED_KINDS,
    }
    context |= {"view": view, "held": {"view": view}}
    context |= {"colours": MAP_COLOUR_CHOICE.options, "colour": MAP_COLOUR_CHOICE.read(request.GET)}
    if view == "picture" and standing.row and standing.row.drawn_at:
        context |= {"drawn": True, "data": reverse("space-map-data", args=[space.id])}
    if view == "table":
        context["page"] = _build_point_page(space, _load_status_points(space, standing), filters)
    return render_tab(request, space, "map", "map/map.html", **context)


def _load_status_points(space: Space, standing: MapStatus) -> list[MapPoint]:
    if standing.row is None:
        return []
    weights = load_effective_policy(space).policy.heat
    return load_map_points(space, standing.row, weights, timezone.now())


def _build_point_page(space: Space, points: list[MapPoint], filters: Filters) -> ListPage[Any]:
    heats = zip(points, compute_warmth([point.node for point in points]), strict=True)
    rows = [
        (point, heat, build_node_address(space, point.node))
        for point, heat in heats
        if has_all_words(point.node.text, filters.q) and filters["kind"] in ("", point.node.kind)
    ]
    return slice_page(rows, filters.page)


@page_at("spaces/<uuid:space_id>/map/evolution/", "space-map-evolution")
@tenant_page()
def evolution_page(request: ConsoleRequest, space_id: UUID) -> HttpResponse:
    """The same notes twice: as they would be had none evolved, and as they are."""
    space = get_space_or_404(space_id, timezone.now())
    standing, filters = load_map_status(space), read_filters(request.GET)
    context: dict[str, Any] = {"standing": standing, "view": "evolution", "filters": filters}
    if standing.row and standing.row.drawn_at:
        picture = load_evolution_picture(space, standing.row.evolution)
        context |= {"picture": picture, "most_links": MAX_LINKS}
        if picture.evolved:
            context["page"] = load_evolved_page(space, picture.evolved, filters)
    return render_tab(request, space, "map", "map/evolution.html", **context)


@page_at("spaces/<uuid:space_id>/map/data.json", "space-map-data")
@gzip_page
@conditional_page
@tenant_page()
def map_data(request: ConsoleRequest, space_id: UUID) -> HttpResponse:
    space = get_space_or_404(space_id, timezone.now())
    standing = load_map_status(space)
    points = _load_status_points(space, standing)
    full = standing.row is not None and len(standing.row.points) >= embedding_map.MAX_MEMORIES
    left_out = gettext("The newest %(count)s memories are on the map.") if full else ""
    return render_cached_json(
        serialize_map(points, left_out % {"count": f"{embedding_map.MAX_MEMORIES:,}"})
    )


@action_at("spaces/<uuid:space_id>/map/begin", "space-map-begin")
@tenant_page(role=EDITOR)
def draw_map(request: ConsoleRequest, space_id: UUID) -> HttpResponse:
    space = get_space_or_404(space_id, timezone.now())
    said = gettext("The map is being created.")
    if run_and_report(
        request, lambda: embedding_map.begin_map(space, request.actor, timezone.now()), said
    ):
        ring_on_commit(space.tenant_id, space.id)
    return redirect("space-map", space_id=space.id)
