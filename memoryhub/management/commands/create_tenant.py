"""`manage.py create_tenant NAME --admin PERSON`: a tenant, its admin, and a first key."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils.text import slugify

from memoryhub.bootstrap import ensure_account_named
from memoryhub.tenants.models import Membership, Tenant, User
from memoryhub.tenants.services import add_member, create_key, create_tenant, find_tenant
from memoryhub.tenants.sign_in.accounts import find_first_operator


class Command(BaseCommand):
    help = "Make a tenant with an admin and an API key. Secrets are printed once."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("name")
        parser.add_argument("--slug", help="short name for commands (default: from the name)")
        # The second name is what it was called; it makes no operator of the hub.
        parser.add_argument(
            "--admin",
            "--operator",
            dest="admin",
            help="who administers it (default: the hub's first operator)",
        )
        parser.add_argument("--engine", choices=Tenant.Engine.values, default=Tenant.Engine.LOCAL)

    def handle(self, *args: Any, **options: Any) -> None:
        slug = options["slug"] or slugify(options["name"])
        if not slug:
            raise CommandError("The name gives no slug: name one with --slug.")
        if find_tenant(slug):
            raise CommandError(f"There is a tenant {slug} already.")
        admin = self._ensure_admin(options["admin"])
        tenant = create_tenant(options["name"], slug, engine=options["engine"])
        add_member(tenant, admin, Membership.Role.ADMIN)
        _, key = create_key(tenant, "first", ["read", "write"])
        self.stdout.write(f"Tenant    {slug}\nAPI key   {key}\nThe key is shown only now: keep it.")

    def _ensure_admin(self, name: str | None) -> User:
        if name:
            return ensure_account_named(name, self.stdout, title="Admin")
        operator = find_first_operator()
        if operator is None:
            raise CommandError("The hub has no operator yet: say who administers it with --admin.")
        return operator
