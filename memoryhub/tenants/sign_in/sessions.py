"""Signing in reads people and sessions, which are out of reach inside a tenant's scope.

A page may look at `request.user` for the first time while its template is drawn in a scope: what is
read then has to step out of it, or the reader would count as a stranger.
"""

from __future__ import annotations

from typing import Any

from django.contrib.auth import SESSION_KEY
from django.contrib.auth.backends import ModelBackend
from django.contrib.auth.hashers import Argon2PasswordHasher
from django.contrib.sessions.backends import db
from django.utils.dateparse import parse_datetime

from memoryhub.tenants.models import BrowserSession, User
from memoryhub.tenants.scope import hub_scope

# What a session remembers of how it began.
ORIGIN_KEY = "origin"
# Set where more than the password was shown in it.
SECOND_FACTOR_KEY = "second"


class SessionStore(db.SessionStore):
    """Django's own, outside of every tenant's scope, with whose it is in columns of its own."""

    @classmethod
    def get_model_class(cls) -> type[BrowserSession]:
        return BrowserSession

    def create_model_instance(self, data: dict[str, Any]) -> Any:
        row: Any = super().create_model_instance(data)
        origin = data.get(ORIGIN_KEY, {})
        row.account_id = int(data[SESSION_KEY]) if SESSION_KEY in data else None
        row.address, row.agent = origin.get("address", ""), origin.get("agent", "")
        row.started_at = parse_datetime(origin["at"]) if origin else None
        return row

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


class BoundedArgon2Hasher(Argon2PasswordHasher):
    """What a comparison takes is what a stranger can make the hub spend."""

    time_cost = 2
    memory_cost = 19 * 1024
    parallelism = 1
