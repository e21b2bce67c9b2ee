"""The people of a tenant and their roles."""

from __future__ import annotations

from typing import Any, ClassVar

from django.db.models import QuerySet
from rest_framework import serializers
from rest_framework.request import Request

from api.core.fields import PatternField
from api.rows.columns import ID, TEXT, Column, Resource
from api.rows.lists import render_row
from api.rows.read_views import TenantListView
from api.rows.write_views import (
    EmptySerializer,
    TenantWriteRequest,
    TenantWriteView,
    get_whole_tenant_id,
)
from memoryhub.tenants.models import Membership
from memoryhub.tenants.people import add_person, remove_person, set_member_role
from memoryhub.tenants.scope import tenant_scope

MEMBERS = Resource(
    "member",
    "A person who may sign in to the tenant's console, and as what.",
    Membership,
    {
        "id": ID,
        "username": Column("text", "user__username"),
        "email": Column("text", "user__email"),
        "role": TEXT,
        "last_login": Column("time", "user__last_login"),
    },
    order=("username", "id"),
)
# Of Django's user names.
_USERNAME_PATTERN = r"^[A-Za-z0-9@.+_-]+$"
# A pattern: messages have roles of another kind, and OpenAPI names enumerations by their field.
_ROLE_PATTERN = f"^({'|'.join(Membership.Role.values)})$"
_EMAIL_PATTERN = r"^([A-Za-z0-9.+_-]+@[A-Za-z0-9.-]+)?$"


class NewMemberSerializer(serializers.Serializer[Any]):
    username = PatternField(shape=_USERNAME_PATTERN, max_length=150)
    role = PatternField(shape=_ROLE_PATTERN)
    email = PatternField(shape=_EMAIL_PATTERN, required=False, default="", max_length=254)


class MemberRoleSerializer(serializers.Serializer[Any]):
    role = PatternField(shape=_ROLE_PATTERN)


class MembersView(TenantListView):
    resource = MEMBERS
    scopes: ClassVar = {"GET": "admin"}

    def select_rows(self, request: Request) -> QuerySet[Any]:
        get_whole_tenant_id(request)
        return MEMBERS.select_rows()


class _MemberWriteView(TenantWriteView):
    def render_member(self, deed: TenantWriteRequest, row_id: Any) -> dict[str, Any]:
        with tenant_scope(deed.tenant_id):
            return {"member": render_row(MEMBERS, MEMBERS.select_rows(), row_id)}

    def build_response_schema(self) -> dict[str, Any]:
        return {"type": "object", "properties": {"member": MEMBERS.build_schema()}}


class NewMemberView(_MemberWriteView):
    """Let a new person in. The password is in this answer and never again."""

    serializer_class = NewMemberSerializer
    secret_field = "password"  # noqa: S105  # the name of a field
    example: ClassVar = {"username": "ida", "role": "editor", "email": "ida@example.com"}

    def run_write(self, deed: TenantWriteRequest, **ids: Any) -> dict[str, Any]:
        given = deed.given
        made, password = add_person(
            deed.tenant_id,
            given["username"],
            given["role"],
            email=given["email"],
            actor=deed.actor,
        )
        return self.render_member(deed, made.id) | {"password": password}

    def build_response_schema(self) -> dict[str, Any]:
        schema = super().build_response_schema()
        schema["properties"]["password"] = {"type": ["string", "null"]}
        return schema


class SetMemberRoleView(_MemberWriteView):
    """Give a person another role."""

    serializer_class = MemberRoleSerializer
    example: ClassVar = {"role": "viewer"}

    def run_write(self, deed: TenantWriteRequest, **ids: Any) -> dict[str, Any]:
        set_member_role(deed.tenant_id, ids["row_id"], deed.given["role"], actor=deed.actor)
        return self.render_member(deed, ids["row_id"])


class RemoveMemberView(_MemberWriteView):
    """Take a person out of the tenant."""

    serializer_class = EmptySerializer

    def run_write(self, deed: TenantWriteRequest, **ids: Any) -> dict[str, Any]:
        shown = self.render_member(deed, ids["row_id"])
        remove_person(deed.tenant_id, ids["row_id"], actor=deed.actor)
        return shown
