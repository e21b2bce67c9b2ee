"""What a key may do. Every view states the scope it needs, method by method."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from rest_framework.exceptions import MethodNotAllowed
from rest_framework.permissions import BasePermission
from rest_framework.request import Request

from memoryhub.tenants.keys import KeyRow

# Who may write may read; an admin may do both.
_SUFFICIENT_SCOPES = {
    "read": {"read", "write", "admin"},
    "write": {"write", "admin"},
    "admin": {"admin"},
}


class HasScope(BasePermission):
    """`view.scopes` maps a method to a scope; a method without one is answered with 405."""

    def has_permission(self, request: Request, view: Any) -> bool:
        key = request.auth
        if not isinstance(key, KeyRow):
            return False
        method = "GET" if request.method == "HEAD" else request.method
        if method not in view.scopes:
            raise MethodNotAllowed(str(request.method))
        scope = view.scopes[method]
        self.message = explain_refusal(scope)
        return has_scope(key.scopes, scope)


def explain_refusal(scope: str) -> str:
    """To who has a key without this scope."""
    return f"This key's scopes do not allow it: it takes {scope}."


def has_scope(scopes: Collection[str], scope: str) -> bool:
    """Whether a key with these scopes may do what takes this one."""
    return bool(_SUFFICIENT_SCOPES[scope] & set(scopes))
