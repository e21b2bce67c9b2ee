"""`manage.py create_key NAME --scopes read,write --subject ana --expires 2030-01-31`: a key."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from memoryhub.errors import InvalidInput
from memoryhub.management.arguments import add_tenant_argument, get_tenant
from memoryhub.tenants.key_expiry import check_to_come, read_expiry
from memoryhub.tenants.models import ApiKey
from memoryhub.tenants.scope import tenant_scope
from memoryhub.tenants.services import create_key, ensure_space


class Command(BaseCommand):
    help = "Make an API key, also for a subject that nothing is known of yet. It is printed once."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("name", help="who will use it")
        add_tenant_argument(parser)
        known = ", ".join(ApiKey.Scope.values)
        parser.add_argument("--scopes", default="read,write", help=f"with commas: {known}")
        whom = "the only subject it reaches; made if it is not there (default: all)"
        parser.add_argument("--subject", default="", help=whom)
        until = "the last day, as 2030-01-31, or a time (default: never)"
        parser.add_argument("--expires", default="", help=until)

    def handle(self, *args: Any, **options: Any) -> None:
        tenant, name = get_tenant(options["tenant"]), options["name"].strip()
        scopes = list(dict.fromkeys(each.strip() for each in options["scopes"].split(",")))
        if not 1 <= len(name) <= ApiKey.NAME_LENGTH:
            raise CommandError(f"A name has 1 to {ApiKey.NAME_LENGTH} characters.")
        try:
            with tenant_scope(tenant.id):
                space = None
                if options["subject"]:
                    space = ensure_space(tenant.id, options["subject"])
                until = read_expiry(options["expires"], space) if options["expires"] else None
                if until is not None:
                    check_to_come(until, timezone.now())
                row, key = create_key(tenant, name, scopes, space=space, expires_at=until)
        except InvalidInput as error:
            raise CommandError(f"{error.field}: {error.message}") from error
        ends = f"{until:%Y-%m-%d %H:%M %Z}" if until else "never"
        reach = f"only {space.subject}" if space else "all subjects"
        self.stdout.write(
            f"API key   {key}\nMay       {', '.join(row.scopes)}; {reach}\n"
            f"Expires   {ends}\nThe key is shown only now: keep it."
        )
