"""Searching and listing memories."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from django.utils import timezone
from rest_framework.request import Request
from rest_framework.response import Response

from api.authentication import key_of
from api.mem0 import items
from api.mem0.requests import (
    ListSerializer,
    SearchSerializer,
    checked,
    narrowing,
    only_fields,
)
from api.mem0.selecting import Selection, labelled, select, top_level, visible
from api.mem0.views import Mem0View, paged
from memoryhub.dialogues.messages import checked_text, in_zone
from memoryhub.errors import InvalidInput
from memoryhub.recall.asking import Asker
from memoryhub.recall.results import Item
from memoryhub.tenants.keys import KeyRow
from memoryhub.tenants.models import Space
from memoryhub.tenants.scope import tenant_scope
from notes.models import Fact

MOST = 100
# A search looks into one space after the other.
MOST_SPACES = 20


def filters_of(body: Mapping[str, Any]) -> object:
    """What was sent as filters, together with ids sent beside them."""
    sent, beside = body.get("filters"), top_level(body)
    if sent is None or sent == {}:
        return beside
    return {"AND": [sent, beside]} if beside else sent


class SearchView(Mem0View):
    scopes: ClassVar = {"POST": "read"}

    def post(self, request: Request) -> Response:
        body, key = self.body(request), key_of(request)
        wanted = checked(SearchSerializer, body)
        query = checked_text(wanted["query"], field="query")
        as_of = wanted["reference_date"]
        as_of = as_of and in_zone(as_of, "UTC", field="reference_date")
        shown = visible(as_of or timezone.now(), expired=bool(wanted["show_expired"]))
        with tenant_scope(key.tenant_id):
            chosen = select(key, filters_of(body), shown, more=narrowing(body))
            only = {space.id: _only(chosen, space) for space in _few(chosen.spaces)}
        most = min(wanted["limit"] or wanted["top_k"] or 10, MOST)
        options: dict[str, Any] = {
            "limit": most,
            "as_of": as_of,
            "include_past": bool(wanted["show_expired"]),
            "asked_by": Asker("mem0", str(key.id)),
        }
        least = wanted["threshold"] if wanted["threshold"] is not None else 0.0
        hits = [
            hit
            for space in chosen.spaces
            if only[space.id] != []
            for hit in _found(space, query, only[space.id], options)
            if hit[0] >= least
        ]
        hits.sort(key=lambda hit: -hit[0]) if len(chosen.spaces) > 1 else None
        results = _told(key, hits[:most])
        return Response({"results": only_fields(results, body.get("fields"))})


def _few(spaces: list[Space]) -> list[Space]:
    if len(spaces) > MOST_SPACES:
        most = f"memories of more than {MOST_SPACES} users: name them"
        raise InvalidInput(most, field="filters")
    return spaces


def _only(chosen: Selection, space: Space) -> list[Any] | None:
    """The ids of the memories that pass, None where all of the space's do."""
    if chosen.whole:
        return None
    rows = chosen.rows.filter(space=space).order_by()
    return list(rows.values_list("id", flat=True))


Hit = tuple[float, Item, float, float]


def _found(space: Space, query: str, only: list[Any] | None, options: dict[str, Any]) -> list[Hit]:
    """(score, memory, likeness, share of words), best first."""
    from memoryhub.recall.services import search

    found = search(
        space,
        query,
        kinds=["fact"],
        channels=["facts"],
        select="fused",
        only=only,
        explain=True,
        **options,
    )
    allowed = None if only is None else set(only)
    return [_hit(item) for item in found.items if allowed is None or item.id in allowed]


def _hit(item: Item) -> Hit:
    arms = [finding.arms for finding in item.found]
    dense = next((a["dense"].score for a in arms if "dense" in a), None)
    lexical = next((a["lexical"].score for a in arms if "lexical" in a), 0.0)
    return items.relevance(dense, lexical), item, dense or 0.0, lexical


def _told(key: KeyRow, hits: list[Hit]) -> list[dict[str, Any]]:
    with tenant_scope(key.tenant_id):
        facts = labelled(Fact.objects.filter(id__in=[hit[1].id for hit in hits])).in_bulk()
    return [
        items.found(facts[item.id], score, dense, lexical)
        for score, item, dense, lexical in hits
        if item.id in facts
    ]


class BareSearchView(SearchView):
    """As the oldest clients want it: a list."""

    def post(self, request: Request) -> Response:
        found = super().post(request).data["results"]
        is_wrapped = self.body(request).get("output_format") == "v1.1"
        return Response({"results": found} if is_wrapped else found)


def listed(request: Request, body: Mapping[str, Any]) -> dict[str, Any]:
    """A page of the memories that pass the request's filters."""
    key, wanted = key_of(request), checked(ListSerializer, body)
    shown = visible(timezone.now(), expired=bool(wanted["show_expired"]))
    with tenant_scope(key.tenant_id):
        rows = select(key, filters_of(body), shown, more=narrowing(body)).rows
        page = paged(request, rows, lambda facts: [items.item(fact) for fact in facts])
    page["results"] = only_fields(page["results"], body.get("fields"))
    return page


class ListView(Mem0View):
    scopes: ClassVar = {"POST": "read"}

    def post(self, request: Request) -> Response:
        return Response(listed(request, self.body(request)))
