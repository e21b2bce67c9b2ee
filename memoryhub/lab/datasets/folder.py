"""The folder from which the console takes dialogue sets: what an operator put there, by name."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from django.conf import settings
from django.utils.translation import gettext as _

from memoryhub.errors import InvalidInput

# Larger ones are for the command line: the console reads a file before it begins.
LARGEST_CONSOLE_FILE = 512 * 1024 * 1024


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
