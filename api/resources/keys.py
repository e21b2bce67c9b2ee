"""The tenant's keys: which there are, when each was last used, and another in place of one."""

from __future__ import annotations

from datetime import timedelta
from typing import Any, ClassVar
from uuid import UUID

from django.utils import timezone
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from api.authentication import tenant_of
from api.columns import ID, LIST, TEXT, TIME, Column, Resource
from api.listing import shown_row
from api.resources.base import ResourceView, TenantListView, seen
from memoryhub.errors import NotFound
from memoryhub.tenants.models import ApiKey
from memoryhub.tenants.scope import tenant_scope
from memoryhub.tenants.services import revoke_key, rotate_key

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


class RotateSerializer(serializers.Serializer[Any]):
    """`overlap_hours`: how long the old key still works beside the new one."""

    overlap_hours = serializers.IntegerField(
        required=False, default=24, min_value=0, max_value=_LONGEST_HOURS
    )


class KeysView(TenantListView):
    resource = KEYS
    scopes: ClassVar = {"GET": "admin"}


class _KeyDeedView(ResourceView):
    resource = KEYS
    scopes: ClassVar = {"POST": "admin"}

    def answers(self) -> dict[str, Any]:
        return KEYS.schema()


class RotateKeyView(_KeyDeedView):
    """Another secret with the same rights. It is shown in this answer and never again, so that
    no repetition is answered with it: a lost answer is a key to be revoked."""

    about = "Another secret with the same rights, shown in this answer and never again."
    serializer_class = RotateSerializer
    example: ClassVar = {"overlap_hours": 24}

    def post(self, request: Request, row_id: UUID) -> Response:
        body = RotateSerializer(data=self.body(request))
        body.is_valid(raise_exception=True)
        overlap = timedelta(hours=body.validated_data["overlap_hours"])
        row, secret = rotate_key(_key(request, row_id), timezone.now(), overlap)
        with tenant_scope(row.tenant_id):
            shown = shown_row(KEYS, KEYS.rows(), row.id)
        return Response(shown | {"key": secret}, headers={"Cache-Control": "no-store"})

    def answers(self) -> dict[str, Any]:
        schema = KEYS.schema()
        schema["properties"]["key"] = {"type": "string"}
        return schema


class RevokeKeyView(_KeyDeedView):
    """Refuse every request with this key from now on."""

    about = "Refuse every request with this key from now on."

    def post(self, request: Request, row_id: UUID) -> Response:
        key = _key(request, row_id)
        revoke_key(key, timezone.now())
        with tenant_scope(key.tenant_id):
            return Response(shown_row(KEYS, KEYS.rows(), key.id))


def _key(request: Request, row_id: UUID) -> ApiKey:
    with tenant_scope(tenant_of(request)):
        found: ApiKey | None = seen(request, KEYS).filter(id=row_id).first()
    if found is None:
        raise NotFound("There is no such key.")
    return found
