"""Searching and listing memories."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from django.utils import timezone
from rest_framework.request import Request
from rest_framework.response import Response

from api.core.authentication import get_request_key
from api.core.fields import validate_body
from api.mem0 import render
from api.mem0.requests import (
    LIST_FIELDS,
    SEARCH_FIELDS,
    ListMemoriesSerializer,
    SearchMemoriesSerializer,
    build_extra_filters,
    list_ignored,
    name_ignored,
    select_fields,
)
from api.mem0.select import (
    MemorySelection,
    annotate_mem0_names,
    build_visible_condition,
    read_top_level_ids,
    select_memories,
)
from api.mem0.views import Mem0View, build_page
from memoryhub.dialogues.messages import check_text, to_utc
from memoryhub.errors import InvalidInput
from memoryhub.recall.question.caller import SearchCaller
from memoryhub.recall.render.results import MemoryItem
from memoryhub.tenants.keys import KeyRow
from memoryhub.tenants.models import Space
from memoryhub.tenants.scope import tenant_scope
from notes.models import Fact

MAX_RESULTS = 100
# A search looks into one space after the other.
MAX_SPACES = 20


def read_filters(body: Mapping[str, Any]) -> dict[str, object]:
    """What was sent as filters, and the ids beside them, by parameter."""
    sent = body.get("filters")
    return ({} if sent in (None, {}) else {"filters": sent}) | read_top_level_ids(body)


class SearchMemoriesView(Mem0View):
    scopes: ClassVar = {"POST": "read"}

    def post(self, request: Request) -> Response:
        body, key = self.read_body(request), get_request_key(request)
        wanted = validate_body(SearchMemoriesSerializer, body)
        query = check_text(wanted["query"], field="query")
        as_of = wanted["reference_date"]
        as_of = as_of and to_utc(as_of, "UTC", field="reference_date")
        shown = build_visible_condition(
            as_of or timezone.now(), expired=bool(wanted["show_expired"])
        )
        with tenant_scope(key.tenant_id):
            chosen = select_memories(key, read_filters(body) | build_extra_filters(body), shown)
            if len(chosen.spaces) > MAX_SPACES:
                message = f"memories of more than {MAX_SPACES} users: name them"
                raise InvalidInput(message, field="filters")
            only = {space.id: _list_selected_ids(chosen, space) for space in chosen.spaces}
        asked = wanted["limit"] or wanted["top_k"] or 10
        most = min(asked, MAX_RESULTS)
        options: dict[str, Any] = {
            "limit": most,
            "as_of": as_of,
            "include_past": bool(wanted["show_expired"]),
            "asked_by": SearchCaller("mem0", str(key.id)),
        }
        least = wanted["threshold"] or 0.0
        hits = [
            hit
            for space in chosen.spaces
            if only[space.id] != []
            for hit in _search_space(space, query, only[space.id], options)
            if hit[0] >= least
        ]
        hits.sort(key=lambda hit: -hit[0]) if len(chosen.spaces) > 1 else None
        results = _render_hits(key, hits[:most])
        told = {"results": select_fields(results, body.get("fields"))}
        followed = set(SEARCH_FIELDS)
        if asked > most:
            followed.remove("limit" if wanted["limit"] else "top_k")
        return Response(name_ignored(told, list_ignored(body, followed)))


def _list_selected_ids(chosen: MemorySelection, space: Space) -> list[Any] | None:
    """The ids of the memories that pass, None where all of the space's do."""
    if chosen.covers_whole_spaces:
        return None
    rows = chosen.rows.filter(space=space).order_by()
    return list(rows.values_list("id", flat=True))


SearchHit = tuple[float, MemoryItem, float, float]


def _search_space(
    space: Space, query: str, only: list[Any] | None, options: dict[str, Any]
) -> list[SearchHit]:
    """(score, memory, likeness, share of words), best first."""
    from memoryhub.recall.services import search_memories

    kinds: dict[str, Any] = {"kinds": ["fact"], "channels": ["facts"], "select": "fused"}
    found = search_memories(
        space, query, **kinds, only=only, explain=True, unasked=False, nearest=True, **options
    )
    allowed = None if only is None else set(only)
    return [_build_hit(item) for item in found.items if allowed is None or item.id in allowed]


def _build_hit(item: MemoryItem) -> SearchHit:
    from memoryhub.recall.ranking.select import measure_likeness

    arms = [finding.arms for finding in item.found]
    dense = next((a["dense"].score for a in arms if "dense" in a), None)
    lexical = next((a["lexical"].score for a in arms if "lexical" in a), 0.0)
    return measure_likeness(dense, lexical), item, dense or 0.0, lexical


def _render_hits(key: KeyRow, hits: list[SearchHit]) -> list[dict[str, Any]]:
    with tenant_scope(key.tenant_id):
        rows = Fact.objects.filter(id__in=[hit[1].id for hit in hits])
        facts = annotate_mem0_names(rows).in_bulk()
    return [
        render.render_search_hit(facts[item.id], score, dense, lexical)
        for score, item, dense, lexical in hits
        if item.id in facts
    ]


class BareSearchMemoriesView(SearchMemoriesView):
    """As the oldest clients want it: a list."""

    def post(self, request: Request) -> Response:
        answer = super().post(request)
        is_wrapped = self.read_body(request).get("output_format") == "v1.1"
        return answer if is_wrapped else Response(answer.data["results"])


def _render_memories(facts: list[Fact]) -> list[dict[str, Any]]:
    return [render.render_memory(fact) for fact in facts]


def list_memories(request: Request, body: Mapping[str, Any]) -> dict[str, Any]:
    """A page of the memories that pass the request's filters."""
    key, wanted = get_request_key(request), validate_body(ListMemoriesSerializer, body)
    shown = build_visible_condition(timezone.now(), expired=bool(wanted["show_expired"]))
    with tenant_scope(key.tenant_id):
        rows = select_memories(key, read_filters(body) | build_extra_filters(body), shown).rows
        page = build_page(request, rows, _render_memories, body)
    page["results"] = select_fields(page["results"], body.get("fields"))
    return name_ignored(page, list_ignored(body, LIST_FIELDS))


class ListMemoriesView(Mem0View):
    scopes: ClassVar = {"POST": "read"}

    def post(self, request: Request) -> Response:
        return Response(list_memories(request, self.read_body(request)))
