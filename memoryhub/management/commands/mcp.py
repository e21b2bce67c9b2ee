"""`manage.py mcp`: the memory as tools over standard input and output."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any
from urllib.parse import urlencode, urlsplit

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from memoryhub import env


class Command(BaseCommand):
    help = "Serve the Model Context Protocol on standard input and output, by a running hub."
    requires_system_checks = ()

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--url", help="the hub's address (default: the one on this machine)")
        parser.add_argument("--key", help="an API key (default: MEMORYHUB_API_KEY)")
        parser.add_argument("--subject", default="", help="whose memory, where a call names nobody")
        parser.add_argument(
            "--tools", default="", help="which tools to show: hub,blocks,windows,mem0,openmemory"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        import anyio

        from api.mcp.relay import HubUnreachable, relay_stdio

        key = options["key"] or env.read_text("MEMORYHUB_API_KEY")
        if not key:
            raise CommandError("A key is needed: --key, or MEMORYHUB_API_KEY.")
        url = build_address(options["url"], subject=options["subject"], tools=options["tools"])
        try:
            anyio.run(relay_stdio, url, key)
        except HubUnreachable as error:
            raise CommandError(f"{url}: {error}") from error


def build_address(hub: str | None, **query: str) -> str:
    """Of the protocol on a hub. Raises CommandError for what is no http address."""
    hub = (hub or f"http://{settings.HOST}:{settings.PORT}").rstrip("/")
    if urlsplit(hub).scheme not in ("http", "https") or not urlsplit(hub).netloc:
        raise CommandError(f"{hub}: an address is needed, as https://memory.example.com")
    given = urlencode({name: value for name, value in query.items() if value})
    return f"{hub.removesuffix('/mcp')}/mcp" + (f"?{given}" if given else "")
