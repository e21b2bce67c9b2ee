from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from memoryhub.embedded import EmbeddedPostgres
from memoryhub.embedded.server import THROWAWAY_SETTINGS


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder every account can reach (pytest's own is 0700, which one test wants)."""
    made = Path(tempfile.mkdtemp(prefix="mh-"))
    made.chmod(0o755)
    yield made
    for home in list(made.rglob("postgres")):
        if (home / "start.lock").exists():
            EmbeddedPostgres(home.parent).erase()
    shutil.rmtree(made)


@pytest.fixture
def server(folder: Path) -> EmbeddedPostgres:
    """Not yet started; erased at the end."""
    return EmbeddedPostgres(folder / "var", settings=THROWAWAY_SETTINGS)


@pytest.fixture
def as_root() -> None:
    if os.geteuid() != 0:
        pytest.skip("needs root")
