"""The whole of it: start the hub, let it read, set locust on it, report."""

from __future__ import annotations

import csv
import os
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from benchmarks.scale import processor_time
from benchmarks.scale.server import (
    API_KEY,
    OPERATOR_PASSWORD,
    ROOT,
    HubClient,
    run_hub,
    wait_until_idle,
)
from benchmarks.ways.sentences import build_sentences

# Those that locustfile.py asks about.
SUBJECTS = tuple(f"person-{n}" for n in range(8))
TURNS_EACH = 60
NAMES = ("search", "add", "console page", "health", "Aggregated")
_LOAD = Path(sys.prefix) / "load"


def run_benchmark(seconds: float, clients: Sequence[int], idle: int) -> None:
    with run_hub() as served:
        _add_memories(served.port)
        wait_until_idle(served, 300)
        print(f"| Clients | | a second | p50 ms | p95 ms | longest | errors | {_MEMORY_HEAD} |")
        print("|---|---|---|---|---|---|---|---|", flush=True)
        for count in clients:
            with _open_idle_connections(served.port, idle), _watch_memory() as memory:
                rows = _run_locust(served.port, count, seconds / len(clients))
            for name in filter(rows.__contains__, NAMES):  # not what was never answered
                print(_format_row(count, rows[name], memory.most), flush=True)


def _add_memories(port: int) -> None:
    client, said = HubClient(port), iter(build_sentences(TURNS_EACH * len(SUBJECTS)))
    for subject in SUBJECTS:
        messages = [{"content": next(said)} for _ in range(TURNS_EACH)]
        client.post("memories", {"subject": subject, "messages": messages})


@contextmanager
def _open_idle_connections(port: int, count: int) -> Iterator[None]:
    """The hub cuts them after half a minute, as it should."""
    with ExitStack() as stack:
        for _ in range(count):
            stack.enter_context(socket.create_connection(("127.0.0.1", port)))
        yield


_MEMORY_HEAD = "web server's memory, MB"


@dataclass
class _Memory:
    """`most`: megabytes that granian and its workers held at once."""

    most: float = 0.0


@contextmanager
def _watch_memory() -> Iterator[_Memory]:
    memory, done = _Memory(), threading.Event()

    def look() -> None:
        while not done.wait(1):
            memory.most = max(memory.most, _measure_web_memory())

    watcher = threading.Thread(target=look)
    watcher.start()
    try:
        yield memory
    finally:
        done.set()
        watcher.join()


def _measure_web_memory() -> float:
    below = processor_time.find_ticks_below([os.getpid()])
    return sum(_read_resident_megabytes(pid) for pid in below)


def _read_resident_megabytes(pid: int) -> float:
    """Of a process of the web server; of others 0."""
    process = Path("/proc", str(pid))
    try:
        if "granian" not in (process / "cmdline").read_text():
            return 0.0
        pages = int((process / "statm").read_text().split()[1])
    except OSError:
        return 0.0  # it has just ended
    return pages * os.sysconf("SC_PAGE_SIZE") / 1_000_000


def _run_locust(port: int, clients: int, seconds: float) -> dict[str, dict[str, str]]:
    """locust's figures, by what was asked."""
    env = os.environ | {"PYTHONPATH": os.pathsep.join([str(_LOAD), str(ROOT)])}
    with tempfile.TemporaryDirectory() as made:
        command = [sys.executable, "-m", "locust", "--locustfile", "benchmarks/load/locustfile.py"]
        how = ["--headless", "--host", f"http://127.0.0.1:{port}", "--csv", f"{made}/load"]
        # One more looks after the hub's health.
        users = ["--users", str(clients + 1), "--spawn-rate", str(clients + 1)]
        quiet = ["--only-summary", "--loglevel", "ERROR", "--exit-code-on-error", "0"]
        length = ["--run-time", f"{seconds:.0f}s"]
        who = ["--key", API_KEY, "--password", OPERATOR_PASSWORD]
        done = subprocess.run(
            [*command, *how, *users, *length, *who, *quiet],
            cwd=ROOT,
            env=env,
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            raise SystemExit(done.stderr)
        with Path(made, "load_stats.csv").open() as file:
            return {row["Name"]: row for row in csv.DictReader(file)}


def _format_row(clients: int, row: dict[str, str], megabytes: float) -> str:
    name = "all" if row["Name"] == "Aggregated" else row["Name"]
    times = (f"{float(row[each]):.0f}" for each in ("50%", "95%", "Max Response Time"))
    held = f"{megabytes:.0f}" if name == "all" else ""
    figures = [f"{float(row['Requests/s']):.1f}", *times, row["Failure Count"], held]
    return f"| {clients} | {name} | " + " | ".join(figures) + " |"
