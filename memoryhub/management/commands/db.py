"""`manage.py db start|status|stop|scrub|erase`: the embedded PostgreSQL by hand."""

from __future__ import annotations

import sys
from argparse import ArgumentParser
from typing import Any

import psycopg
from django.conf import settings
from django.core.management.base import BaseCommand, CommandError
from psycopg import sql

from memoryhub.embedded import EmbeddedError, EmbeddedPostgres
from memoryhub.launcher import is_data_dir_in_use

_OWN_TABLES = """
SELECT schemaname, tablename FROM pg_tables
WHERE schemaname NOT IN ('pg_catalog', 'information_schema') AND tableowner = current_user
ORDER BY 1, 2
"""


class Command(BaseCommand):
    help = "Starts, stops, scrubs or erases the embedded PostgreSQL, or says whether it runs."
    requires_system_checks = ()

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("action", choices=["start", "status", "stop", "scrub", "erase"])
        parser.add_argument("--yes", action="store_true", help="erase without asking")
        parser.add_argument("--port", type=int, help="listen on 127.0.0.1 too; 0: socket only")

    def handle(self, *args: Any, **options: Any) -> None:
        if not settings.EMBEDDED:
            raise CommandError("DATABASE_URL is set: there is no embedded PostgreSQL.")
        server = EmbeddedPostgres(settings.DATA_DIR, port=options["port"])
        try:
            self.run_action(server, options["action"], sure=options["yes"])
        except EmbeddedError as error:
            raise CommandError(error.message) from error

    def run_action(self, server: EmbeddedPostgres, action: str, *, sure: bool) -> None:
        """`start` leaves it running. Exit status 3, as of service scripts, when it is not."""
        if action in ("stop", "erase") and is_data_dir_in_use(settings.DATA_DIR):
            raise CommandError("The hub is running: stop it first (Ctrl-C where it was started).")
        if action == "start":
            self.stdout.write("started" if server.start(keep=True) else "already running")
        elif action == "stop":
            self.stdout.write("stopped" if server.stop() else "not running")
        elif action == "erase":
            self.erase_data(server, sure=sure)
        elif not server.is_running():
            self.stdout.write("not running")
            sys.exit(3)
        elif action == "scrub":
            self.stdout.write(f"Written anew: {scrub_tables(server.dsn('owner')):,} tables.")
        if action in ("start", "status"):
            self.stdout.write(server.dsn("app"))

    def erase_data(self, server: EmbeddedPostgres, *, sure: bool) -> None:
        """Asks first; anything but "yes", no answer included, keeps the data."""
        if not sure and not ask_confirmation(f"This erases every memory in {server.data_dir}."):
            self.stdout.write("Nothing was erased.")
            return
        server.erase()
        for path in server.data_dir.glob("schedule*"):
            path.unlink()
        self.stdout.write("Erased. The next start makes a new database.")


def scrub_tables(dsn: str) -> int:
    """Write every table anew, so that no file holds what was erased from it; how many. Each is out
    of reach while it is written, and needs its size again on the disk."""
    with psycopg.connect(dsn, autocommit=True) as connection:
        tables = connection.execute(_OWN_TABLES).fetchall()
        for schema, name in tables:
            table = sql.Identifier(schema, name)
            connection.execute(sql.SQL("VACUUM (FULL, ANALYZE) {}").format(table))
    return len(tables)


def ask_confirmation(warning: str) -> bool:
    try:
        return input(f'{warning} Type "yes" to go on: ').strip().lower() == "yes"
    except EOFError:
        return False
