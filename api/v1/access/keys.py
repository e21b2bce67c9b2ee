"""The tenant's keys: which there are, when each was last used, and new ones."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any, ClassVar
from uuid import UUID

from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from api.core.authentication import get_request_key, get_request_tenant_id
from api.core.fields import NOT_BLANK, IntegerField, NameField, TextField, TimestampField
from api.rows.columns import ID, LIST, TEXT, TIME, Column, Resource
from api.rows.lists import render_row
from api.rows.read_views import TenantListView, get_space_at_path, select_visible_rows
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
    """By a key of the tenant on all its keys, by a key of one subject on those of that one.

    The secret is shown in the answer that made it and kept nowhere: a repetition of the request
    is answered without it.
    """

    scopes: ClassVar = {"POST": "admin"}
    answer_outlives_erasure = True

    def run_once_with_secret(
        self, request: Request, write: Callable[[], tuple[ApiKey, str]]
    ) -> Response:
        made: list[str] = []

        def write_key() -> dict[str, Any]:
            row, secret = write()
            made.append(secret)
            with tenant_scope(row.tenant_id):
                return render_row(KEYS, KEYS.select_rows(), row.id)

        response = self.run_once(request, write_key)
        response.data["key"] = made[0] if made else None
        response["Cache-Control"] = "no-store"
        return response

    def build_response_schema(self) -> dict[str, Any]:
        schema = KEYS.build_schema()
        schema["properties"]["key"] = {"type": ["string", "null"]}
        return schema


class NewKeyView(_KeyWriteView):
    """A new key, whose secret is in this answer and never again."""

    serializer_class = NewKeySerializer
    example: ClassVar = {"name": "support bot", "scopes": ["read", "write"], "subject": "ana"}

    def post(self, request: Request) -> Response:
        asked = self.read_write_fields(request)
        given, space = asked["given"], _find_reached_space(request, asked["given"]["subject"])
        name, until = (
            _read_key_name(given["name"]),
            _read_expiry(given["expires_at"], space, asked["now"]),
        )
        scopes = list(dict.fromkeys(given["scopes"]))

        def create_requested_key() -> tuple[ApiKey, str]:
            with tenant_scope(get_request_tenant_id(request)):
                tenant = Tenant.objects.get(id=get_request_tenant_id(request))
            actor = asked["key"].actor
            return create_key(tenant, name, scopes, space=space, expires_at=until, actor=actor)

        return self.run_once_with_secret(request, create_requested_key)


def _find_reached_space(request: Request, subject: str) -> Space | None:
    """Whom the new key reaches alone: nobody further than the caller's own. Raises NotFound."""
    bound = get_request_key(request).space_id
    if subject:
        return get_space_at_path(request, subject)
    with tenant_scope(get_request_tenant_id(request)):
        return Space.objects.get(id=bound) if bound else None


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
        actor = asked["key"].actor
        return self.run_once_with_secret(
            request, lambda: rotate_key(key, asked["now"], overlap, actor=actor)
        )


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

    def build_response_schema(self) -> dict[str, Any]:
        return KEYS.build_schema()


def _revoke_and_render(key: ApiKey, now: datetime, actor: str) -> dict[str, Any]:
    revoke_key(key, now, actor=actor)
    with tenant_scope(key.tenant_id):
        return render_row(KEYS, KEYS.select_rows(), key.id)


def _get_key(request: Request, row_id: UUID) -> ApiKey:
    with tenant_scope(get_request_tenant_id(request)):
        found: ApiKey | None = select_visible_rows(request, KEYS).filter(id=row_id).first()
    if found is None:
        raise NotFound("There is no such key.")
    return found
