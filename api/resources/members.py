"""The people of a tenant and their roles."""

from __future__ import annotations

from typing import Any, ClassVar

from django.db.models import QuerySet
from rest_framework import serializers
from rest_framework.request import Request

from api.columns import ID, TEXT, Column, Resource
from api.fields import PatternField
from api.listing import shown_row
from api.resources.base import TenantListView
from api.resources.writing import EmptySerializer, TenantDeed, TenantWriteView, whole_tenant
from memoryhub.tenants.models import Membership
from memoryhub.tenants.people import add_person, remove_person, set_role
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
_NAME = r"^[A-Za-z0-9@.+_-]+$"
# A pattern: messages have roles of another kind, and OpenAPI names enumerations by their field.
_ROLE = f"^({'|'.join(Membership.Role.values)})$"
_EMAIL = r"^([A-Za-z0-9.+_-]+@[A-Za-z0-9.-]+)?$"


class NewMemberSerializer(serializers.Serializer[Any]):
    username = PatternField(shape=_NAME, max_length=150)
    role = PatternField(shape=_ROLE)
    email = PatternField(shape=_EMAIL, required=False, default="", max_length=254)


class RoleSerializer(serializers.Serializer[Any]):
    role = PatternField(shape=_ROLE)


class MembersView(TenantListView):
    resource = MEMBERS
    scopes: ClassVar = {"GET": "admin"}

    def rows(self, request: Request) -> QuerySet[Any]:
        whole_tenant(request)
        return MEMBERS.rows()


class _MemberWriteView(TenantWriteView):
    def shown(self, deed: TenantDeed, row_id: Any) -> dict[str, Any]:
        with tenant_scope(deed.tenant_id):
            return {"member": shown_row(MEMBERS, MEMBERS.rows(), row_id)}

    def answers(self) -> dict[str, Any]:
        return {"type": "object", "properties": {"member": MEMBERS.schema()}}


class NewMemberView(_MemberWriteView):
    """Let a new person in. The password is in this answer and never again."""

    serializer_class = NewMemberSerializer
    secret = "password"  # noqa: S105  # the name of a field
    example: ClassVar = {"username": "ida", "role": "editor", "email": "ida@example.com"}

    def work(self, deed: TenantDeed, **ids: Any) -> dict[str, Any]:
        given = deed.given
        made, password = add_person(
            deed.tenant_id,
            given["username"],
            given["role"],
            email=given["email"],
            actor=deed.actor,
        )
        return self.shown(deed, made.id) | {"password": password}

    def answers(self) -> dict[str, Any]:
        schema = super().answers()
        schema["properties"]["password"] = {"type": ["string", "null"]}
        return schema


class RoleView(_MemberWriteView):
    """Give a person another role."""

    serializer_class = RoleSerializer
    example: ClassVar = {"role": "viewer"}

    def work(self, deed: TenantDeed, **ids: Any) -> dict[str, Any]:
        set_role(deed.tenant_id, ids["row_id"], deed.given["role"], actor=deed.actor)
        return self.shown(deed, ids["row_id"])


class RemoveMemberView(_MemberWriteView):
    """Take a person out of the tenant."""

    serializer_class = EmptySerializer

    def work(self, deed: TenantDeed, **ids: Any) -> dict[str, Any]:
        shown = self.shown(deed, ids["row_id"])
        remove_person(deed.tenant_id, ids["row_id"], actor=deed.actor)
        return shown
