"""`manage.py import_dialogues PATH --format … --tenant …`: dialogue files into a tenant."""

from __future__ import annotations

import time
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from tqdm import tqdm

from memoryhub.bootstrap import DEMO_SLUG, ingest_conversations
from memoryhub.dialogues.formats import PARSERS, read_dialogues
from memoryhub.errors import MemoryHubError
from memoryhub.tenants.services import find_tenant


class Command(BaseCommand):
    help = "Import dialogues. Run again after a break, it goes on where it stopped."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("path", type=Path)
        parser.add_argument("--format", choices=PARSERS, required=True)
        parser.add_argument("--tenant", default=DEMO_SLUG, help="the tenant's slug (default: demo)")
        parser.add_argument("--limit", type=int, help="conversations at most")

    def handle(self, *args: Any, **options: Any) -> None:
        tenant = find_tenant(options["tenant"])
        if tenant is None:
            raise CommandError(f"There is no tenant {options['tenant']}.")
        started = time.monotonic()
        try:
            conversations = read_dialogues(options["path"], options["format"])[: options["limit"]]
            with tqdm(unit="turn", disable=None) as bar:
                done = ingest_conversations(
                    tenant, conversations, lambda at, total: _update_bar(bar, at, total)
                )
        except MemoryHubError as error:
            raise CommandError(f"{error.field or 'import'}: {error.message}") from error
        seconds = time.monotonic() - started
        self.stdout.write(
            f"{done.turns} turns, {done.new} of them new, in {seconds:.0f} s "
            f"({done.new / seconds:.1f} new turns/s)"
        )
        if done.failed:
            raise CommandError(f"{done.failed} sessions failed: see the jobs page.")


def _update_bar(bar: Any, at: int, total: int) -> None:
    bar.total = total
    bar.update(at - bar.n)
