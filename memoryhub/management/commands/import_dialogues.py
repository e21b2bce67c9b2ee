"""`manage.py import_dialogues PATH --format … --tenant …`: dialogue files into a tenant."""

from __future__ import annotations

import time
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from memoryhub.bootstrap import ingest_conversations
from memoryhub.dialogues.formats import PARSERS, read_dialogues
from memoryhub.errors import MemoryHubError
from memoryhub.management.arguments import add_tenant_argument, get_tenant, show_progress


class Command(BaseCommand):
    help = "Import dialogues. Run again after a break, it goes on where it stopped."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("path", type=Path)
        parser.add_argument("--format", choices=PARSERS, required=True)
        add_tenant_argument(parser)
        parser.add_argument("--limit", type=int, help="conversations at most")

    def handle(self, *args: Any, **options: Any) -> None:
        tenant = get_tenant(options["tenant"])
        started = time.monotonic()
        try:
            conversations = read_dialogues(options["path"], options["format"])[: options["limit"]]
            with show_progress("turn") as progress:
                done = ingest_conversations(tenant, conversations, progress)
        except MemoryHubError as error:
            raise CommandError(f"{error.field or 'import'}: {error.message}") from error
        seconds = time.monotonic() - started
        self.stdout.write(
            f"{done.turns} turns, {done.new} of them new, in {seconds:.0f} s "
            f"({done.new / seconds:.1f} new turns/s)"
        )
        if done.failed:
            raise CommandError(f"{done.failed} sessions failed: see the jobs page.")
