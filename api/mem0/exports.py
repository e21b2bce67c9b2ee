"""Exports and summaries. Nothing is stored for an export: its id says what it is to hold, signed,
and it is put together when it is fetched."""

from __future__ import annotations

from typing import Any, ClassVar

from django.core import signing
from django.utils import timezone
from rest_framework.request import Request
from rest_framework.response import Response

from api.core.authentication import get_request_key
from api.mem0 import render
from api.mem0.search import read_filters
from api.mem0.select import MemorySelection, build_visible_condition, select_memories
from api.mem0.views import Mem0View
from memoryhub.errors import InvalidInput, NotFound
from memoryhub.tenants.keys import KeyRow
from memoryhub.tenants.models import Space
from memoryhub.tenants.scope import tenant_scope
from notes.episodes.store import load_rolling_text
from notes.models import Episode

MAX_EXPORTED = 50_000
_SALT = "mem0.export"


def _select_visible(key: KeyRow, filters: object) -> MemorySelection:
    """Call inside the tenant's scope. Raises InvalidInput."""
    return select_memories(key, filters, build_visible_condition(timezone.now(), expired=False))


class CreateExportView(Mem0View):
    scopes: ClassVar = {"POST": "read"}

    def post(self, request: Request) -> Response:
        body, key = self.read_body(request), get_request_key(request)
        filters = read_filters(body)
        with tenant_scope(key.tenant_id):
            _select_visible(key, filters)  # refused now if wrong
        export_id = signing.dumps({"tenant": str(key.tenant_id), "filters": filters}, salt=_SALT)
        told = {"message": "The export can be fetched", "status": "SUCCEEDED", "id": export_id}
        ignored = [name for name in ("schema", "export_instructions") if body.get(name)]
        return Response(told | {"ignored": ignored})


class FetchExportView(Mem0View):
    scopes: ClassVar = {"POST": "read"}

    def post(self, request: Request) -> Response:
        body, key = self.read_body(request), get_request_key(request)
        export_id = body.get("memory_export_id")
        filters = read_filters(body) if export_id is None else _read_signed_filters(key, export_id)
        with tenant_scope(key.tenant_id):
            rows = _select_visible(key, filters).rows
            found = [render.render_memory(fact) for fact in rows[: MAX_EXPORTED + 1]]
        if len(found) > MAX_EXPORTED:
            raise InvalidInput(
                f"more than {MAX_EXPORTED} memories: export them in parts", field="filters"
            )
        return Response({"memories": found})


def _read_signed_filters(key: KeyRow, export_id: object) -> Any:
    """The filters of an export of this tenant. Raises NotFound."""
    try:
        made = signing.loads(str(export_id), salt=_SALT)
    except (signing.BadSignature, ValueError):
        made = {}
    if made.get("tenant") != str(key.tenant_id):
        raise NotFound("There is no such export.")
    return made["filters"]


class SummaryView(Mem0View):
    """What is summed up of users as a whole."""

    scopes: ClassVar = {"POST": "read"}

    def post(self, request: Request) -> Response:
        body, key = self.read_body(request), get_request_key(request)
        with tenant_scope(key.tenant_id):
            chosen = _select_visible(key, read_filters(body))
            if not chosen.covers_whole_spaces:
                raise InvalidInput("only users as a whole are summed up", field="filters")
            results = [{"user_id": s.subject, "summary": _find_summary(s)} for s in chosen.spaces]
        texts = [each["summary"] for each in results if each["summary"]]
        return Response({"summary": "\n\n".join(texts), "results": results})


def _find_summary(space: Space) -> str:
    """The summary of all days, else the summary so far, else nothing."""
    kept = Episode.objects.filter(
        space=space, kind=Episode.Kind.GLOBAL, retired_at=None, stale=False
    )
    newest = kept.order_by("-to_at").values_list("text", flat=True).first()
    return newest or load_rolling_text(space)
