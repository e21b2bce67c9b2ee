"""`manage.py bring SOURCE PATH --tenant …`: memories of another system into a tenant."""

from __future__ import annotations

import json
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from memoryhub.errors import MemoryHubError
from memoryhub.importers.execute import ImportRequest, import_file, parse_kinds
from memoryhub.importers.report import ImportReport
from memoryhub.importers.sources import SOURCES
from memoryhub.management.arguments import add_tenant_argument, get_tenant, show_progress

MAX_SKIPPED_SHOWN = 20


class Command(BaseCommand):
    help = "Bring memories over from another system. Run again, it adds nothing twice."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("source", choices=SOURCES)
        parser.add_argument("path", type=Path)
        add_tenant_argument(parser)
        whose = "whose all of it is (default: whom the file names)"
        parser.add_argument("--subject", "--space", default="", help=whose)
        parser.add_argument("--only", default="", help="kinds to take, with commas: turn,fact")
        parser.add_argument("--dry-run", action="store_true", help="report, and write nothing")
        parser.add_argument("--json", action="store_true", help="print the whole report as JSON")

    def handle(self, *args: Any, **options: Any) -> None:
        tenant = get_tenant(options["tenant"])
        path: Path = options["path"]
        try:
            wanted = ImportRequest(
                source=SOURCES[options["source"]],
                open_file=lambda: path.open("rb"),
                file=path.name,
                actor="command line",
                subject=options["subject"],
                only=parse_kinds(options["only"].split(",")),
                dry_run=options["dry_run"],
            )
            with show_progress("item") as progress:
                report = import_file(tenant.id, wanted, timezone.now(), progress)
        except OSError as error:
            raise CommandError(f"{path} can't be read: {error}") from error
        except MemoryHubError as error:
            raise CommandError(f"{error.field or 'import'}: {error.message}") from error
        if options["json"]:
            self.stdout.write(json.dumps(report.to_dict(), ensure_ascii=False, indent=1))
        else:
            self._write_report(report)

    def _write_report(self, report: ImportReport) -> None:
        verb = "would be taken" if report.dry_run else "taken"
        for kind, found in report.found.items():
            taken, already = report.taken[kind], report.already[kind]
            self.stdout.write(f"{kind:6} {found} found, {taken} {verb}, {already} there already")
        for reason, count in report.reasons.most_common():
            self.stdout.write(f"skipped {count}: {reason}")
        for each in report.skipped[:MAX_SKIPPED_SHOWN]:
            self.stdout.write(f"  {each['where']} {each['id']}: {each['reason']}")
        if report.unknown_fields:
            self.stdout.write(f"unknown fields: {', '.join(report.unknown_fields)}")
        if report.taken["turn"] and not report.dry_run:
            self.stdout.write("What was said is read by the hub's workers.")
