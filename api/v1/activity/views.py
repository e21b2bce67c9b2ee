"""What was asked of the hub with a key, and what people and keys changed."""

from __future__ import annotations

from typing import Any, ClassVar

from django.db.models import OuterRef, QuerySet, Subquery
from rest_framework.request import Request
from rest_framework.response import Response

from api.models import LoggedRequest
from api.rows.columns import ID, NUMBER, TEXT, TIME, Column, Resource
from api.rows.lists import list_rows
from api.rows.read_views import TenantListView
from api.rows.write_views import get_whole_tenant_id
from api.schema.openapi import LOG_PARAMETERS
from api.v1.activity import audit
from memoryhub.tenants.models import ApiKey
from memoryhub.tenants.scope import tenant_scope
from notes.models import EvolutionEvent


def _build_key_name() -> dict[str, Any]:
    keys = ApiKey.objects.order_by().filter(id=OuterRef("key_id"))
    return {"key_name": Subquery(keys.values("name"))}


LOGGED_REQUESTS = Resource(
    "request",
    "A request that came with a key: its route as declared, how it ended and how long it took.",
    LoggedRequest,
    {
        "id": ID,
        "at": TIME,
        "method": TEXT,
        "route": TEXT,
        "status": NUMBER,
        "milliseconds": NUMBER,
        "error": TEXT,
        "request_id": TEXT,
        "key_id": ID,
        "key": Column("text", "key_name"),
    },
    order=("-at", "-id"),
    build_annotations=_build_key_name,
)
AUDIT_CHANGES = Resource(
    "change",
    "What a person or a key changed: of memories, policies, keys, people, webhooks, the tenant.",
    EvolutionEvent,  # one of four kinds of row
    {
        "id": ID,
        "at": Column("time", "when"),
        "actor": Column("text", "who"),
        "area": TEXT,
        "action": Column("text", "what"),
        "about": Column("text", "of"),
        "reason": Column("text", "why"),
        "subject": TEXT,
    },
    order=("-at", "-id"),
)


class RequestsView(TenantListView):
    """What was asked with the tenant's keys, the latest first."""

    resource = LOGGED_REQUESTS
    scopes: ClassVar = {"GET": "admin"}
    parameters: ClassVar = LOG_PARAMETERS

    def select_rows(self, request: Request) -> QuerySet[Any]:
        get_whole_tenant_id(request)
        return LOGGED_REQUESTS.select_rows()


class AuditView(TenantListView):
    """What people and keys changed, wherever it is kept, the latest first."""

    resource = AUDIT_CHANGES
    scopes: ClassVar = {"GET": "admin"}
    parameters: ClassVar = LOG_PARAMETERS

    def get(self, request: Request) -> Response:
        with tenant_scope(get_whole_tenant_id(request)):
            return Response(list_rows(request, AUDIT_CHANGES, *audit.build_audit_sources()))
