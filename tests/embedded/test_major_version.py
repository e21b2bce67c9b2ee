"""Data of another major version of PostgreSQL is left as it is."""

from __future__ import annotations

from pathlib import Path

import pytest

from memoryhub.embedded import EmbeddedError, EmbeddedPostgres
from memoryhub.embedded.software import read_major_version


def test_data_of_another_major_version_is_told_and_left_alone(tmp_path: Path) -> None:
    postgres = EmbeddedPostgres(tmp_path)
    postgres.places.cluster.mkdir(parents=True)
    version = postgres.places.cluster / "PG_VERSION"
    version.write_text(f"{int(read_major_version()) - 1}\n")
    with pytest.raises(EmbeddedError, match=r"back-up\.md"):
        postgres.boot_server()
    assert [each.name for each in postgres.places.cluster.iterdir()] == ["PG_VERSION"]
