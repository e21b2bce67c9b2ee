"""`manage.py import_spaces FILE --tenant …`: what `export_spaces` wrote, into a tenant."""

from __future__ import annotations

import gzip
import zlib
from argparse import ArgumentParser
from pathlib import Path
from typing import IO, Any, cast

from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from memoryhub.errors import MemoryHubError
from memoryhub.exchange.importer import SpaceImportOptions, SpaceImportReport, import_file
from memoryhub.management.arguments import add_tenant_argument, get_tenant


class Command(BaseCommand):
    help = "Bring in a file of an export: all of it, or nothing."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("path", type=Path)
        add_tenant_argument(parser)
        parser.add_argument("--subject", default="", help="another name for a file of one subject")
        parser.add_argument("--dry-run", action="store_true", help="only say what would come in")
        erased = "also what was erased here since the file was written"
        parser.add_argument("--restore-erased", action="store_true", help=erased)

    def handle(self, *args: Any, **options: Any) -> None:
        tenant = get_tenant(options["tenant"])
        asked = (options[name] for name in ("subject", "dry_run", "restore_erased"))
        wanted = SpaceImportOptions(*asked)
        try:
            path: Path = options["path"]
            packed = path.suffix == ".gz"
            with cast("IO[bytes]", gzip.open(path)) if packed else path.open("rb") as file:
                report = import_file(tenant.id, file, "operator", timezone.now(), wanted)
        except MemoryHubError as error:
            raise CommandError(f"Nothing was imported: {error.message}.") from error
        except (OSError, EOFError, zlib.error) as error:
            raise CommandError(f"{options['path']} can't be read: {error}.") from error
        self._write_report(report)

    def _write_report(self, report: SpaceImportReport) -> None:
        would = "would come in" if report.dry_run else "came in"
        for kind, count in sorted(report.counts.items()):
            self.stdout.write(f"{count:>10,}  {kind}")
        subjects = ", ".join(each["subject"] for each in report.spaces[:10])
        self.stdout.write(f"{len(report.spaces):,} subjects {would}, ids {report.ids}: {subjects}")
        for name, count in report.ignored.items():
            self.stdout.write(f"Not known here, and left out: {name} ({count:,})")
        for name, count in report.left_out.items():
            self.stdout.write(f"The tenant has its own, and keeps it: {name} ({count:,})")
        if made := report.vectors["to_make"]:
            self.stdout.write(f"{made:,} vectors are made by the workers; words are found at once.")
