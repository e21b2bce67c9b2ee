"""The link graph of a space: the picture, the same as a table, and what is clicked on."""

from __future__ import annotations

from dataclasses import replace
from typing import Any
from uuid import UUID

from django.http import Http404, HttpResponse, JsonResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext
from django.views.decorators.gzip import gzip_page
from django.views.decorators.http import conditional_page

from memoryhub.console.frame.access import page_at, tenant_page, tenant_view
from memoryhub.console.frame.lists import slice_page
from memoryhub.console.frame.requests import ConsoleRequest
from memoryhub.console.frame.space.tabs import (
    get_plain_space_or_404,
    get_space_or_404,
    render_tab,
)
from memoryhub.console.frame.text.quotes import load_sources
from memoryhub.console.frame.text.wording import LINK_KINDS, NODE_KINDS
from memoryhub.console.pages.facts.views import FactRow, load_successors
from memoryhub.console.pages.graph import link_graph, queries
from memoryhub.console.pages.graph.link_graph import (
    READABLE_NODES,
    GraphNode,
    GraphRequest,
    LinkGraph,
)
from memoryhub.policies.schema import HeatPolicy
from memoryhub.policies.services import load_effective_policy
from memoryhub.recall.services import search_memories
from memoryhub.tenants.models import Space, Tenant
from memoryhub.tenants.scope import tenant_scope
from notes.models import Fact

MAX_SHOWN_NEIGHBOURS = 12  # shown beside the picture
MAX_ANSWERS = 8  # memories that a question opens on
MAX_PEOPLE = 6  # offered to begin with


@page_at("spaces/<uuid:space_id>/graph/", "space-graph")
@tenant_view()
def graph_page(request: ConsoleRequest, space_id: UUID) -> HttpResponse:
    """The picture, which asks for its data itself, or one of the tables. The picture begins with
    what answers `ask`, with what is around a memory, or with the space's person."""
    wish, asked = link_graph.read_graph_request(request.GET), "most" in request.GET
    if wish.ask and not wish.around:
        found = tuple(_find_answering_ids(request.tenant, space_id, wish.ask))
        wish, asked = replace(wish, around=found, most=READABLE_NODES), True
    with tenant_scope(request.tenant.id):
        space = get_space_or_404(space_id, timezone.now())
        if wish.view == "picture" and not asked:
            wish = _choose_start(space, wish)
        return _render_graph(request, space, wish)


def _find_answering_ids(tenant: Tenant, space_id: UUID, question: str) -> list[str]:
    """Of the memories that a search finds. No model is asked and nothing is remembered better for
    it. Opens its own scopes."""
    with tenant_scope(tenant.id):
        space = get_plain_space_or_404(space_id)
    found = search_memories(
        space,
        question,
        limit=MAX_ANSWERS,
        kinds=("fact", "note"),
        engine=Tenant.Engine.LOCAL,
        reinforce=False,
    )
    return [str(item.id) for item in found.items]


def _choose_start(space: Space, wish: GraphRequest) -> GraphRequest:
    """What is opened where the address does not say how much of the space is wanted."""
    if wish.around:
        return replace(wish, most=READABLE_NODES)
    if wish.node:
        return replace(wish, around=(wish.node,), most=READABLE_NODES)
    person = queries.find_person(space)
    return replace(wish, around=(person,) if person else (), depth=2, most=READABLE_NODES)


def _name_start(wish: GraphRequest, centre: GraphNode | None) -> str:
    """What the trail calls it."""
    if wish.ask:
        return wish.ask
    return centre.text if centre else gettext("Everything")


