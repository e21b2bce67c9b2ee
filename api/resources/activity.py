"""What was asked of the hub with a key, and what people and keys changed."""

from __future__ import annotations

from typing import Any, ClassVar

from django.db.models import OuterRef, QuerySet, Subquery
from rest_framework.request import Request
from rest_framework.response import Response

from api import audit
from api.columns import ID, NUMBER, TEXT, TIME, Column, Resource
from api.listing import listed
from api.models import LoggedRequest
from api.resources.base import TenantListView
from api.resources.writing import whole_tenant
from api.schema import LOG_PARAMETERS
from memoryhub.tenants.models import ApiKey
from memoryhub.tenants.scope import tenant_scope
from notes.models import EvolutionEvent


def _key_name() -> dict[str, Any]:
    keys = ApiKey.objects.order_by().filter(id=OuterRef("key_id"))
    return {"key_name": Subquery(keys.values("name"))}


REQUESTS = Resource(
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
    annotations=_key_name,
)
AUDIT = Resource(
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

    resource = REQUESTS
    scopes: ClassVar = {"GET": "admin"}
    parameters: ClassVar = LOG_PARAMETERS

    def rows(self, request: Request) -> QuerySet[Any]:
        whole_tenant(request)
        return REQUESTS.rows()


class AuditView(TenantListView):
    """What people and keys changed, wherever it is kept, the latest first."""

    resource = AUDIT
    scopes: ClassVar = {"GET": "admin"}
    parameters: ClassVar = LOG_PARAMETERS

    def get(self, request: Request) -> Response:
        with tenant_scope(whole_tenant(request)):
            return Response(listed(request, AUDIT, *audit.sources()))
