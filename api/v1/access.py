"""Who may come in: keys, members, and the links of the persons themselves."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any, ClassVar
from uuid import UUID

from django.urls import reverse
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from api.core.fields import (
    NO_NULS,
    NOT_BLANK,
    NULL,
    IntegerField,
    ListField,
    NameField,
    PatternField,
    StrictSerializer,
    SubjectField,
    TextField,
    TimestampField,
)
from api.rows.answers import build_named_type, build_row_type, define_answer, extend_answer
from api.rows.columns import Resource, pick_columns
from api.rows.read_views import get_reached_space
from api.rows.write_views import (
    EmptySerializer,
    SpaceWriteRequest,
    SpaceWriteView,
    TenantWriteRequest,
    TenantWriteView,
)
from memoryhub.dialogues.messages import clean_text, to_utc
from memoryhub.errors import InvalidInput, NotFound
from memoryhub.tenants import person_links
from memoryhub.tenants.key_expiry import check_to_come
from memoryhub.tenants.models import ApiKey, Membership, PersonLink, Space, Tenant
from memoryhub.tenants.people import add_person, remove_person, set_member_role
from memoryhub.tenants.scope import tenant_scope
from memoryhub.tenants.services import create_key, revoke_key, rotate_key

KEYS = Resource(
    "key",
    "A key of an agent backend, without its secret.",
    ApiKey,
    pick_columns(
        ApiKey,
        "id name prefix scopes subject=space__subject created_at expires_at revoked_at "
        "last_used_at",
    ),
    order=("-created_at", "-id"),
)
_MAX_OVERLAP_HOURS = 24 * 30


class NewKeySerializer(StrictSerializer):
    """`subject`: the only one it reaches; empty: all. `expires_at`: null for never."""

    name = TextField(max_length=120, shape=NOT_BLANK)
    scopes = ListField(
        serializers.ChoiceField(choices=ApiKey.Scope.values),
        allow_empty=False,
        max_length=len(ApiKey.Scope.values),
    )
    subject = SubjectField(default="", shape=NO_NULS)
    expires_at = TimestampField(**NULL)


class RotateKeySerializer(StrictSerializer):
    """`overlap_hours`: how long the old key still works beside the new one."""

    overlap_hours = IntegerField(default=24, min_value=0, max_value=_MAX_OVERLAP_HOURS)


class _KeyWriteView(TenantWriteView):
    """By a key of the tenant on all its keys, by a key of one subject on those of that one."""

    secret_field = "key"  # noqa: S105  # the name of a field
    answer: ClassVar = extend_answer(
        KEYS, "KeyWithSecret", "`key`: in the answer that made it, and in no other.", key=str | None
    )


class NewKeyView(_KeyWriteView):
    """A new key, whose secret is in this answer and never again."""

    serializer_class = NewKeySerializer
    example: ClassVar = {"name": "support bot", "scopes": ["read", "write"], "subject": "ana"}

    def post(self, request: Request, **ids: UUID) -> Response:
        deed = self.read_deed(request)
        space = get_reached_space(request, deed.given["subject"])
        name, until = _read_key_name(deed.given["name"]), _read_key_expiry(deed, space)
        scopes = list(dict.fromkeys(deed.given["scopes"]))

        def create_requested_key() -> dict[str, Any]:
            with tenant_scope(deed.tenant_id):
                tenant = Tenant.objects.get(id=deed.tenant_id)
            row, secret = create_key(
                tenant, name, scopes, space=space, expires_at=until, actor=deed.actor
            )
            return deed.render_row(KEYS, row.id) | {"key": secret}

        return self.run_once(request, create_requested_key)


def _read_key_name(given: str) -> str:
    name = clean_text(given).strip()
    if not name:
        raise InvalidInput("a name is needed: who will use it?", field="name")
    return name


def _read_key_expiry(deed: TenantWriteRequest, space: Space | None) -> datetime | None:
    if deed.given["expires_at"] is None:
        return None
    zone = space.timezone if space else "UTC"
    until = to_utc(deed.given["expires_at"], zone, field="expires_at")
    check_to_come(until, deed.now)
    return until


class RotateKeyView(_KeyWriteView):
    """Another secret with the same rights. It is shown in this answer and never again."""

    serializer_class = RotateKeySerializer
    example: ClassVar = {"overlap_hours": 24}

    def post(self, request: Request, **ids: UUID) -> Response:
        deed = self.read_deed(request)
        key = KEYS.get_visible_row(deed.key, ids["row_id"])
        overlap = timedelta(hours=deed.given["overlap_hours"])

        def rotate_requested_key() -> dict[str, Any]:
            row, secret = rotate_key(key, deed.now, overlap, actor=deed.actor)
            return deed.render_row(KEYS, row.id) | {"key": secret}

        return self.run_once(request, rotate_requested_key)


class RevokeKeyView(TenantWriteView):
    """Refuse every request with this key from now on."""

    serializer_class = EmptySerializer
    answer: ClassVar = build_row_type(KEYS)

    def post(self, request: Request, **ids: UUID) -> Response:
        deed = self.read_deed(request)
        key = KEYS.get_visible_row(deed.key, ids["row_id"])

        def revoke_requested_key() -> dict[str, Any]:
            revoke_key(key, deed.now, actor=deed.actor)
            return deed.render_row(KEYS, key.id)

        return self.run_once(request, revoke_requested_key)


MEMBERS = Resource(
    "member",
    "A person who may sign in to the tenant's console, and as what.",
    Membership,
    pick_columns(
        Membership, "id username=user__username email=user__email role last_login=user__last_login"
    ),
    order=("username", "id"),
)
# Of Django's user names.
_USERNAME_PATTERN = r"^[A-Za-z0-9@.+_-]+$"
# A pattern: messages have roles of another kind, and OpenAPI names enumerations by their field.
_ROLE_PATTERN = f"^({'|'.join(Membership.Role.values)})$"
_EMAIL_PATTERN = r"^([A-Za-z0-9.+_-]+@[A-Za-z0-9.-]+)?$"


class NewMemberSerializer(StrictSerializer):
    username = PatternField(shape=_USERNAME_PATTERN, max_length=150)
    role = PatternField(shape=_ROLE_PATTERN)
    email = PatternField(shape=_EMAIL_PATTERN, default="", max_length=254)


class MemberRoleSerializer(StrictSerializer):
    role = PatternField(shape=_ROLE_PATTERN)


class NewMemberView(TenantWriteView):
    """Let a new person in. The password is in this answer and never again."""

    serializer_class = NewMemberSerializer
    secret_field = "password"  # noqa: S105  # the name of a field
    answer: ClassVar = define_answer(
        "NewMember",
        "`password`: in the answer that made it, and in no other.",
        member=MEMBERS,
        password=str | None,
    )
    example: ClassVar = {"username": "ida", "role": "editor", "email": "ida@example.com"}

    def run_write(self, deed: TenantWriteRequest, **ids: Any) -> dict[str, Any]:
        made, password = add_person(deed.tenant_id, **deed.given, actor=deed.actor)
        return deed.render_named_row(MEMBERS, made.id) | {"password": password}


class SetMemberRoleView(TenantWriteView):
    """Give a person another role."""

    serializer_class = MemberRoleSerializer
    answer: ClassVar = build_named_type(MEMBERS)
    example: ClassVar = {"role": "viewer"}

    def run_write(self, deed: TenantWriteRequest, **ids: Any) -> dict[str, Any]:
        set_member_role(deed.tenant_id, ids["row_id"], deed.given["role"], actor=deed.actor)
        return deed.render_named_row(MEMBERS, ids["row_id"])


class RemoveMemberView(TenantWriteView):
    """Take a person out of the tenant."""

    serializer_class = EmptySerializer
    answer: ClassVar = build_named_type(MEMBERS)

    def run_write(self, deed: TenantWriteRequest, **ids: Any) -> dict[str, Any]:
        shown = deed.render_named_row(MEMBERS, ids["row_id"])
        remove_person(deed.tenant_id, ids["row_id"], actor=deed.actor)
        return shown


PERSON_LINKS = Resource(
    "person link",
    "A person's way to the page of their own memories, without its token.",
    PersonLink,
    pick_columns(PersonLink, "id note created_by created_at expires_at revoked_at last_used_at"),
    order=("-created_at", "-id"),
)


class NewPersonLinkSerializer(StrictSerializer):
    """`expires_at`: within ninety days; null for in a week. `note` is for operators."""

    expires_at = TimestampField(**NULL)
    note = NameField(default="", max_length=200)


class NewPersonLinkView(SpaceWriteView):
    """A link to send to the person. Its address is in this answer and never again: whoever has it
    sees, corrects, exports and may erase what is remembered of them."""

    scopes: ClassVar = {"POST": "admin"}
    serializer_class = NewPersonLinkSerializer
    answer_outlives_erasure = True
    secret_field = "url"  # noqa: S105  # the name of it
    answer: ClassVar = extend_answer(
        PERSON_LINKS,
        "PersonLinkWithAddress",
        "`url`: in the answer that made it, and in no other.",
        url=str | None,
    )
    example: ClassVar = {"note": "asked for by mail"}

    def run_write(self, deed: SpaceWriteRequest, **ids: Any) -> dict[str, Any]:
        until, at = deed.now + person_links.DEFAULT_LIFETIME, deed.given["expires_at"]
        if at is not None:
            until = to_utc(at, deed.space.timezone, field="expires_at")
        row, token = person_links.create_person_link(
            deed.space, deed.actor, deed.now, until, note=deed.given["note"]
        )
        page = self.request.build_absolute_uri(reverse("me-open"))
        return {**deed.render_row(PERSON_LINKS, row.id), "url": f"{page}#{token}"}


class RevokePersonLinkView(SpaceWriteView):
    """Close a link, also for whoever looks at the page now."""

    scopes: ClassVar = {"POST": "admin"}
    serializer_class = EmptySerializer
    answer_outlives_erasure = True
    answer: ClassVar = build_row_type(PERSON_LINKS)

    def run_write(self, deed: SpaceWriteRequest, **ids: Any) -> dict[str, Any]:
        with tenant_scope(deed.tenant_id):
            row = PersonLink.objects.filter(space=deed.space, id=ids["row_id"]).first()
        if row is None:
            raise NotFound("There is no such link.")
        person_links.revoke_person_link(row, deed.now)
        return deed.render_row(PERSON_LINKS, row.id)
