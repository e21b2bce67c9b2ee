"""Files in the database, in parts: written as they come, read as a stream."""

from __future__ import annotations

import io
from collections.abc import Iterable
from datetime import datetime
from typing import IO, Any
from uuid import UUID

from django.db.models import Q
from django.utils.translation import gettext as _

from memoryhub.dialogues.messages import clean_text
from memoryhub.errors import InvalidInput, TooLarge
from memoryhub.importers.models import ImportFile, ImportPart, ImportRun
from memoryhub.tenants.models import Space
from memoryhub.tenants.scope import tenant_scope

PART_BYTES = 1024 * 1024
MOST_FILE_BYTES = 512 * 1024 * 1024


def store_file(tenant_id: UUID, name: str, chunks: Iterable[bytes], now: datetime) -> ImportFile:
    """Store a file. Opens its own scope. Raises InvalidInput for an empty one, TooLarge."""
    with tenant_scope(tenant_id):
        file = ImportFile(tenant_id=tenant_id, name=_clean_file_name(name), created_at=now)
        file.save(force_insert=True)
        for number, data in enumerate(_split_parts(chunks)):
            ImportPart.objects.create(tenant_id=tenant_id, file=file, number=number, data=data)
            file.size += len(data)
            if file.size > MOST_FILE_BYTES:
                most = _("at most %(limit)s MB; larger ones take the command line")
                raise TooLarge(most % {"limit": MOST_FILE_BYTES // 1024**2}, field="file")
        if not file.size:
            raise InvalidInput(_("the file is empty"), field="file")
        file.save(update_fields=["size"])
    return file


def _clean_file_name(name: str) -> str:
    """Without folders, and with what text columns keep."""
    bare = clean_text(name.encode(errors="replace").decode()).replace("\\", "/").rpartition("/")[2]
    return bare[:200]


def _split_parts(chunks: Iterable[bytes]) -> Iterable[bytes]:
    held = bytearray()
    for chunk in chunks:
        held += chunk
        while len(held) >= PART_BYTES:
            yield bytes(held[:PART_BYTES])
            del held[:PART_BYTES]
    if held:
        yield bytes(held)


def open_file(file: ImportFile) -> IO[bytes]:
    """The file's bytes from the start, a part at a time."""
    return io.BufferedReader(_PartReader(file), PART_BYTES)


class _PartReader(io.RawIOBase):
    def __init__(self, file: ImportFile) -> None:
        self._file, self._next, self._held = file, 0, memoryview(b"")

    def readable(self) -> bool:
        return True

    def readinto(self, into: Any) -> int:
        if not self._held:
            with tenant_scope(self._file.tenant_id):
                rows = ImportPart.objects.filter(file=self._file.id, number=self._next)
                data = rows.values_list("data", flat=True).first()
            self._next += 1
            self._held = memoryview(b"" if data is None else data)
        size = min(len(into), len(self._held))
        into[:size] = self._held[:size]
        self._held = self._held[size:]
        return size


def erase_kept_files(space: Space, since: datetime) -> int:
    """Drop the tenant's kept files, which may hold what is erased (spec §11.9), and in what is told
    of imports of the subject all names, the files' too. Call inside the tenant's scope. Returns 0:
    no answer is among them."""
    active = ImportRun.objects.filter(state__in=ImportRun.ACTIVE_STATES)
    ImportFile.objects.exclude(id__in=active.exclude(file=None).values("file_id")).delete()
    about = Q(report__subjects__has_key=space.subject) | Q(subject=space.subject)
    for run in ImportRun.objects.exclude(state__in=ImportRun.ACTIVE_STATES).filter(about):
        run.report |= {"skipped": [], "subjects": {}, "unknown_fields": {}}
        run.file_name = run.subject = run.error = ""
        run.save(update_fields=["report", "file_name", "subject", "error"])
    return 0
