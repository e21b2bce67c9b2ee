"""Exports and summaries. Nothing is stored for an export: its id says what it is to hold, signed,
and it is put together when it is fetched. A schema is filled from memories as it stands there."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, ClassVar
from uuid import UUID

from django.core import signing
from django.utils import timezone
from rest_framework.request import Request
from rest_framework.response import Response

from api.core.authentication import get_request_key
from api.mem0 import render
from api.mem0.requests import list_ignored, name_ignored
from api.mem0.schemas import KnownValue, fill_schema, read_schema
from api.mem0.search import read_filters
from api.mem0.select import (
    MemorySelection,
    build_visible_condition,
    select_everything,
    select_memories,
)
from api.mem0.views import Mem0View
from memoryhub.errors import InvalidInput, NotFound
from memoryhub.tenants.keys import KeyRow
from memoryhub.tenants.models import Space
from memoryhub.tenants.scope import tenant_scope
from notes.episodes.store import load_rolling_text
from notes.graph.identity import normalise_name
from notes.models import Episode, Fact

MAX_EXPORTED = 50_000
# Memories that stand in for a summary where none is written, and characters of them.
_MOST_SUMMED_UP, _MOST_CHARACTERS = 30, 2_000
_SALT = "mem0.export"


def _select_visible(key: KeyRow, filters: Mapping[str, object]) -> MemorySelection:
    """Call inside the tenant's scope. Raises InvalidInput."""
    return select_memories(key, filters, build_visible_condition(timezone.now(), expired=False))


def list_known_values(facts: Iterable[Fact]) -> list[KnownValue]:
    """What memories say, as properties of a schema take it. Only what is said of the subjects
    themselves gives its predicate a value, and a denial gives none."""
    owners: dict[UUID, set[str]] = {}
    found = []
    for fact in facts:
        if fact.space_id not in owners:
            owners[fact.space_id] = {normalise_name(name) for name in fact.space.called_names}
        is_own = normalise_name(fact.owner) in owners[fact.space_id]
        predicate = fact.predicate_key if is_own and fact.polarity == "holds" else ""
        found.append(KnownValue(predicate, fact.object or fact.complement, fact.text))
    return found


class CreateExportView(Mem0View):
    scopes: ClassVar = {"POST": "read"}

    def post(self, request: Request) -> Response:
        body, key = self.read_body(request), get_request_key(request)
        filters, schema = read_filters(body), read_schema(body.get("schema"))
        with tenant_scope(key.tenant_id):
            _select_visible(key, filters)  # refused now if wrong
        joined = {"AND": list(filters.values())}
        wanted = {"tenant": str(key.tenant_id), "filters": joined, "schema": schema}
        export_id = signing.dumps(wanted, salt=_SALT, compress=True)
        told = {"message": "The export can be fetched", "status": "SUCCEEDED", "id": export_id}
        return Response(name_ignored(told, list_ignored(body, ("schema", "filters"))))


class FetchExportView(Mem0View):
    scopes: ClassVar = {"POST": "read"}

    def post(self, request: Request) -> Response:
        body, key = self.read_body(request), get_request_key(request)
        export_id = body.get("memory_export_id")
        if export_id is None:
            filters, schema = read_filters(body), read_schema(body.get("schema"))
        else:
            filters, schema = _read_signed_export(key, export_id)
        with tenant_scope(key.tenant_id):
            rows = list(_select_visible(key, filters).rows[: MAX_EXPORTED + 1])
        if len(rows) > MAX_EXPORTED:
            raise InvalidInput(
                f"more than {MAX_EXPORTED} memories: export them in parts", field="filters"
            )
        if schema:
            return Response(fill_schema(schema, list_known_values(rows)))
        return Response({"memories": [render.render_memory(fact) for fact in rows]})


def _read_signed_export(key: KeyRow, export_id: object) -> tuple[dict[str, object], dict[str, Any]]:
    """(filters, schema) of an export of this tenant. Raises NotFound."""
    try:
        made = signing.loads(str(export_id), salt=_SALT)
    except (signing.BadSignature, ValueError):
        made = {}
    if made.get("tenant") != str(key.tenant_id):
        raise NotFound("There is no such export.")
    return {"filters": made["filters"]}, made["schema"]


class SummaryView(Mem0View):
    """What is summed up of users; where nothing is, and of parts, the latest memories."""

    scopes: ClassVar = {"POST": "read"}

    def post(self, request: Request) -> Response:
        body, key = self.read_body(request), get_request_key(request)
        filters = read_filters(body)
        with tenant_scope(key.tenant_id):
            if filters:
                chosen = _select_visible(key, filters)
            else:
                now = build_visible_condition(timezone.now(), expired=False)
                chosen = select_everything(key, now)
            results = [
                {"user_id": space.subject, "summary": _summarise(chosen, space)}
                for space in chosen.spaces
            ]
        texts = [each["summary"] for each in results if each["summary"]]
        told = {"summary": "\n\n".join(texts), "results": results}
        return Response(name_ignored(told, list_ignored(body, ("filters",))))


def _summarise(chosen: MemorySelection, space: Space) -> str:
    written = _find_summary(space) if chosen.covers_whole_spaces else ""
    return written or _join_latest_memories(chosen, space)


def _join_latest_memories(chosen: MemorySelection, space: Space) -> str:
    kept: list[str] = []
    for text in chosen.rows.filter(space=space).values_list("text", flat=True)[:_MOST_SUMMED_UP]:
        if sum(map(len, kept)) + len(text) > _MOST_CHARACTERS:
            break
        kept.append(text)
    return "\n".join(kept)


def _find_summary(space: Space) -> str:
    """The summary of all days, else the summary so far, else nothing."""
    kept = Episode.objects.filter(
        space=space, kind=Episode.Kind.GLOBAL, retired_at=None, stale=False
    )
    newest = kept.order_by("-to_at").values_list("text", flat=True).first()
    return newest or load_rolling_text(space)
