"""The tenant's keys: which there are, when each was last used, and new ones."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any, ClassVar
from uuid import UUID

from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from api.authentication import key_of, tenant_of
from api.columns import ID, LIST, TEXT, TIME, Column, Resource
from api.fields import SAID, NameField, TextField, TimestampField, WholeField
from api.listing import shown_row
from api.resources.base import TenantListView, seen, space_at
from api.resources.writing import AnyWriteView, EmptySerializer
from memoryhub.dialogues.messages import clean_text, in_zone
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
_LONGEST_HOURS = 24 * 30


class NewKeySerializer(serializers.Serializer[Any]):
    """`subject`: the only one it reaches; empty: all. `expires_at`: null for never."""

    name = TextField(max_length=120, shape=SAID)
    scopes = serializers.ListField(
        child=serializers.ChoiceField(choices=ApiKey.Scope.values),
        allow_empty=False,
        max_length=len(ApiKey.Scope.values),
    )
    subject = NameField(required=False, default="", max_length=200)
    expires_at = TimestampField(required=False, allow_null=True, default=None)


class RotateSerializer(serializers.Serializer[Any]):
    """`overlap_hours`: how long the old key still works beside the new one."""

    overlap_hours = WholeField(required=False, default=24, min_value=0, max_value=_LONGEST_HOURS)


class KeysView(TenantListView):
    resource = KEYS
    scopes: ClassVar = {"GET": "admin"}


class _KeyWriteView(AnyWriteView):
    """By a key of the tenant on all its keys, by a key of one subject on those of that one.

    The secret is shown in the answer that made it and kept nowhere: a repetition of the request
    is answered without it.
    """

    scopes: ClassVar = {"POST": "admin"}
    keeps = True

    def shown(self, request: Request, write: Callable[[], tuple[ApiKey, str]]) -> Response:
        made: list[str] = []

        def once() -> dict[str, Any]:
            row, secret = write()
            made.append(secret)
            with tenant_scope(row.tenant_id):
                return shown_row(KEYS, KEYS.rows(), row.id)

        response = self.once(request, once)
        response.data["key"] = made[0] if made else None
        response["Cache-Control"] = "no-store"
        return response

    def answers(self) -> dict[str, Any]:
        schema = KEYS.schema()
        schema["properties"]["key"] = {"type": ["string", "null"]}
        return schema


class NewKeyView(_KeyWriteView):
    """A new key, whose secret is in this answer and never again."""

    serializer_class = NewKeySerializer
    example: ClassVar = {"name": "support bot", "scopes": ["read", "write"], "subject": "ana"}

    def post(self, request: Request) -> Response:
        asked = self.asked(request)
        given, space = asked["given"], _reached(request, asked["given"]["subject"])
        name, until = _named(given["name"]), _until(given["expires_at"], space, asked["now"])
        scopes = list(dict.fromkeys(given["scopes"]))

        def make() -> tuple[ApiKey, str]:
            with tenant_scope(tenant_of(request)):
                tenant = Tenant.objects.get(id=tenant_of(request))
            actor = asked["key"].actor
            return create_key(tenant, name, scopes, space=space, expires_at=until, actor=actor)

        return self.shown(request, make)


def _reached(request: Request, subject: str) -> Space | None:
    """Whom the new key reaches alone: nobody further than the caller's own. Raises NotFound."""
    bound = key_of(request).space_id
    if subject:
        return space_at(request, subject)
    with tenant_scope(tenant_of(request)):
        return Space.objects.get(id=bound) if bound else None


def _named(given: str) -> str:
    name = clean_text(given).strip()
    if not name:
        raise InvalidInput("a name is needed: who will use it?", field="name")
    return name


def _until(at: datetime | None, space: Space | None, now: datetime) -> datetime | None:
    if at is None:
        return None
    until = in_zone(at, space.timezone if space else "UTC", field="expires_at")
    if until <= now:
        raise InvalidInput("a time that is to come", field="expires_at")
    return until


class RotateKeyView(_KeyWriteView):
    """Another secret with the same rights. It is shown in this answer and never again."""

    serializer_class = RotateSerializer
    example: ClassVar = {"overlap_hours": 24}

    def post(self, request: Request, row_id: UUID) -> Response:
        asked, key = self.asked(request), _key(request, row_id)
        overlap = timedelta(hours=asked["given"]["overlap_hours"])
        actor = asked["key"].actor
        return self.shown(request, lambda: rotate_key(key, asked["now"], overlap, actor=actor))


class RevokeKeyView(AnyWriteView):
    """Refuse every request with this key from now on."""

    scopes: ClassVar = {"POST": "admin"}
    serializer_class = EmptySerializer
    keeps = True

    def post(self, request: Request, row_id: UUID) -> Response:
        asked, key = self.asked(request), _key(request, row_id)
        return self.once(request, lambda: _revoked(key, asked["now"], asked["key"].actor))

    def answers(self) -> dict[str, Any]:
        return KEYS.schema()


def _revoked(key: ApiKey, now: datetime, actor: str) -> dict[str, Any]:
    revoke_key(key, now, actor=actor)
    with tenant_scope(key.tenant_id):
        return shown_row(KEYS, KEYS.rows(), key.id)


def _key(request: Request, row_id: UUID) -> ApiKey:
    with tenant_scope(tenant_of(request)):
        found: ApiKey | None = seen(request, KEYS).filter(id=row_id).first()
    if found is None:
        raise NotFound("There is no such key.")
    return found
