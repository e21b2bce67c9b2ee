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
from django.views.decorators.http import conditional_page, require_POST

from memoryhub.console.access import tenant_page
from memoryhub.console.graphing import KINDS, says, warmth
from memoryhub.console.listing import PAGE_SIZE, Choice, Filters, Page, read_filters
from memoryhub.console.outcomes import tried
from memoryhub.console.queries import maps as queries
from memoryhub.console.queries.maps import Point
from memoryhub.console.queries.spaces import space_or_404
from memoryhub.console.requests import ConsoleRequest
from memoryhub.console.views.graph import address, compact_json
from memoryhub.console.views.spaces import tab
from memoryhub.pipeline import mapping
from memoryhub.pipeline.services import ring_on_commit
from memoryhub.policies.services import policy_of
from memoryhub.tenants.models import Membership, Space

COLOUR = Choice(
    "colour", _("Colour by"), (("kind", _("Kind")), ("segment", _("Topic")), ("tag", _("Tag")))
)
VIEW = Choice("view", _("View"), (("picture", _("Picture")), ("table", _("Table"))))
KIND = Choice(
    "kind",
    _("Kind"),
    (("", _("All")), *((kind, KINDS[kind]) for kind in mapping.KINDS)),
)


@tenant_page()
def space_map(request: ConsoleRequest, space_id: UUID) -> HttpResponse:
    """The page; for the polling browser only how far it is."""
    space = space_or_404(space_id, timezone.now())
    standing = queries.standing(space)
    if request.htmx:
        answer = render(request, "parts/map_state.html", {"space": space, "standing": standing})
        if not standing.going:
            answer["HX-Refresh"] = "true"
        return answer
    view, filters = VIEW.read(request.GET), read_filters(request.GET, (KIND,))
    context: dict[str, Any] = {"standing": standing, "filters": filters, "kinds": mapping.KINDS}
    context |= {"view": view, "held": {"view": view}}
    context |= {"colours": COLOUR.options, "colour": COLOUR.read(request.GET)}
    if view == "picture" and standing.row and standing.row.drawn_at:
        context |= {"drawn": True, "data": reverse("space-map-data", args=[space.id])}
    if view == "table":
        context["page"] = _listed(space, _points(space, standing), filters)
    return tab(request, space, "map", **context)


def _points(space: Space, standing: queries.Standing) -> list[Point]:
    if standing.row is None:
        return []
    weights = policy_of(space).policy.heat
    return queries.points_of(space, standing.row, weights, timezone.now())


def _listed(space: Space, points: list[Point], filters: Filters) -> Page[Any]:
    heats = zip(points, warmth([point.node for point in points]), strict=True)
    rows = [
        (point, heat, address(space, point.node))
        for point, heat in heats
        if says(point.node.text, filters.q) and filters["kind"] in ("", point.node.kind)
    ]
    number = min(filters.page, max(1, ceil(len(rows) / PAGE_SIZE)))
    return Page(rows[(number - 1) * PAGE_SIZE : number * PAGE_SIZE], max(1, number), len(rows))


@gzip_page
@conditional_page
@tenant_page()
def data(request: ConsoleRequest, space_id: UUID) -> HttpResponse:
    space = space_or_404(space_id, timezone.now())
    standing = queries.standing(space)
    points = _points(space, standing)
    full = standing.row is not None and len(standing.row.points) >= mapping.MOST
    left_out = gettext("The newest %(count)s memories are on the map.") if full else ""
    return compact_json(queries.compact(points, left_out % {"count": f"{mapping.MOST:,}"}))


@require_POST
@tenant_page(role=Membership.Role.EDITOR)
def begin(request: ConsoleRequest, space_id: UUID) -> HttpResponse:
    space = space_or_404(space_id, timezone.now())
    actor = request.user.get_username()
    said = gettext("It is being drawn.")
    if tried(request, lambda: mapping.begin(space, actor, timezone.now()), said):
        ring_on_commit(space.tenant_id, space.id)
    return redirect("space-map", space_id=space.id)
