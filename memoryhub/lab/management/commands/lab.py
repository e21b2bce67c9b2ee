"""`manage.py lab recall PATH`: evidence recall and latency on a public dialogue set."""

from __future__ import annotations

import json
from argparse import ArgumentParser
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from memoryhub.errors import MemoryHubError
from memoryhub.lab.datasets import Dialogue, load
from memoryhub.lab.deriving import derive
from memoryhub.lab.recall import measure
from memoryhub.lab.tables import derived_lines_of, lines_of
from memoryhub.tenants.models import Tenant


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

        made = actions.add_parser("derive", help="what the write path makes of a dialogue")
        made.add_argument("path", type=Path, help="a LoCoMo or MemoryBank JSON file")
        made.add_argument("--engine", choices=Tenant.Engine.values, default=Tenant.Engine.LOCAL)
        made.add_argument("--preset", default="balanced")
        made.add_argument("--limit-conversations", type=int, metavar="N")
        made.add_argument("--turns", type=int, metavar="N", help="of each conversation, at most")
        made.add_argument("--json", type=Path, metavar="FILE", help="write the figures here too")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            dialogues = load(options["path"])[: options["limit_conversations"]]
            if options["action"] == "recall":
                report = self._recall(dialogues, options)
                lines = lines_of(report)
            else:
                report = self._derive(dialogues, options)
                lines = derived_lines_of(report)
        except MemoryHubError as error:
            raise CommandError(error.message) from error
        for line in lines:
            self.stdout.write(line)
        if options["json"]:
            options["json"].write_text(json.dumps(report, indent=2) + "\n", encoding="utf-8")

    def _recall(self, dialogues: Sequence[Dialogue], options: dict[str, Any]) -> dict[str, Any]:
        derive = not options["turns_only"]
        return measure(dialogues, derive=derive, progress=self.stderr.write).as_dict()

    def _derive(self, dialogues: Sequence[Dialogue], options: dict[str, Any]) -> dict[str, Any]:
        return derive(
            dialogues,
            engine=options["engine"],
            preset=options["preset"],
            most_turns=options["turns"],
            progress=self.stderr.write,
        ).as_dict()
