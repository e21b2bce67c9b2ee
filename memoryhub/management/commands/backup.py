"""`manage.py backup hub.tar`: all of the hub in one file, while it runs."""

from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.db import Error

from memoryhub.management.backups import BackupError, build_owner_dsn, make_backup, verify_backup


class Command(BaseCommand):
    help = (
        "Write a backup of the whole hub, its signing key included, or look whether one is whole."
    )
    requires_system_checks = ()

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", type=Path)
        parser.add_argument("--verify", action="store_true", help="only read a backup that exists")

    def handle(self, *args: Any, **options: Any) -> None:
        file: Path = options["file"]
        if file.exists() and not options["verify"]:
            raise CommandError(f"{file} exists: a backup is not written over another one.")
        try:
            if options["verify"]:
                made = verify_backup(file)
            else:
                made = make_backup(file, build_owner_dsn())
        except (BackupError, Error, OSError) as error:
            raise CommandError(str(error)) from error
        self.stdout.write(
            f"{file}: {made.total:,} rows in {len(made.rows)} tables, {file.stat().st_size:,} bytes"
        )
        self.stdout.write("It holds the signing key and all that is remembered: keep it safe.")
