"""The link graph of a space: the picture, the same as a table, and what is clicked on."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.http import Http404, HttpResponse, JsonResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.gzip import gzip_page
from django.views.decorators.http import conditional_page

from memoryhub.console import graphing
from memoryhub.console.access import tenant_page
from memoryhub.console.graphing import Node, Wish
from memoryhub.console.listing import page_in
from memoryhub.console.queries import graph as queries
from memoryhub.console.queries import memories
from memoryhub.console.queries.spaces import space_or_404
from memoryhub.console.quoting import SourceQuote
from memoryhub.console.requests import ConsoleRequest
from memoryhub.console.views.spaces import tab
from memoryhub.policies.services import policy_of
from memoryhub.tenants.models import Space
from notes.models import Fact

NEIGHBOURS = 12  # shown beside the picture


@tenant_page()
def graph(request: ConsoleRequest, space_id: UUID) -> HttpResponse:
    """The picture, which asks for its data itself, or one of the tables."""
    space = space_or_404(space_id, timezone.now())
    wish = graphing.read_wish(request.GET)
    context = {"wish": wish, "choices": _choices(wish), "centre": _centre(space, wish)}
    if wish.view != "picture":
        context |= _listed(space, wish)
    elif space.facts or space.notes or space.entities:
        where = reverse("space-graph-data", args=[space.id], query=wish.asked)
        context |= {"drawn": True, "data": where}
    return tab(request, space, "graph", **context)


def _centre(space: Space, wish: Wish) -> Node | None:
    if wish.around is None:
        return None
    return queries.node_of(space, wish.around, policy_of(space).policy.heat, timezone.now())


def _choices(wish: Wish) -> dict[str, Any]:
    return {
        "kinds": [(kind, label, kind in wish.kinds) for kind, label in graphing.KINDS.items()],
        "links": [(kind, said[0], kind in wish.links) for kind, said in graphing.LINKS.items()],
        "depths": graphing.DEPTHS,
        "colours": graphing.COLOURS,
    }


def _listed(space: Space, wish: Wish) -> dict[str, Any]:
    found = queries.graph_of(space, wish, policy_of(space).policy.heat, timezone.now())
    if wish.view == "links":
        pairs = page_in(graphing.pairs(found, wish), wish.page)
        shown = pairs.map(lambda one: (one, address(space, one[0]), address(space, one[2])))
        return {"page": shown, "left_out": found.left_out, "noun": "link"}
    rows = page_in(graphing.rows(found, wish), wish.page)
    shown = rows.map(lambda row: (row, address(space, row.node)))
    return {"page": shown, "left_out": found.left_out, "noun": "memory"}


def address(space: Space, node: Node) -> str:
    """Of the memory's own page; an entity's are the facts that name it."""
    if node.kind == "entity":
        query = {"status": "all", "q": node.text}
        return reverse("space-facts", args=[space.id], query=query)
    return reverse(f"space-{node.kind}", args=[space.id, node.id])


@gzip_page
@conditional_page
@tenant_page()
def data(request: ConsoleRequest, space_id: UUID) -> HttpResponse:
    """What the picture is drawn from: see `graphing.compact`."""
    space = space_or_404(space_id, timezone.now())
    wish = graphing.read_wish(request.GET)
    found = queries.graph_of(space, wish, policy_of(space).policy.heat, timezone.now())
    return compact_json(graphing.compact(found))


def compact_json(values: dict[str, Any]) -> HttpResponse:
    """Kept by the browser, and asked for each time whether it still holds."""
    answer = JsonResponse(values, json_dumps_params={"separators": (",", ":")})
    answer["Cache-Control"] = "private, no-cache"
    return answer


@tenant_page()
def about(request: ConsoleRequest, space_id: UUID) -> HttpResponse:
    """The panel of the memory `node`, without a frame; a hint without one."""
    now = timezone.now()
    space = space_or_404(space_id, now)
    wanted = request.GET.get("node", "")
    if not wanted:
        return render(request, "parts/graph_about.html", {"space": space})
    node_id, weights = graphing.an_id(wanted), policy_of(space).policy.heat
    node = queries.node_of(space, node_id, weights, now) if node_id else None
    if node is None:
        raise Http404
    around = queries.neighbours(space, node, weights, now)
    context = {
        "space": space,
        "node": node,
        "address": address(space, node),
        "fact": _fact(node),
        "sources": _sources(node),
        "around": around[:NEIGHBOURS],
        "count": len(around),
    }
    return render(request, "parts/graph_about.html", context)


def _sources(node: Node) -> list[SourceQuote]:
    node_id = UUID(node.id)
    return memories.sources_of(node.kind, [node_id])[node_id][:3]


def _fact(node: Node) -> memories.FactRow | None:
    """With what replaced it, for the words on its validity."""
    if node.kind != "fact":
        return None
    row: Fact | None = Fact.objects.prefetch_related("superseded_by").filter(id=node.id).first()
    return memories.FactRow(row, memories.successor(row), []) if row else None
