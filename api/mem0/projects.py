"""The key's tenant, as the organisation and the project of these clients: its only one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar
from uuid import UUID

from django.db.models import Q
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from api.core.authentication import get_request_key
from api.core.fields import NameField, PatternField, list_names, validate_body
from api.core.views import get_whole_tenant_id
from api.mem0.views import Mem0View, format_actor, get_own_key
from api.models import Mem0Project
from memoryhub.errors import Conflict, InvalidInput, MemoryHubError, NotFound
from memoryhub.tenants import people
from memoryhub.tenants.models import Membership, Tenant
from memoryhub.tenants.scope import tenant_scope

# What these steer at mem0 is the policy's business here: setting one is refused.
PROJECT_SETTINGS = list_names(
    "custom_instructions agent_custom_instructions custom_categories multilingual decay "
    "memory_depth enable_graph usecase_setting retrieval_criteria version"
)
# What the hub does anyway: the language of what was said is kept.
_GIVEN_SETTINGS: Mapping[str, Any] = {"multilingual": True}
_ROLE_NAMES = {Membership.Role.ADMIN: "OWNER"}
_ROLE_BY_NAME = {"OWNER": Membership.Role.ADMIN, "READER": Membership.Role.VIEWER}
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
    scopes: ClassVar = {"GET": "read", "POST": "admin"}

    def get(self, request: Request, org_id: str) -> Response:
        key = get_own_key(request, org_id)
        with tenant_scope(key.tenant_id):
            return Response([_render_project(Tenant.objects.get(id=key.tenant_id))])

    def post(self, request: Request, org_id: str) -> Response:
        get_own_key(request, org_id)
        raise MemoryHubError(
            "another project is another tenant: `manage.py create_tenant` makes it"
        )


class ProjectView(Mem0View):
    scopes: ClassVar = {"GET": "read", "PATCH": "admin", "DELETE": "admin"}

    def get(self, request: Request, org_id: str, project_id: str) -> Response:
        key = get_own_key(request, org_id, project_id)
        fields = request.query_params.getlist("fields")
        with tenant_scope(key.tenant_id):
            shown = _render_project(Tenant.objects.get(id=key.tenant_id))
        return Response({f: shown.get(f) for f in fields} if fields else shown)

    def patch(self, request: Request, org_id: str, project_id: str) -> Response:
        key, body = get_own_key(request, org_id, project_id), self.read_body(request)
        named = validate_body(ProjectSerializer, body)
        _refuse_settings({name: body[name] for name in body.keys() - {*named, *_ID_FIELDS}})
        with tenant_scope(key.tenant_id):
            row, _ = Mem0Project.objects.select_for_update().get_or_create(tenant_id=key.tenant_id)
            row.name = named.get("name", row.name)
            row.description = named.get("description", row.description) or ""
            row.save()
        return Response({"message": "Updated the project"})

    def delete(self, request: Request, org_id: str, project_id: str) -> Response:
        get_own_key(request, org_id, project_id)
        raise MemoryHubError("the project is the tenant: only who runs the hub ends it")


def _refuse_settings(settings: Mapping[str, Any]) -> None:
    """Raises InvalidInput where one is not known, or would have to change what the hub does."""
    if unknown := sorted(set(settings) - set(PROJECT_SETTINGS)):
        known = ", ".join(PROJECT_SETTINGS)
        raise InvalidInput(f"there is no such setting; known: {known}", field=unknown[0])
    followed = [name for name, value in _GIVEN_SETTINGS.items() if settings.get(name) == value]
    if steering := sorted(name for name in settings if settings[name] and name not in followed):
        told = f"{', '.join(steering)}: not followed here, and not kept. What is read, and how"
        raise InvalidInput(
            f"{told}, is in the hub's policy: POST /api/v1/policy", field=steering[0]
        )


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
        **{name: _GIVEN_SETTINGS.get(name) for name in PROJECT_SETTINGS},
    }


class ProjectMembersView(Mem0View):
    """The people who may sign in to the console for this tenant."""

    scopes: ClassVar = dict.fromkeys(("GET", "POST", "PUT", "DELETE"), "admin")

    def get(self, request: Request, org_id: str, project_id: str) -> Response:
        key = get_own_key(request, org_id, project_id)
        with tenant_scope(key.tenant_id):
            rows = Membership.objects.filter(tenant_id=key.tenant_id).select_related("user")
            members = [_render_member(row) for row in rows.order_by("user__username")]
        return Response({"members": members})

    def post(self, request: Request, org_id: str, project_id: str) -> Response:
        """Lets a person in who signs in by their address. The password is in this answer alone."""
        given = self._read_member(request, org_id, project_id)
        member, password = people.add_person(
            get_whole_tenant_id(request),
            given["email"],
            _ROLE_BY_NAME[given["role"]],
            email=given["email"],
            actor=format_actor(request),
        )
        told = {"message": "Added the member", **_render_member(member), "password": password}
        return Response(told, headers={"Cache-Control": "no-store"})

    def put(self, request: Request, org_id: str, project_id: str) -> Response:
        given = self._read_member(request, org_id, project_id)
        tenant_id, actor = get_whole_tenant_id(request), format_actor(request)
        member = _get_member(tenant_id, given["email"])
        people.set_member_role(tenant_id, member.id, _ROLE_BY_NAME[given["role"]], actor=actor)
        return Response({"message": "Updated the member"})

    def delete(self, request: Request, org_id: str, project_id: str) -> Response:
        get_own_key(request, org_id, project_id)
        tenant_id, email = get_whole_tenant_id(request), request.query_params.get("email", "")
        member = _get_member(tenant_id, email)
        people.remove_person(tenant_id, member.id, actor=format_actor(request))
        return Response({"message": "Removed the member"})

    def _read_member(self, request: Request, org_id: str, project_id: str) -> dict[str, Any]:
        get_own_key(request, org_id, project_id)
        return validate_body(MemberSerializer, self.read_body(request))


class MemberSerializer(serializers.Serializer[Any]):
    email = PatternField(shape=r"^[A-Za-z0-9.+_-]+@[A-Za-z0-9.-]+$", max_length=150)
    role = serializers.ChoiceField(choices=tuple(_ROLE_BY_NAME), default="READER")


def _get_member(tenant_id: UUID, email: str) -> Membership:
    """Whoever signs in by this address, or has it. Raises NotFound, and Conflict for several."""
    with tenant_scope(tenant_id):
        rows = Membership.objects.filter(tenant_id=tenant_id).select_related("user")
        found = list(rows.filter(Q(user__username=email) | Q(user__email=email))) if email else []
    if len(found) > 1:
        raise Conflict("several members have this address: use the console")
    if not found:
        raise NotFound("There is no such member.")
    return found[0]


def _render_member(row: Membership) -> dict[str, Any]:
    return {
        "username": row.user.username,
        "email": row.user.email,
        "role": _ROLE_NAMES.get(Membership.Role(row.role), "READER"),
    }
