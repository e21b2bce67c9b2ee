"""`manage.py lab recall PATH`: evidence recall and latency on a public dialogue set."""

from __future__ import annotations

import json
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from memoryhub.errors import MemoryHubError
from memoryhub.lab.datasets import load
from memoryhub.lab.recall import measure
from memoryhub.lab.tables import lines_of


class Command(BaseCommand):
    help = "Measure the hub on LoCoMo or MemoryBank data, in throw-away tenants."

    def add_arguments(self, parser: ArgumentParser) -> None:
        actions = parser.add_subparsers(dest="action", required=True)
        recall = actions.add_parser("recall", help="evidence recall, nDCG, tokens and latency")
        recall.add_argument("path", type=Path, help="a LoCoMo or MemoryBank JSON file")
        recall.add_argument("--limit-conversations", type=int, metavar="N")
        recall.add_argument("--json", type=Path, metavar="FILE", help="write the figures here too")
        recall.add_argument(
            "--turns-only", action="store_true", help="index turns only, derive no facts: faster"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            dialogues = load(options["path"])[: options["limit_conversations"]]
            report = measure(
                dialogues, derive=not options["turns_only"], progress=self.stderr.write
            ).as_dict()
        except MemoryHubError as error:
            raise CommandError(error.message) from error
        for line in lines_of(report):
            self.stdout.write(line)
        if options["json"]:
            options["json"].write_text(json.dumps(report, indent=2) + "\n", encoding="utf-8")
