"""`manage.py models probe [NAME ...]`: what the models in use can do."""

from __future__ import annotations

import json
from argparse import ArgumentParser
from dataclasses import asdict
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from memoryhub.engines.llm.client.probe import ModelCapabilities, probe_model, save_capabilities
from memoryhub.errors import EngineError
from memoryhub.inference.selection import PROBE_FILE_NAME


class Command(BaseCommand):
    help = "Ask language models small things to find out what they can do."
    requires_system_checks = ()

    def add_arguments(self, parser: ArgumentParser) -> None:
        actions = parser.add_subparsers(dest="action", required=True)
        probing = actions.add_parser("probe", help="ways to ask for JSON, tools, options, speed")
        probing.add_argument("name", nargs="*", help="models (default: MEMORYHUB_LLM_MODEL)")
        probing.add_argument("--json", action="store_true", help="print JSON")

    def handle(self, *args: Any, **options: Any) -> None:
        if not settings.OPENAI_BASE_URL:
            raise CommandError("OPENAI_BASE_URL is not set: there is no endpoint to ask.")
        names = options["name"] or [settings.LLM_MODEL]
        if not all(names):
            raise CommandError("MEMORYHUB_LLM_MODEL is not set: name a model.")
        found = [self._probe_model(name) for name in names]
        if options["json"]:
            self.stdout.write(json.dumps([asdict(each) for each in found], indent=2))
        if not all(each.is_usable for each in found):
            raise CommandError("A model gave no usable JSON in any way.")

    def _probe_model(self, name: str) -> ModelCapabilities:
        try:
            url, key = settings.OPENAI_BASE_URL, settings.OPENAI_API_KEY
            found = probe_model(url, key, name, timeout=settings.MODEL_TIMEOUT_SECONDS)
        except EngineError as error:
            raise CommandError(f"{name}: {error.message}") from error
        save_capabilities(settings.DATA_DIR / PROBE_FILE_NAME, found)
        for line in _format_capabilities(found):
            self.stderr.write(line)
        return found


def _format_capabilities(found: ModelCapabilities) -> list[str]:
    return [
        f"{found.model} at {found.endpoint}",
        f"  JSON         {', '.join(found.shapes) or 'none'}",
        f"  tools        {'yes' if found.tools else 'no'}",
        f"  refuses      {', '.join(found.without) or 'nothing'}",
        f"  an answer    {found.milliseconds / 1000:.1f} s",
        *(f"  {tried}: {why}" for tried, why in found.troubles.items()),
    ]
