"""The folder from which the console takes dialogue sets: what an operator put there, by name."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from django.conf import settings
from django.utils.translation import gettext as _

from memoryhub.errors import InvalidInput
from memoryhub.lab.datasets.read import read_dataset

# Larger ones are for the command line: the console reads a file before it begins.
LARGEST_CONSOLE_FILE = 512 * 1024 * 1024
LARGEST_UPLOAD = 64 * 1024 * 1024
_FILE_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}\.json")


@dataclass(frozen=True, slots=True)
class DatasetFile:
    """`size` in bytes."""

    name: str
    size: int
    changed_at: datetime


def get_folder_path() -> Path:
    return Path(settings.LAB_DATA)


def list_files() -> list[DatasetFile]:
    """JSON files in the folder itself, by name. None where there is no folder."""
    try:
        there = sorted(each for each in get_folder_path().glob("*.json") if each.is_file())
        found = [(path.name, path.stat()) for path in there]
    except OSError:
        return []
    return [DatasetFile(n, s.st_size, datetime.fromtimestamp(s.st_mtime, UTC)) for n, s in found]


def get_file_path(name: str) -> Path:
    """Where the file of this name is. Raises InvalidInput for anything that is not in the folder.

    A name is compared with those there are, and never made into a path.
    """
    known = {file.name: file for file in list_files()}
    if name not in known:
        raise InvalidInput(_("there is no such file in the lab's folder"), field="file")
    if known[name].size > LARGEST_CONSOLE_FILE:
        limit = LARGEST_CONSOLE_FILE // 1024**2
        raise InvalidInput(
            _("files of more than %(n)s MB take the command line") % {"n": limit}, field="file"
        )
    return get_folder_path() / name


def store_file(name: str, parts: Iterable[bytes]) -> int:
    """Put a dialogue set into the folder, once it was read; returns how many dialogues it has.

    Raises InvalidInput for a name that is none or is taken, for what is too large, and for what is
    no dialogue set. A file that stands there is never replaced: runs were made of it.
    """
    if not _FILE_NAME.fullmatch(name):
        message = _("letters, digits, dots and dashes, with .json at its end")
        raise InvalidInput(message, field="file")
    folder = get_folder_path()
    folder.mkdir(parents=True, exist_ok=True)
    if (folder / name).exists():
        raise InvalidInput(_("there is a file of this name already"), field="file")
    with tempfile.TemporaryDirectory(dir=folder) as aside:
        written = Path(aside) / name
        _write_parts(written, parts)
        count = len(read_dataset(written).dialogues)
        written.chmod(0o644)
        written.rename(folder / name)
    return count


def _write_parts(file: Path, parts: Iterable[bytes]) -> None:
    size = 0
    with file.open("wb") as target:
        for part in parts:
            size += len(part)
            if size > LARGEST_UPLOAD:
                limit = LARGEST_UPLOAD // 1024**2
                message = _("at most %(limit)s MB; larger ones are put into the folder by hand")
                raise InvalidInput(message % {"limit": limit}, field="file")
            target.write(part)
