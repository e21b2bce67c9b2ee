"""A hub is started as these pages say it, with a data folder, a port and a broker of the test's.

`make` is a stand-in that starts what `make run` starts: the environment is installed already.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from memoryhub.embedded import EmbeddedPostgres
from tests.docs.pages import ROOT, list_blocks
from tests.support.processes import find_free_port, run_redis, wait_until

MAKE = """#!/bin/sh
[ "$*" = run ] || exit 2
exec {python} manage.py hub
"""
HOW_TO = ROOT / "docs/how-to"
MODEL, PROXY = HOW_TO / "use-a-model.md", HOW_TO / "openai-clients.md"
REDIS = HOW_TO / "redis.md"


@pytest.fixture(scope="module")
def folder() -> Iterator[Path]:
    """One that the database server's account can reach. The first hub finds it empty and prepares
    it, as a first start does; what the pages say holds as well for the hubs after it."""
    with tempfile.TemporaryDirectory(prefix="mh-pages-") as made:
        Path(made).chmod(0o755)
        yield Path(made)
        EmbeddedPostgres(Path(made) / "var").erase()


@pytest.fixture
def broker(folder: Path) -> Iterator[int]:
    port = find_free_port()
    with run_redis(port, folder):
        yield port


@pytest.mark.parametrize("page", [MODEL, PROXY], ids=lambda page: page.stem)
def test_a_hub_starts_with_a_model_named_as_the_page_does(page: Path, folder: Path) -> None:
    (block,) = (each for each in list_blocks(page, "sh") if "make run" in each)
    run_until_ready(block, folder)


def test_a_hub_starts_with_redis_as_the_page_does(folder: Path, broker: int) -> None:
    (block,) = (each for each in list_blocks(REDIS, "sh") if "make run" in each)
    run_until_ready(block.replace(":6379", f":{broker}"), folder)


def run_until_ready(block: str, folder: Path) -> None:
    """Runs the block until the hub answers, and stops it as Ctrl-C does."""
    port, log = find_free_port(), folder / "log"
    make = folder / "make"
    make.write_text(MAKE.format(python=sys.executable))
    make.chmod(0o755)
    inherited = {name: os.environ[name] for name in ("HOME", "PATH") if name in os.environ}
    environment = {
        **inherited,
        "PATH": f"{folder}:{inherited.get('PATH', '')}",
        "MEMORYHUB_DATA_DIR": str(folder / "var"),
        "MEMORYHUB_PORT": str(port),
    }
    with log.open("wb") as output:
        hub = subprocess.Popen(
            ["bash", "-e", "-c", block],
            cwd=ROOT,
            env=environment,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            wait_until(lambda: hub.poll() is not None or b"is ready" in log.read_bytes(), 180, log)
            said = log.read_text(errors="replace")
            assert hub.poll() is None, said[-3000:]
            answer = httpx.get(f"http://127.0.0.1:{port}/healthz", timeout=30)
            assert answer.status_code == 200, said[-3000:]
        finally:
            if hub.poll() is None:
                os.killpg(hub.pid, signal.SIGINT)
            status = hub.wait(timeout=60)
            # The shell hands the signal on where its last command died of it: 130 from outside.
            assert status in (0, 130, -signal.SIGINT), log.read_text(errors="replace")[-3000:]
