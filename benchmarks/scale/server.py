"""The hub itself, started as `make run` starts it, and a client that keeps its connection."""

from __future__ import annotations

import http.client
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from django.conf import settings

from benchmarks.scale import processor_time
from memoryhub.embedded import EmbeddedPostgres
from tests.support.processes import find_free_port

# Of a database that is made up and thrown away.
API_KEY = "mh_benchmarking_" + "k" * 32
OPERATOR_PASSWORD = "measured"
ROOT = Path(__file__).resolve().parent.parent.parent
# Of one processor, a hub that nobody asks takes less than this.
_IDLE_SHARE = 0.05


class TimedAnswer(NamedTuple):
    milliseconds: float
    body: dict[str, Any]


class HubClient:
    """One connection, as a client that keeps its connections has it."""

    def __init__(self, port: int) -> None:
        self._http = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        self._headers = {"Authorization": f"Bearer {API_KEY}", "Content-Type": "application/json"}

    def post(self, path: str, body: dict[str, Any]) -> TimedAnswer:
        """The time until the whole answer was read. Raises SystemExit unless it is 2xx."""
        start = time.perf_counter()
        self._http.request("POST", f"/api/v1/{path}", json.dumps(body), self._headers)
        answer = self._http.getresponse()
        content = answer.read()
        spent = (time.perf_counter() - start) * 1000
        if answer.status >= 300:
            raise SystemExit(f"{path}: {answer.status} {content.decode()}")
        return TimedAnswer(spent, json.loads(content))


class ServedHub(NamedTuple):
    """A hub that answers at `port`. `processes`: its own, and its database's."""

    port: int
    processes: tuple[int, ...]


@contextmanager
def run_hub() -> Iterator[ServedHub]:
    """A hub that runs on the data folder of these settings."""
    port, log = find_free_port(), settings.DATA_DIR / "hub.log"
    env = os.environ | {"MEMORYHUB_PORT": str(port), "MEMORYHUB_DEMO_KEY": API_KEY}
    env |= {
        "MEMORYHUB_DATA_DIR": str(settings.DATA_DIR),
        "MEMORYHUB_OPERATOR_PASSWORD": OPERATOR_PASSWORD,
    }
    with log.open("w") as out:
        process = subprocess.Popen(
            [sys.executable, "manage.py", "hub"], cwd=ROOT, env=env, stdout=out, stderr=out
        )
    try:
        wait_until_healthy(process, port, log)
        database = EmbeddedPostgres(settings.DATA_DIR).read_pid()
        assert database is not None
        served = ServedHub(port, (process.pid, database))
        wait_until_idle(served)
        yield served
    finally:
        process.send_signal(signal.SIGINT)
        process.wait(30)


def wait_until_healthy(process: subprocess.Popen[bytes], port: int, log: Path) -> None:
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline and process.poll() is None:
        if "MemoryHub is ready" in log.read_text():
            return
        time.sleep(0.2)
    raise SystemExit(f"The hub did not start on port {port}, see {log}")


def wait_until_idle(served: ServedHub, most_seconds: float = 60.0) -> None:
    """Until the hub does nothing: its worker still starts for some seconds once pages are served,
    and what is measured meanwhile is that."""
    deadline = time.monotonic() + most_seconds
    while time.monotonic() < deadline:
        before = processor_time.measure_milliseconds(served.processes)
        time.sleep(2)
        after = processor_time.measure_milliseconds(served.processes)
        if before is None or after is None or after - before < _IDLE_SHARE * 2000:
            return
