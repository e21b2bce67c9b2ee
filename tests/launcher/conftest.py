from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from memoryhub.embedded import EmbeddedPostgres
from tests.support.processes import find_free_port

PROJECT = Path(__file__).resolve().parents[2]


class HubProcess:
    """A hub in a process of its own, and what it prints."""

    def __init__(self, folder: Path, port: int, *behaviour: str) -> None:
        self.folder = folder
        self.port = port
        self.heard = ""
        script = str(Path(__file__).with_name("driver.py"))
        self.process = subprocess.Popen(
            [sys.executable, script, str(folder), str(port), *behaviour],
            env={**os.environ, "PYTHONPATH": str(PROJECT)},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def wait_for(self, words: str) -> str:
        """Reads on until a line has the words."""
        assert self.process.stdout is not None
        line: str
        for line in self.process.stdout:
            self.heard += line
            if words in line:
                return line
        raise AssertionError(f"{words!r} was not said:\n{self.heard}")

    def wait_until_ready(self) -> HubProcess:
        self.wait_for("Stop it with Ctrl-C")
        return self

    def end_with_signal(self, number: int) -> int:
        """Sends a signal and returns the exit status."""
        self.process.send_signal(number)
        return self.wait_for_exit()

    def wait_for_exit(self) -> int:
        assert self.process.stdout is not None
        self.heard += self.process.stdout.read()
        return self.process.wait(timeout=30)

    def read_pids(self, name: str) -> list[int]:
        """The process ids the parts noted under a name, oldest first."""
        file = self.folder / "pids"
        lines = file.read_text().splitlines() if file.exists() else []
        return [int(line.split()[1]) for line in lines if line.split()[0] == name]

    def wait_for_pids(self, name: str, count: int) -> list[int]:
        wait_until(lambda: len(self.read_pids(name)) >= count)
        return self.read_pids(name)


def wait_until(true: Callable[[], bool], seconds: float = 20) -> None:
    deadline = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def is_gone(pid: int) -> bool:
    """A zombie whose parent does not care is gone, too."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    status = Path(f"/proc/{pid}/stat")
    return status.exists() and status.read_text().rpartition(")")[2].split()[0] == "Z"


@pytest.fixture
def free_port() -> int:
    return find_free_port()


@pytest.fixture
def folder() -> Iterator[Path]:
    """A data folder with a space in its name that every account can reach."""
    made = Path(tempfile.mkdtemp(prefix="mh launcher-"))
    made.chmod(0o755)
    yield made
    EmbeddedPostgres(made).erase()
    shutil.rmtree(made)


@pytest.fixture
def hub(folder: Path, free_port: int) -> Iterator[Callable[..., HubProcess]]:
    """Starts hubs that differ in their behaviour; all are ended with the test."""
    started: list[HubProcess] = []

    def start(*behaviour: str) -> HubProcess:
        started.append(HubProcess(folder, free_port, *behaviour))
        return started[-1]

    yield start
    for each in started:
        if each.process.poll() is None:
            each.process.send_signal(signal.SIGTERM)
        each.process.wait(timeout=30)
        assert each.process.stdout is not None
        each.process.stdout.close()
