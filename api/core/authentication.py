"""Who is calling: an API key in `Authorization: Bearer mh_…` (or `Token`, as mem0 clients do)."""

from __future__ import annotations

from datetime import timedelta
from typing import TypeVar
from uuid import UUID

from django.contrib.auth.models import AnonymousUser
from django.db.models import Model, QuerySet
from django.utils import timezone
from rest_framework.authentication import BaseAuthentication, get_authorization_header
from rest_framework.exceptions import AuthenticationFailed
from rest_framework.request import Request

from memoryhub.tenants import keys
from memoryhub.tenants.keys import KeyRow
from memoryhub.tenants.models import ApiKey
from memoryhub.tenants.scope import tenant_scope

T = TypeVar("T", bound=Model)
_AUTH_SCHEMES = (b"bearer", b"token")
# Last use is shown to people; once a minute is enough, and keeps it off the hot path.
_USE_INTERVAL = timedelta(minutes=1)


class ApiKeyAuthentication(BaseAuthentication):
    def authenticate(self, request: Request) -> tuple[AnonymousUser, KeyRow] | None:
        scheme, _, credentials = get_authorization_header(request).partition(b" ")
        if scheme.lower() not in _AUTH_SCHEMES:
            return None
        key = keys.find_live_key(credentials.decode("latin-1").strip(), timezone.now())
        if key is None:
            raise AuthenticationFailed("This API key is unknown, expired or revoked.")
        now = timezone.now()
        if key.last_used_at is None or now - key.last_used_at > _USE_INTERVAL:
            with tenant_scope(key.tenant_id):
                ApiKey.objects.filter(id=key.id).update(last_used_at=now)
        return AnonymousUser(), key

    def authenticate_header(self, request: Request) -> str:
        return 'Bearer realm="memoryhub"'


def get_request_key(request: Request) -> KeyRow:
    """The key of an authenticated request."""
    key = request.auth
    if not isinstance(key, KeyRow):
        raise AuthenticationFailed("An API key is needed.")
    return key


def filter_reached(rows: QuerySet[T], key: KeyRow, path: str = "space_id") -> QuerySet[T]:
    """Of the tenant's rows those that the key reaches: for a key of one subject only its own."""
    return rows.filter(**{path: key.space_id}) if key.space_id else rows


def get_request_tenant_id(request: Request) -> UUID:
    return get_request_key(request).tenant_id
