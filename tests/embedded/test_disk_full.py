"""A full disk, on a small file system of its own."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from memoryhub.embedded import EmbeddedError, EmbeddedPostgres
from memoryhub.embedded.errors import explain_os_errors, find_advice
from memoryhub.embedded.server import THROWAWAY_SETTINGS
from tests.embedded.helpers import query_value


@pytest.fixture
def small(folder: Path, as_root: None) -> Iterator[EmbeddedPostgres]:
    """A server on a file system of 64 MB: enough for initdb, not for much more."""
    disk = folder / "disk"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=64m,mode=755", "tmpfs", str(disk)]
    mounted = subprocess.run(mount, capture_output=True, text=True)
    if mounted.returncode:
        pytest.skip(f"cannot mount: {mounted.stderr.strip()}")
    server = EmbeddedPostgres(disk / "var", settings=THROWAWAY_SETTINGS)
    yield server
    server.erase()
    subprocess.run(["umount", str(disk)], check=True)


def fill_disk(disk: Path) -> Path:
    """Takes all the room that is left."""
    ballast = disk / "ballast"
    with suppress(OSError), ballast.open("wb", buffering=0) as file:
        while file.write(bytes(65536)):
            pass
    assert not os.statvfs(disk).f_bavail
    return ballast


def test_no_room_for_a_first_start(small: EmbeddedPostgres) -> None:
    ballast = fill_disk(small.data_dir.parent)
    with pytest.raises(EmbeddedError, match="the disk is full"):
        small.start()
    ballast.unlink()
    assert small.start()
    assert query_value(small.dsn("app"), "SELECT 1") == 1


def test_no_room_for_initdb_leaves_nothing_half_made(small: EmbeddedPostgres) -> None:
    (small.data_dir.parent / "ballast").write_bytes(bytes(45_000_000))
    with pytest.raises(EmbeddedError, match=r"Cannot make a database in .*: the disk is full"):
        small.start()
    assert not (small.places.home / "making").exists()
    assert not small.places.cluster.exists()


def test_no_room_for_a_later_start(small: EmbeddedPostgres) -> None:
    small.start()
    small.stop()
    ballast = fill_disk(small.data_dir.parent)
    with pytest.raises(EmbeddedError, match="the disk is full"):
        small.start()
    ballast.unlink()
    assert small.start()


def test_what_is_not_known_is_quoted() -> None:
    assert find_advice("LOG: a\nFATAL: something new\n") == "LOG: a\nFATAL: something new"
    assert find_advice("") == "it said nothing"


def test_a_read_only_disk_is_explained() -> None:
    with pytest.raises(EmbeddedError, match="read-only"), explain_os_errors(Path("/data")):
        raise OSError(30, "Read-only file system", "/data/var")
