from __future__ import annotations

import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from memoryhub.env import ensure_secret_key


def test_it_is_made_once_and_only_the_owner_reads_it(tmp_path: Path) -> None:
    folder = tmp_path / "var"
    key = ensure_secret_key(folder)
    assert len(key) >= 50
    assert ensure_secret_key(folder) == key
    assert stat.S_IMODE((folder / "secret_key").stat().st_mode) == 0o600


def test_of_many_makers_one_wins(tmp_path: Path) -> None:
    with ThreadPoolExecutor(16) as pool:
        assert len(set(pool.map(ensure_secret_key, [tmp_path] * 64))) == 1
    assert [file.name for file in tmp_path.iterdir()] == ["secret_key"]
