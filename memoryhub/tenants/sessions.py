"""Signing in reads people and sessions, which are out of reach inside a tenant's scope.

A page may look at `request.user` for the first time while its template is drawn in a scope: what is
read then has to step out of it, or the reader would count as a stranger.
"""

from __future__ import annotations

from typing import Any

from django.contrib.auth.backends import ModelBackend
from django.contrib.sessions.backends import db

from memoryhub.tenants.models import User
from memoryhub.tenants.scope import hub_scope


class SessionStore(db.SessionStore):
    """Django's own, outside of every tenant's scope."""

    def load(self) -> dict[str, Any]:
        with hub_scope():
            return super().load()

    def exists(self, session_key: str) -> bool:
        with hub_scope():
            return super().exists(session_key)

    def save(self, must_create: bool = False) -> None:
        with hub_scope():
            super().save(must_create)

    def delete(self, session_key: str | None = None) -> None:
        with hub_scope():
            super().delete(session_key)


class PersonBackend(ModelBackend):
    """By name and password. What somebody may do is told by memberships, not by permissions."""

    def get_user(self, user_id: int) -> User | None:
        with hub_scope():
            found = super().get_user(user_id)
            return found if isinstance(found, User) else None
