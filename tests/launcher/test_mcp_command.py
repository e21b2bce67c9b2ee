"""`manage.py mcp`: what it says when it can't begin."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from django.core.management.base import CommandError
from pytest_django.live_server_helper import LiveServer

from memoryhub.management.commands.mcp import build_address

MANAGE = Path(__file__).parents[2] / "manage.py"


def run_mcp_command(home: Path, *args: str, **env: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, str(MANAGE), "mcp", *args],
        env={"MEMORYHUB_DATA_DIR": str(home)} | env,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


def test_an_address_is_that_of_the_protocol() -> None:
    assert build_address("https://memory.example.com/") == "https://memory.example.com/mcp"
    assert build_address("http://h:1/mcp", subject="a b", tools="") == "http://h:1/mcp?subject=a+b"
    assert build_address(None).startswith("http://127.0.0.1:")
    for wrong in ("memory.example.com", "ftp://h", "http://"):
        with pytest.raises(CommandError, match="an address is needed"):
            build_address(wrong)


def test_without_a_key_it_says_so(tmp_path: Path) -> None:
    done = run_mcp_command(tmp_path)
    assert done.returncode == 1
    assert "MEMORYHUB_API_KEY" in done.stderr
    assert done.stdout == ""


def test_where_no_hub_answers_it_says_so(tmp_path: Path) -> None:
    done = run_mcp_command(tmp_path, "--url", "http://127.0.0.1:9", MEMORYHUB_API_KEY="mh_x")
    assert done.returncode == 1
    assert "http://127.0.0.1:9/mcp" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_key_that_the_hub_does_not_know_is_told_of(
    tmp_path: Path, live_server: LiveServer
) -> None:
    done = run_mcp_command(tmp_path, "--url", live_server.url, "--key", "mh_x")
    assert done.returncode == 1
    assert "unknown, expired or revoked" in done.stderr
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "postgres").exists()
