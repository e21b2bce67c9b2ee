"""`manage.py tenant`: where tenants are, among several cells, and how much each may keep."""

from __future__ import annotations

import shlex
import subprocess
from argparse import ArgumentParser
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError
from psycopg import Error

from memoryhub import env
from memoryhub.dialogues.quota import count_kept_messages, read_quota
from memoryhub.errors import InvalidInput
from memoryhub.management.arguments import get_tenant
from memoryhub.management.backups import build_owner_dsn
from memoryhub.management.moves import (
    MoveError,
    Routes,
    list_routes,
    move_tenant,
    purge_moved_tenant,
)
from memoryhub.tenants.scope import tenant_scope
from memoryhub.tenants.services import set_quota


class Command(BaseCommand):
    help = (
        "Move a tenant to another cell, tell proxies which keys and hosts are this one's, and say "
        "how many messages a tenant may keep."
    )
    requires_system_checks = ()

    def add_arguments(self, parser: ArgumentParser) -> None:
        actions = parser.add_subparsers(dest="action", required=True)
        move = actions.add_parser(
            "move", help="to the cell whose owner's address is in MEMORYHUB_MOVE_TO"
        )
        move.add_argument("slug")
        move.add_argument("--cell", required=True, help="its name, which proxies know it by")
        switch = "while everybody waits, run this; it is given lines of a map, a key, and the cell"
        move.add_argument("--switch", default="", help=switch)
        purge = actions.add_parser("purge", help="delete what a tenant left that has moved")
        purge.add_argument("slug")
        quota = actions.add_parser("quota", help="how many messages a tenant has, and may keep")
        quota.add_argument("slug")
        limit = quota.add_mutually_exclusive_group()
        limit.add_argument("--messages", type=int, help="set it; 0 for any number")
        limit.add_argument("--default", action="store_true", help="what MEMORYHUB_MAX_TURNS says")
        routes = actions.add_parser("routes", help="what HAProxy's maps are to say of this cell")
        routes.add_argument("map", choices=("keys", "slugs"))
        routes.add_argument("--cell", required=True, help="its name, which proxies know it by")

    def handle(self, *args: Any, action: str, **options: Any) -> None:
        try:
            if action == "move":
                self._move(options["slug"], options["cell"], options["switch"])
            elif action == "purge":
                gone = purge_moved_tenant(options["slug"], build_owner_dsn())
                self.stdout.write(f"{gone:,} rows deleted.")
            elif action == "quota":
                self._tell_quota(options["slug"], options["messages"], options["default"])
            else:
                routes = list_routes(build_owner_dsn(), settings.CELL)
                found = routes.keys if options["map"] == "keys" else routes.slugs
                self.stdout.write(
                    "".join(f"{each} {options['cell']}\n" for each in found), ending=""
                )
        except (MoveError, Error) as error:
            raise CommandError(str(error)) from error

    def _tell_quota(self, slug: str, messages: int | None, default: bool) -> None:
        tenant = get_tenant(slug)
        try:
            if messages is not None or default:
                set_quota(tenant.id, messages)
        except InvalidInput as error:
            raise CommandError(f"--{error.field}: {error.message}") from error
        with tenant_scope(tenant.id):
            tenant.refresh_from_db()
            kept = count_kept_messages()
        most = read_quota(tenant)
        self.stdout.write(f"{kept:,} messages of {f'{most:,}' if most else 'any number'}.")

    def _move(self, slug: str, cell: str, command: str) -> None:
        target = env.read_text("MEMORYHUB_MOVE_TO")
        if not target:
            raise CommandError("MEMORYHUB_MOVE_TO has to name the other cell's database.")

        def switch(routes: Routes) -> None:
            lines = [f"keys {key} {cell}\n" for key in routes.keys]
            lines += [f"slugs {each} {cell}\n" for each in routes.slugs]
            if command:
                _run_switch(command, "".join(lines))

        moved = move_tenant(slug, build_owner_dsn(), target, cell, switch)
        self.stdout.write(f"{moved.rows:,} rows in {moved.copy_seconds:.1f} s.")
        self.stdout.write(
            f"Writes were held for {moved.held_seconds:.2f} s, {moved.changed:,} rows had changed."
        )


def _run_switch(command: str, lines: str) -> None:
    """Raises MoveError."""
    if subprocess.run(shlex.split(command), input=lines, text=True, check=False).returncode:  # noqa: S603
        raise MoveError(f"{command} failed: it stays here; purge there what arrived.")
