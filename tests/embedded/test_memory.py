"""The share of the memory that the embedded PostgreSQL is given."""

from __future__ import annotations

from pathlib import Path

import pytest

from memoryhub.embedded import EmbeddedPostgres
from memoryhub.embedded.server import compute_shared_buffers, read_available_memory

GIB = 2**30


@pytest.mark.parametrize(
    ("memory", "share"),
    [(GIB // 2, "128MB"), (4 * GIB, "512MB"), (8 * GIB, "1024MB"), (256 * GIB, "2048MB")],
)
def test_an_eighth_within_bounds(memory: int, share: str) -> None:
    assert compute_shared_buffers(memory) == share


@pytest.mark.parametrize(
    ("written", "binds"), [(f"{GIB}\n", True), ("max\n", False), (str(2**63 - 4096), False)]
)
def test_a_container_s_limit_counts(tmp_path: Path, written: str, binds: bool) -> None:
    limit = tmp_path / "memory.max"
    limit.write_text(written)
    whole = read_available_memory([])
    assert whole > GIB
    assert read_available_memory([limit, tmp_path / "missing"]) == (GIB if binds else whole)


def test_it_is_what_the_server_is_started_with(tmp_path: Path) -> None:
    share = compute_shared_buffers(read_available_memory())
    assert EmbeddedPostgres(tmp_path).settings["shared_buffers"] == share
