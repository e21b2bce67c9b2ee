"""Accounts are the hub's: who operates it, passwords, sessions. Call outside every scope.

An operator of the hub sees to accounts, models and the machine; an admin sees to one tenant. Nobody
becomes the first by way of the second: only a command makes one, on the machine itself.
"""

from __future__ import annotations

from memoryhub.tenants.models import User
from memoryhub.tenants.people import generate_password


def ensure_account(name: str, password: str = "") -> tuple[User, str]:
    """(account, its new password): "" for one that is there already, which is left as it is."""
    found = User.objects.filter(username=name).first()
    if found is not None:
        return found, ""
    password = password or generate_password()
    return User.objects.create_user(name, password=password), password


def find_first_operator() -> User | None:
    return User.objects.filter(is_superuser=True).order_by("id").first()


def make_operator(user: User) -> None:
    User.objects.filter(id=user.id).update(is_superuser=True, is_staff=True)


def dismiss_operator(user: User) -> None:
    """An admin of their tenants stays one."""
    User.objects.filter(id=user.id).update(is_superuser=False, is_staff=False)
