"""The tenant's keys: which there are, when each was last used, and new ones."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any, ClassVar
from uuid import UUID

from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from api.core.authentication import get_request_tenant_id
from api.core.fields import NOT_BLANK, IntegerField, NameField, TextField, TimestampField
from api.rows.answers import build_row_type, extend_answer
from api.rows.columns import ID, LIST, TEXT, TIME, Column, Resource
from api.rows.lists import render_row
from api.rows.read_views import TenantListView, get_reached_space, select_visible_rows
from api.rows.write_views import BaseWriteView, EmptySerializer
from memoryhub.dialogues.messages import clean_text, to_utc
from memoryhub.errors import InvalidInput, NotFound
from memoryhub.tenants.models import ApiKey, Space, Tenant
from memoryhub.tenants.scope import tenant_scope
from memoryhub.tenants.services import create_key, revoke_key, rotate_key

KEYS = Resource(
    "key",
    "A key of an agent backend, without its secret.",
    ApiKey,
    {
        "id": ID,
        "name": TEXT,
        "prefix": TEXT,
        "scopes": LIST,
        "subject": Column("text", "space__subject"),
        "created_at": TIME,
        "expires_at": TIME,
        "revoked_at": TIME,
        "last_used_at": TIME,
    },
    order=("-created_at", "-id"),
)
_MAX_OVERLAP_HOURS = 24 * 30


class NewKeySerializer(serializers.Serializer[Any]):
    """`subject`: the only one it reaches; empty: all. `expires_at`: null for never."""

    name = TextField(max_length=120, shape=NOT_BLANK)
    scopes = serializers.ListField(
        child=serializers.ChoiceField(choices=ApiKey.Scope.values),
        allow_empty=False,
        max_length=len(ApiKey.Scope.values),
    )
    subject = NameField(required=False, default="", max_length=200)
    expires_at = TimestampField(required=False, allow_null=True, default=None)


class RotateKeySerializer(serializers.Serializer[Any]):
    """`overlap_hours`: how long the old key still works beside the new one."""

    overlap_hours = IntegerField(
        required=False, default=24, min_value=0, max_value=_MAX_OVERLAP_HOURS
    )


class KeysView(TenantListView):
    resource = KEYS
    scopes: ClassVar = {"GET": "admin"}


class _KeyWriteView(BaseWriteView):
    """By a key of the tenant on all its keys, by a key of one subject on those of that one."""

    scopes: ClassVar = {"POST": "admin"}
    answer_outlives_erasure = True
    secret_field = "key"  # noqa: S105  # the name of a field
    answer: ClassVar = extend_answer(
        KEYS, "KeyWithSecret", "`key`: in the answer that made it, and in no other.", key=str | None
    )


class NewKeyView(_KeyWriteView):
    """A new key, whose secret is in this answer and never again."""

    serializer_class = NewKeySerializer
    example: ClassVar = {"name": "support bot", "scopes": ["read", "write"], "subject": "ana"}

    def post(self, request: Request) -> Response:
        asked = self.read_write_fields(request)
        given, space = asked["given"], get_reached_space(request, asked["given"]["subject"])
        name, until = (
            _read_key_name(given["name"]),
            _read_expiry(given["expires_at"], space, asked["now"]),
        )
        scopes = list(dict.fromkeys(given["scopes"]))

        def create_requested_key() -> dict[str, Any]:
            with tenant_scope(get_request_tenant_id(request)):
                tenant = Tenant.objects.get(id=get_request_tenant_id(request))
            actor = asked["key"].actor
            row, secret = create_key(
                tenant, name, scopes, space=space, expires_at=until, actor=actor
            )
            return _render_key(row) | {"key": secret}

        return self.run_once(request, create_requested_key)


def _read_key_name(given: str) -> str:
    name = clean_text(given).strip()
    if not name:
        raise InvalidInput("a name is needed: who will use it?", field="name")
    return name


def _read_expiry(at: datetime | None, space: Space | None, now: datetime) -> datetime | None:
    if at is None:
        return None
    until = to_utc(at, space.timezone if space else "UTC", field="expires_at")
    if until <= now:
        raise InvalidInput("a time that is to come", field="expires_at")
    return until


class RotateKeyView(_KeyWriteView):
    """Another secret with the same rights. It is shown in this answer and never again."""

    serializer_class = RotateKeySerializer
    example: ClassVar = {"overlap_hours": 24}

    def post(self, request: Request, row_id: UUID) -> Response:
        asked, key = self.read_write_fields(request), _get_key(request, row_id)
        overlap = timedelta(hours=asked["given"]["overlap_hours"])

        def rotate_requested_key() -> dict[str, Any]:
            row, secret = rotate_key(key, asked["now"], overlap, actor=asked["key"].actor)
            return _render_key(row) | {"key": secret}

        return self.run_once(request, rotate_requested_key)


class RevokeKeyView(BaseWriteView):
    """Refuse every request with this key from now on."""

    scopes: ClassVar = {"POST": "admin"}
    serializer_class = EmptySerializer
    answer_outlives_erasure = True

    def post(self, request: Request, row_id: UUID) -> Response:
        asked, key = self.read_write_fields(request), _get_key(request, row_id)
        return self.run_once(
            request, lambda: _revoke_and_render(key, asked["now"], asked["key"].actor)
        )

    def get_answer_type(self, method: str, status: int) -> Any:
        return build_row_type(KEYS)


def _revoke_and_render(key: ApiKey, now: datetime, actor: str) -> dict[str, Any]:
    revoke_key(key, now, actor=actor)
    return _render_key(key)


def _render_key(key: ApiKey) -> dict[str, Any]:
    with tenant_scope(key.tenant_id):
        return render_row(KEYS, KEYS.select_rows(), key.id)


def _get_key(request: Request, row_id: UUID) -> ApiKey:
    with tenant_scope(get_request_tenant_id(request)):
        found: ApiKey | None = select_visible_rows(request, KEYS).filter(id=row_id).first()
    if found is None:
        raise NotFound("There is no such key.")
    return found
