"""`manage.py restore hub.tar`: a backup put into an empty hub."""

from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError
from django.db import Error

from memoryhub.embedded.server import ensure_running
from memoryhub.launcher import is_data_dir_in_use
from memoryhub.management.backups import BackupError, build_owner_dsn, restore_backup


class Command(BaseCommand):
    help = "Put a backup into an empty database, and its signing key into the data folder."
    requires_system_checks = ()

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", type=Path)

    def handle(self, *args: Any, **options: Any) -> None:
        if settings.EMBEDDED:
            if is_data_dir_in_use(settings.DATA_DIR):
                raise CommandError("The hub is running: stop it first (Ctrl-C where it started).")
            ensure_running(settings.DATA_DIR)
        try:
            back = restore_backup(
                options["file"], build_owner_dsn(), settings.DATA_DIR / "secret_key"
            )
        except (BackupError, Error, OSError) as error:
            raise CommandError(str(error)) from error
        self.stdout.write(f"{back.total:,} rows in {len(back.rows)} tables are back, all counted.")
        self.stdout.write("Unless MEMORYHUB_SECRET_KEY is set, its signing key is in use as well.")