def _render_graph(request: ConsoleRequest, space: Any, wish: GraphRequest) -> HttpResponse:
    now, weights = timezone.now(), _load_weights(space)
    centre = queries.find_node(space, wish.around[0], weights, now) if wish.around else None
    context: dict[str, Any] = {
        "wish": wish,
        "choices": {
            "kinds": [(kind, label, kind in wish.kinds) for kind, label in NODE_KINDS.items()],
            "links": [(kind, said[0], kind in wish.links) for kind, said in LINK_KINDS.items()],
            "depths": link_graph.DEPTHS,
            "limits": link_graph.NODE_LIMITS,
            "colours": link_graph.COLOUR_OPTIONS,
        },
        "centre": centre,
    }
    if wish.view != "picture":
        graph = queries.load_graph(space, replace(wish, speakers=True), weights, now)
        context |= _build_graph_table(space, wish, graph)
    elif space.facts or space.notes or space.entities:
        where = reverse("space-graph-data", args=[space.id], query=wish.data_params)
        people = queries.load_people(space, MAX_PEOPLE)
        context |= {
            "drawn": True,
            "data": where,
            "people": people,
            "here": _name_start(wish, centre),
        }
    return render_tab(request, space, "graph", "graph/graph.html", **context)


def _load_weights(space: Space) -> HeatPolicy:
    return load_effective_policy(space).policy.heat


def _build_graph_table(space: Space, wish: GraphRequest, found: LinkGraph) -> dict[str, Any]:
    if wish.view == "links":
        pairs = slice_page(link_graph.list_linked_pairs(found, wish), wish.page)
        shown = pairs.map(
            lambda one: (one, build_node_address(space, one[0]), build_node_address(space, one[2]))
        )
        return {"page": shown, "left_out": found.left_out, "noun": "link"}
    rows = slice_page(link_graph.list_graph_rows(found, wish), wish.page)
    shown = rows.map(lambda row: (row, build_node_address(space, row.node)))
    return {"page": shown, "left_out": found.left_out, "noun": "memory"}


def build_node_address(space: Space, node: GraphNode) -> str:
    """Of the memory's own page; an entity's are the facts that name it."""
    if node.kind == "entity":
        query = {"status": "all", "q": node.text}
        return reverse("space-facts", args=[space.id], query=query)
    return reverse(f"space-{node.kind}", args=[space.id, node.id])


@page_at("spaces/<uuid:space_id>/graph/data.json", "space-graph-data")
@gzip_page
@conditional_page
@tenant_page()
def graph_data(request: ConsoleRequest, space_id: UUID) -> HttpResponse:
    """What the picture is drawn from: see `link_graph.serialize_graph`."""
    space = get_space_or_404(space_id, timezone.now())
    wish = link_graph.read_graph_request(request.GET)
    found = queries.load_graph(space, wish, _load_weights(space), timezone.now())
    return render_cached_json(link_graph.serialize_graph(found))


def render_cached_json(values: dict[str, Any]) -> HttpResponse:
    """Kept by the browser, and asked for each time whether it still holds."""
    answer = JsonResponse(values, json_dumps_params={"separators": (",", ":")})
    answer["Cache-Control"] = "private, no-cache"
    return answer


@page_at("spaces/<uuid:space_id>/graph/about", "space-graph-about")
@tenant_page()
def graph_node_part(request: ConsoleRequest, space_id: UUID) -> HttpResponse:
    """The panel of the memory `node`, without a frame; a hint without one."""
    now = timezone.now()
    space = get_space_or_404(space_id, now)
    wanted = request.GET.get("node", "")
    if not wanted:
        return render(request, "parts/graph_about.html", {"space": space})
    node_id, weights = link_graph.parse_node_id(wanted), _load_weights(space)
    node = queries.find_node(space, node_id, weights, now) if node_id else None
    if node is None:
        raise Http404
    around = queries.load_graph_neighbours(space, node, weights, now)
    row_id = UUID(node.id)
    context = {
        "space": space,
        "node": node,
        "address": build_node_address(space, node),
        "fact": _load_node_fact(node),
        "sources": load_sources(node.kind, [row_id])[row_id][:3],
        "around": around[:MAX_SHOWN_NEIGHBOURS],
        "count": len(around),
    }
    return render(request, "parts/graph_about.html", context)


def _load_node_fact(node: GraphNode) -> FactRow | None:
    """With what replaced it, for the words on its validity."""
    if node.kind != "fact":
        return None
    row: Fact | None = Fact.objects.filter(id=node.id).first()
    return FactRow(row, load_successors([row]).get(row.id), []) if row else None
