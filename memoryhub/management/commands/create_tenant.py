"""`manage.py create_tenant NAME --operator PERSON`: a tenant, its admin, and a first key."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils.text import slugify

from memoryhub.bootstrap import ensure_operator_named
from memoryhub.tenants.models import Membership, Tenant
from memoryhub.tenants.services import add_member, create_key, create_tenant, find_tenant


class Command(BaseCommand):
    help = "Make a tenant with an admin and an API key. Secrets are printed once."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("name")
        parser.add_argument("--slug", help="short name for commands (default: from the name)")
        parser.add_argument("--operator", default="operator", help="who administers it")
        parser.add_argument("--engine", choices=Tenant.Engine.values, default=Tenant.Engine.LOCAL)

    def handle(self, *args: Any, **options: Any) -> None:
        slug = options["slug"] or slugify(options["name"])
        if not slug:
            raise CommandError("The name gives no slug: name one with --slug.")
        if find_tenant(slug):
            raise CommandError(f"There is a tenant {slug} already.")
        operator = ensure_operator_named(options["operator"], self.stdout)
        tenant = create_tenant(options["name"], slug, engine=options["engine"])
        add_member(tenant, operator, Membership.Role.ADMIN)
        _, key = create_key(tenant, "first", ["read", "write"])
        self.stdout.write(f"Tenant    {slug}\nAPI key   {key}\nThe key is shown only now: keep it.")
