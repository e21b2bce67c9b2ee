"""`manage.py receipt ID > receipt.json`, `manage.py receipt --verify receipt.json`."""

from __future__ import annotations

import json
from argparse import ArgumentParser
from pathlib import Path
from typing import Any
from uuid import UUID

from django.core.management.base import BaseCommand, CommandError

from memoryhub.management.arguments import add_tenant_argument, get_tenant
from memoryhub.pipeline.erasure.signed_receipts import (
    is_genuine,
    list_changes_since,
    sign_receipt,
)
from memoryhub.tenants.scope import tenant_scope
from notes.models import Receipt


class Command(BaseCommand):
    help = "Print the signed receipt of an erasure, or look whether a printed one is this hub's."

    def add_arguments(self, parser: ArgumentParser) -> None:
        add_tenant_argument(parser)
        wanted = parser.add_mutually_exclusive_group(required=True)
        wanted.add_argument("id", nargs="?", type=UUID, help="of the receipt")
        wanted.add_argument("--verify", type=Path, metavar="FILE", help="a printed receipt")

    def handle(self, *args: Any, **options: Any) -> None:
        if options["verify"]:
            self._verify(options["verify"])
            return
        tenant = get_tenant(options["tenant"])
        with tenant_scope(tenant.id):
            receipt = Receipt.objects.filter(id=options["id"]).first()
        if receipt is None:
            raise CommandError(f"{tenant.slug} has no receipt {options['id']}.")
        self.stdout.write(json.dumps(sign_receipt(receipt), indent=2, ensure_ascii=False))

    def _verify(self, file: Path) -> None:
        try:
            told = json.loads(file.read_text())
        except (OSError, ValueError) as error:
            raise CommandError(f"{file} can't be read: {error}") from error
        if not isinstance(told, dict) or not is_genuine(told):
            raise CommandError(f"{file} is no receipt of this hub, or was changed.")
        self.stdout.write(f"Genuine: {told['target']} erased at {told['created_at']}.")
        for name, time in list_changes_since(told).items():
            self.stdout.write(f"Since it was printed: {name} {time}.")
