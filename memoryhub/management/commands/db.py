"""`manage.py db start|status|stop|erase`: the embedded PostgreSQL by hand."""

from __future__ import annotations

import sys
from argparse import ArgumentParser
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from memoryhub.embedded import EmbeddedError, EmbeddedPostgres
from memoryhub.launcher import is_used


class Command(BaseCommand):
    help = "Starts, stops or erases the embedded PostgreSQL, or says whether it runs."
    requires_system_checks = ()

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("action", choices=["start", "status", "stop", "erase"])
        parser.add_argument("--port", type=int, help="listen on 127.0.0.1 too; 0: socket only")

    def handle(self, *args: Any, **options: Any) -> None:
        if not settings.EMBEDDED:
            raise CommandError("DATABASE_URL is set: there is no embedded PostgreSQL.")
        server = EmbeddedPostgres(settings.DATA_DIR, port=options["port"])
        try:
            self.act(server, options["action"])
        except EmbeddedError as error:
            raise CommandError(error.message) from error

    def act(self, server: EmbeddedPostgres, action: str) -> None:
        """`start` leaves it running. Exit status 3, as of service scripts, when it is not."""
        if action in ("stop", "erase") and is_used(settings.DATA_DIR):
            raise CommandError("The hub is running: stop it first (Ctrl-C where it was started).")
        if action == "start":
            self.stdout.write("started" if server.start(keep=True) else "already running")
        elif action == "stop":
            self.stdout.write("stopped" if server.stop() else "not running")
        elif action == "erase":
            server.erase()
        elif not server.is_running():
            self.stdout.write("not running")
            sys.exit(3)
        if action in ("start", "status"):
            self.stdout.write(server.dsn("app"))
