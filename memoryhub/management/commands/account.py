"""`manage.py account`: what only whoever has the machine does with accounts."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from memoryhub.bootstrap import ensure_account_named, ensure_operator_named
from memoryhub.tenants.accounts import dismiss_operator, end_sessions, set_password
from memoryhub.tenants.models import BrowserSession, Membership, User
from memoryhub.tenants.services import add_member, find_tenant


class Command(BaseCommand):
    help = "Make operators of the hub, let people into tenants, give new passwords."

    def add_arguments(self, parser: ArgumentParser) -> None:
        actions = parser.add_subparsers(dest="action", required=True)
        told = {
            "operator": "make this account an operator of the hub",
            "dismiss": "take that back; an admin of a tenant stays one",
            "password": "give this account a new password, printed once, and end its sessions",
            "sessions": "show where this account is signed in",
            "member": "let this account into a tenant",
        }
        for name, words in told.items():
            actions.add_parser(name, help=words).add_argument("name")
        actions.choices["sessions"].add_argument("--end", action="store_true", help="end them all")
        member = actions.choices["member"]
        member.add_argument("tenant")
        member.add_argument("role", choices=Membership.Role.values)

    def handle(self, *args: Any, action: str, name: str, **options: Any) -> None:
        if action == "operator":
            ensure_operator_named(name, self.stdout)
            self.stdout.write(f"{name} operates the hub.")
        elif action == "dismiss":
            self._dismiss(name)
        elif action == "password":
            self.stdout.write(f"Password  {set_password(self._find(name))}")
        elif action == "sessions":
            self._list_sessions(self._find(name), end=options["end"])
        else:
            self._let_in(name, options["tenant"], options["role"])

    def _dismiss(self, name: str) -> None:
        operators = User.objects.filter(is_superuser=True)
        account = operators.filter(username=name).first()
        if account is None:
            raise CommandError(f"There is no operator {name}.")
        if not operators.exclude(id=account.id).exists():
            raise CommandError("The last operator stays: make somebody else one first.")
        dismiss_operator(account)
        self.stdout.write(f"{name} operates the hub no longer.")

    def _find(self, name: str) -> User:
        account = User.objects.filter(username=name).first()
        if account is None:
            raise CommandError(f"There is no account {name}.")
        return account

    def _list_sessions(self, account: User, *, end: bool) -> None:
        if end:
            self.stdout.write(f"Ended: {end_sessions(account)}.")
            return
        rows = BrowserSession.objects.filter(account=account, expire_date__gt=timezone.now())
        for row in rows.order_by("-started_at"):
            self.stdout.write(f"{row.started_at:%Y-%m-%d %H:%M}  {row.address}  {row.agent}")

    def _let_in(self, name: str, slug: str, role: str) -> None:
        tenant = find_tenant(slug)
        if tenant is None:
            raise CommandError(f"There is no tenant {slug}.")
        account = ensure_account_named(name, self.stdout)
        add_member(tenant, account, role)
        self.stdout.write(f"{name} is {role} of {slug}.")
