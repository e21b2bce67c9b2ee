"""The embedding map of a space: drawn in the background, coloured by kind, topic or tag."""

from __future__ import annotations

from math import ceil
from typing import Any
from uuid import UUID

from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from django.views.decorators.gzip import gzip_page
from django.views.decorators.http import conditional_page

from memoryhub.console.frame.access import EDITOR, action_at, page_at, tenant_page
from memoryhub.console.frame.lists import PAGE_SIZE, FilterChoice, Filters, ListPage, read_filters
from memoryhub.console.frame.outcomes import run_and_report
from memoryhub.console.frame.requests import ConsoleRequest
from memoryhub.console.frame.space.tabs import get_space_or_404, render_tab
from memoryhub.console.frame.text.wording import NODE_KINDS
from memoryhub.console.pages.graph.link_graph import compute_warmth, has_all_words
from memoryhub.console.pages.graph.views import build_node_address, render_cached_json
from memoryhub.console.pages.map import queries
from memoryhub.console.pages.map.queries import MapPoint
from memoryhub.pipeline.embeddings import embedding_map
from memoryhub.pipeline.ingest.services import ring_on_commit
from memoryhub.policies.services import load_effective_policy
from memoryhub.tenants.models import Space

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
    standing = queries.load_map_status(space)
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


def _load_status_points(space: Space, standing: queries.MapStatus) -> list[MapPoint]:
    if standing.row is None:
        return []
    weights = load_effective_policy(space).policy.heat
    return queries.load_map_points(space, standing.row, weights, timezone.now())


def _build_point_page(space: Space, points: list[MapPoint], filters: Filters) -> ListPage[Any]:
    heats = zip(points, compute_warmth([point.node for point in points]), strict=True)
    rows = [
        (point, heat, build_node_address(space, point.node))
        for point, heat in heats
        if has_all_words(point.node.text, filters.q) and filters["kind"] in ("", point.node.kind)
    ]
    number = min(filters.page, max(1, ceil(len(rows) / PAGE_SIZE)))
    return ListPage(rows[(number - 1) * PAGE_SIZE : number * PAGE_SIZE], max(1, number), len(rows))


@page_at("spaces/<uuid:space_id>/map/data.json", "space-map-data")
@gzip_page
@conditional_page
@tenant_page()
def map_data(request: ConsoleRequest, space_id: UUID) -> HttpResponse:
    space = get_space_or_404(space_id, timezone.now())
    standing = queries.load_map_status(space)
    points = _load_status_points(space, standing)
    full = standing.row is not None and len(standing.row.points) >= embedding_map.MAX_MEMORIES
    left_out = gettext("The newest %(count)s memories are on the map.") if full else ""
    return render_cached_json(
        queries.serialize_map(points, left_out % {"count": f"{embedding_map.MAX_MEMORIES:,}"})
    )


@action_at("spaces/<uuid:space_id>/map/begin", "space-map-begin")
@tenant_page(role=EDITOR)
def draw_map(request: ConsoleRequest, space_id: UUID) -> HttpResponse:
    space = get_space_or_404(space_id, timezone.now())
    actor = request.user.get_username()
    said = gettext("It is being drawn.")
    if run_and_report(request, lambda: embedding_map.begin_map(space, actor, timezone.now()), said):
        ring_on_commit(space.tenant_id, space.id)
    return redirect("space-map", space_id=space.id)
