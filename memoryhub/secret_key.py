"""The signing key of an installation that was not given one: made once, kept in a 0600 file."""

from __future__ import annotations

import os
import secrets
import tempfile
from contextlib import suppress
from pathlib import Path


def ensure_secret_key(data_dir: Path) -> str:
    """Return the key kept under `data_dir`, making it on first use."""
    file = data_dir / "secret_key"
    if not file.exists():
        data_dir.mkdir(parents=True, exist_ok=True)
        _create_key_file(file)
    return file.read_text()


def _create_key_file(file: Path) -> None:
    # A hard link appears whole or not at all, and the first of several makers wins.
    descriptor, name = tempfile.mkstemp(dir=file.parent)
    with os.fdopen(descriptor, "w") as target:
        target.write(secrets.token_urlsafe(48))
    with suppress(FileExistsError):
        os.link(name, file)
    os.unlink(name)
