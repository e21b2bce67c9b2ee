"""`manage.py account`: what only whoever has the machine does with accounts."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from memoryhub.bootstrap import ensure_account_named, ensure_operator_named
from memoryhub.errors import Conflict
from memoryhub.tenants.models import (
    BrowserSession,
    Membership,
    RecoveryCode,
    SecondFactor,
    SignOnIdentity,
    User,
)
from memoryhub.tenants.services import add_member, find_tenant
from memoryhub.tenants.sign_in.accounts import dismiss_operator, end_sessions, set_password
from memoryhub.tenants.sign_in.second_factor import remove_all_factors
from memoryhub.tenants.sign_in.single_sign_on import connect_account, disconnect_account


class Command(BaseCommand):
    help = "Make operators of the hub, let people into tenants, give new passwords."

    def add_arguments(self, parser: ArgumentParser) -> None:
        actions = parser.add_subparsers(dest="action", required=True)
        told = {
            "operator": "make this account an operator of the hub",
            "dismiss": "take that back; an admin of a tenant stays one",
            "password": "give this account a new password, printed once, and end its sessions",
            "sessions": "show where this account is signed in",
            "second-factor": "show what this account signs in with beside the password",
            "sign-on": "show who this account is to the OpenID provider, or say so",
            "member": "let this account into a tenant",
        }
        for name, words in told.items():
            actions.add_parser(name, help=words).add_argument("name")
        actions.choices["sessions"].add_argument("--end", action="store_true", help="end them all")
        actions.choices["second-factor"].add_argument(
            "--remove", action="store_true", help="take it all away, and end its sessions"
        )
        sign_on = actions.choices["sign-on"].add_mutually_exclusive_group()
        sign_on.add_argument("--subject", help="what the provider calls the person (sub)")
        sign_on.add_argument("--remove", action="store_true", help="it signs in there no longer")
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
        elif action == "second-factor":
            self._show_factors(self._find(name), remove=options["remove"])
        elif action == "sign-on":
            self._show_sign_on(self._find(name), options["subject"], remove=options["remove"])
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

    def _show_factors(self, account: User, *, remove: bool) -> None:
        if remove:
            removed = remove_all_factors(account)
            end_sessions(account)
            self.stdout.write(f"Removed: {removed}. The password alone signs in.")
            return
        rows = SecondFactor.objects.filter(account=account)
        for row in rows:
            used = f"{row.last_used_at:%Y-%m-%d %H:%M}" if row.last_used_at else "never"
            self.stdout.write(f"{row.kind:<8} {row.name}  used {used}")
        codes = RecoveryCode.objects.filter(account=account).count()
        self.stdout.write(f"{rows.count()} in all, {codes} recovery codes left")

    def _show_sign_on(self, account: User, subject: str | None, *, remove: bool) -> None:
        if remove:
            self.stdout.write(f"Removed: {disconnect_account(account)}.")
            end_sessions(account)
            return
        if subject:
            if not settings.OIDC_ISSUER:
                raise CommandError("Set MEMORYHUB_OIDC_ISSUER first.")
            try:
                connect_account(account, subject)
            except Conflict as error:
                raise CommandError(error.message) from error
        for row in SignOnIdentity.objects.filter(account=account):
            self.stdout.write(f"{row.issuer}  {row.subject}")

    def _let_in(self, name: str, slug: str, role: str) -> None:
        tenant = find_tenant(slug)
        if tenant is None:
            raise CommandError(f"There is no tenant {slug}.")
        account = ensure_account_named(name, self.stdout)
        add_member(tenant, account, role)
        self.stdout.write(f"{name} is {role} of {slug}.")
