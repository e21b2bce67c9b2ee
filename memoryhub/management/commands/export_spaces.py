"""`manage.py export_spaces FILE --tenant …`: a subject, or all of a tenant, as JSON lines."""

from __future__ import annotations

import gzip
import os
from argparse import ArgumentParser
from collections.abc import Mapping
from pathlib import Path
from typing import IO, Any, cast
from uuid import UUID

from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from memoryhub.exchange.exporter import export_space, export_tenant
from memoryhub.management.arguments import add_tenant_argument, get_tenant
from memoryhub.tenants.scope import tenant_scope
from memoryhub.tenants.services import find_space


class Command(BaseCommand):
    help = "Write everything of a subject, or of all of a tenant's, to a file. .gz: compressed."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("path", type=Path, help="the file to write; it may not exist yet")
        add_tenant_argument(parser)
        parser.add_argument("--subject", help="this one alone (default: all, with the policy)")
        parser.add_argument(
            "--embeddings", action="store_true", help="also the vectors, so that none is made anew"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        tenant = get_tenant(options["tenant"])
        path = options["path"]
        partial = path.with_name(f".{path.name}.part")
        try:
            with _open_new_file(partial, path.suffix == ".gz") as out:
                written = self._write(tenant.id, options["subject"], out, options["embeddings"])
            os.link(partial, path)  # unlike a renaming, it takes no other file's place
        except FileExistsError as error:
            raise CommandError(f"{error.filename2 or error.filename} is there already.") from error
        except OSError as error:
            raise CommandError(f"{path} can't be written: {error.strerror}.") from error
        finally:
            partial.unlink(missing_ok=True)
        rows = sum(written.values())
        self.stdout.write(f"{rows:,} rows of {written['space']:,} subjects in {path}")

    def _write(
        self, tenant_id: UUID, subject: str | None, out: IO[bytes], embeddings: bool
    ) -> Mapping[str, int]:
        now = timezone.now()
        if subject is None:
            return export_tenant(tenant_id, out, now, embeddings=embeddings)
        with tenant_scope(tenant_id):
            space = find_space(subject)
        if space is None:
            raise CommandError(f"There is no subject {subject}.")
        return export_space(tenant_id, space.id, out, now, embeddings=embeddings)


def _open_new_file(path: Path, compressed: bool) -> IO[bytes]:
    """Readable by its owner alone: it holds all that is known about people."""
    os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
    return cast("IO[bytes]", gzip.open(path, "wb")) if compressed else path.open("wb")
