"""The key's tenant, as the organisation and the project of these clients: its only one."""

from __future__ import annotations

from typing import Any, ClassVar

from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from api.core.authentication import get_request_key
from api.core.fields import MetadataField, NameField, list_names, validate_body
from api.mem0.views import Mem0View, get_own_key
from api.models import Mem0Project
from memoryhub.errors import InvalidInput
from memoryhub.tenants.models import Membership, Tenant
from memoryhub.tenants.scope import tenant_scope

# Kept and given back. What they steer at mem0 is the policy's business here.
PROJECT_SETTINGS = list_names(
    "custom_instructions agent_custom_instructions custom_categories multilingual decay "
    "memory_depth enable_graph usecase_setting retrieval_criteria version"
)
_ROLE_NAMES = {Membership.Role.ADMIN: "OWNER"}
# Sent with every change by the clients themselves.
_ID_FIELDS = {"org_id", "project_id"}


class PingView(Mem0View):
    """Whose key it is; the clients' first call."""

    scopes: ClassVar = {"GET": "read"}

    def get(self, request: Request) -> Response:
        tenant_id = str(get_request_key(request).tenant_id)
        told = {"status": "ok", "message": "ok", "user_email": None}
        return Response(told | {"org_id": tenant_id, "project_id": tenant_id})


class ProjectSerializer(serializers.Serializer[Any]):
    name = NameField(required=False, max_length=200)
    description = NameField(required=False, allow_null=True, max_length=5_000)


class ProjectsView(Mem0View):
    scopes: ClassVar = {"GET": "read"}

    def get(self, request: Request, org_id: str) -> Response:
        key = get_own_key(request, org_id)
        with tenant_scope(key.tenant_id):
            return Response([_render_project(Tenant.objects.get(id=key.tenant_id))])


class ProjectView(Mem0View):
    scopes: ClassVar = {"GET": "read", "PATCH": "admin"}

    def get(self, request: Request, org_id: str, project_id: str) -> Response:
        key = get_own_key(request, org_id, project_id)
        fields = request.query_params.getlist("fields")
        with tenant_scope(key.tenant_id):
            shown = _render_project(Tenant.objects.get(id=key.tenant_id))
        return Response({f: shown.get(f) for f in fields} if fields else shown)

    def patch(self, request: Request, org_id: str, project_id: str) -> Response:
        key, body = get_own_key(request, org_id, project_id), self.read_body(request)
        named = validate_body(ProjectSerializer, body)
        settings = {
            name: value for name, value in body.items() if name not in {*named, *_ID_FIELDS}
        }
        if unknown := sorted(set(settings) - set(PROJECT_SETTINGS)):
            known = ", ".join(PROJECT_SETTINGS)
            raise InvalidInput(f"there is no such setting; known: {known}", field=unknown[0])
        settings = MetadataField().run_validation(settings)
        with tenant_scope(key.tenant_id):
            row, _ = Mem0Project.objects.select_for_update().get_or_create(tenant_id=key.tenant_id)
            row.name = named.get("name", row.name)
            row.description = named.get("description", row.description) or ""
            row.settings = MetadataField().run_validation({**row.settings, **settings})
            row.save()
        return Response({"message": "Updated the project"})


def _render_project(tenant: Tenant) -> dict[str, Any]:
    """Call inside the tenant's scope."""
    row = Mem0Project.objects.filter(tenant=tenant).first() or Mem0Project()
    return {
        "id": str(tenant.id),
        "project_id": str(tenant.id),
        "org_id": str(tenant.id),
        "name": row.name or tenant.name,
        "description": row.description,
        "created_at": tenant.created_at.isoformat(),
        **{name: row.settings.get(name) for name in PROJECT_SETTINGS},
    }


class ProjectMembersView(Mem0View):
    """The people who may sign in to the console for this tenant."""

    scopes: ClassVar = {"GET": "admin"}

    def get(self, request: Request, org_id: str, project_id: str) -> Response:
        key = get_own_key(request, org_id, project_id)
        with tenant_scope(key.tenant_id):
            rows = Membership.objects.filter(tenant_id=key.tenant_id).select_related("user")
            members = [
                {
                    "username": row.user.username,
                    "email": row.user.email,
                    "role": _ROLE_NAMES.get(Membership.Role(row.role), "READER"),
                }
                for row in rows.order_by("user__username")
            ]
        return Response({"members": members})
