"""Exports and summaries. Nothing is stored for an export: its id says what it is to hold, signed,
and it is put together when it is fetched."""

from __future__ import annotations

from typing import Any, ClassVar

from django.core import signing
from django.utils import timezone
from rest_framework.request import Request
from rest_framework.response import Response

from api.authentication import key_of
from api.mem0 import items
from api.mem0.finding import filters_of
from api.mem0.selecting import select, visible
from api.mem0.views import Mem0View
from memoryhub.errors import InvalidInput, NotFound
from memoryhub.tenants.keys import KeyRow
from memoryhub.tenants.models import Space
from memoryhub.tenants.scope import tenant_scope
from notes.episodes import rolling_text
from notes.models import Episode

MOST = 50_000
_SALT = "mem0.export"


class ExportsView(Mem0View):
    scopes: ClassVar = {"POST": "read"}

    def post(self, request: Request) -> Response:
        body, key = self.body(request), key_of(request)
        filters = filters_of(body)
        with tenant_scope(key.tenant_id):
            select(key, filters, visible(timezone.now(), expired=False))  # refused now if wrong
        export_id = signing.dumps({"tenant": str(key.tenant_id), "filters": filters}, salt=_SALT)
        told = {"message": "The export can be fetched", "status": "SUCCEEDED", "id": export_id}
        ignored = [name for name in ("schema", "export_instructions") if body.get(name)]
        return Response(told | {"ignored": ignored})


class ExportView(Mem0View):
    scopes: ClassVar = {"POST": "read"}

    def post(self, request: Request) -> Response:
        body, key = self.body(request), key_of(request)
        export_id = body.get("memory_export_id")
        filters = filters_of(body) if export_id is None else _signed(key, export_id)
        with tenant_scope(key.tenant_id):
            rows = select(key, filters, visible(timezone.now(), expired=False)).rows
            found = [items.item(fact) for fact in rows[: MOST + 1]]
        if len(found) > MOST:
            raise InvalidInput(f"more than {MOST} memories: export them in parts", field="filters")
        return Response({"memories": found})


def _signed(key: KeyRow, export_id: object) -> Any:
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
        body, key = self.body(request), key_of(request)
        with tenant_scope(key.tenant_id):
            shown = visible(timezone.now(), expired=False)
            chosen = select(key, filters_of(body), shown)
            if not chosen.whole:
                raise InvalidInput("only users as a whole are summed up", field="filters")
            results = [{"user_id": s.subject, "summary": _summed_up(s)} for s in chosen.spaces]
        texts = [each["summary"] for each in results if each["summary"]]
        return Response({"summary": "\n\n".join(texts), "results": results})


def _summed_up(space: Space) -> str:
    """The summary of all days, else the summary so far, else nothing."""
    kept = Episode.objects.filter(
        space=space, kind=Episode.Kind.GLOBAL, retired_at=None, stale=False
    )
    newest = kept.order_by("-to_at").values_list("text", flat=True).first()
    return newest or rolling_text(space)
