"""Real worker and broker processes for delivery tests."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path

from django.conf import settings

from memoryhub.embedded import EmbeddedPostgres

ROOT = Path(__file__).resolve().parents[2]
REDIS = shutil.which("redis-server")


def build_environment(**more: str) -> dict[str, str]:
    """The environment of a process that works on this test's database."""
    server = EmbeddedPostgres(settings.DATA_DIR)
    name = os.environ["MEMORYHUB_TEST_DATABASE"]
    # What a browser in the same process needs is no part of how a hub is run.
    own = {key: os.environ[key] for key in os.environ if key != "DJANGO_ALLOW_ASYNC_UNSAFE"}
    return {
        **own,
        "PYTHONPATH": str(ROOT),
        "DJANGO_SETTINGS_MODULE": "memoryhub.settings",
        "DATABASE_URL": server.dsn("app", name),
        "DATABASE_OWNER_URL": server.dsn("owner", name),
        "MEMORYHUB_SECRET_KEY": settings.SECRET_KEY,
        "MEMORYHUB_JOB_LEASE_SECONDS": "2",
        "MEMORYHUB_SWEEP_SECONDS": "1",
        **more,
    }


@contextmanager
def run_process(
    command: list[str], env: dict[str, str], log: Path
) -> Iterator[subprocess.Popen[bytes]]:
    """A process group that is gone afterwards, whatever happened."""
    with log.open("ab") as output:
        started = subprocess.Popen(
            command, env=env, cwd=ROOT, stdout=output, stderr=output, start_new_session=True
        )
    try:
        yield started
    finally:
        kill_process(started)


def kill_process(started: subprocess.Popen[bytes]) -> None:
    """kill -9 to the process and its children."""
    with suppress(ProcessLookupError):
        os.killpg(started.pid, signal.SIGKILL)
    started.wait()


def run_worker(
    log: Path, schedule: Path, **more: str
) -> AbstractContextManager[subprocess.Popen[bytes]]:
    """A Celery worker with its schedule, as the launcher starts it."""
    command = [sys.executable, "-m", "celery", "-A", "memoryhub", "worker", "-B", "-P", "threads"]
    options = ["--concurrency", "2", "--schedule", str(schedule), "--loglevel", "INFO"]
    return run_process(
        [*command, *options], build_environment(MEMORYHUB_PROCESS="worker", **more), log
    )


def find_free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def run_redis(port: int, folder: Path) -> AbstractContextManager[subprocess.Popen[bytes]]:
    """A Redis that keeps nothing on disk, listening on loopback only."""
    assert REDIS is not None
    command = [
        REDIS,
        "--port",
        str(port),
        "--bind",
        "127.0.0.1",
        "--save",
        "",
        "--dir",
        str(folder),
    ]
    return run_process(command, dict(os.environ), folder / "redis.log")


def wait_until(true: Callable[[], bool], seconds: float, log: Path | None = None) -> None:
    """Raise AssertionError with the log's end when it never becomes true."""
    deadline = time.monotonic() + seconds
    while not true():
        if time.monotonic() > deadline:
            tail = log.read_text(errors="replace")[-3000:] if log and log.exists() else ""
            raise AssertionError(f"still not true after {seconds} s\n{tail}")
        time.sleep(0.1)
