"""A hub in processes of its own, whose parts can be found and killed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from threading import Event, Lock, Thread

import psutil

from benchmarks.scale.server import API_KEY, OPERATOR_PASSWORD, ROOT
from memoryhub.embedded import EmbeddedPostgres

START_SECONDS = 300.0
STOP_SECONDS = 60.0
LOOK_SECONDS = 0.1
# Of each part: a word of the command by which it is known.
PARTS = {"web": "granian", "worker": "celery", "guard": "guard.py"}


class FaultyHub:
    """`manage.py hub` on `folder` at `port`, as `make run` starts it, under a service manager: it
    is started again whenever it has ended, as one whose parts die five times in a row does."""

    def __init__(self, folder: Path, port: int, env: Mapping[str, str]) -> None:
        self.port, self.log = port, folder / "hub.log"
        self._folder = folder
        self._env = {
            **os.environ,
            "MEMORYHUB_DATA_DIR": str(folder),
            "MEMORYHUB_PORT": str(port),
            "MEMORYHUB_DEMO_KEY": API_KEY,
            "MEMORYHUB_OPERATOR_PASSWORD": OPERATOR_PASSWORD,
            **env,
        }
        self._process: subprocess.Popen[bytes] | None = None
        self._lock, self._ends = Lock(), Event()
        self._manager = Thread(target=self._manage, daemon=True)
        # When it was started last, and what each end was: exit statuses, negative for signals.
        self.began_at = 0.0
        self.ends: list[int] = []

    def start(self) -> None:
        """Until it says that it is ready. Raises RuntimeError where it does not."""
        self._manager.start()
        deadline = time.monotonic() + START_SECONDS
        while not self._has_said(b"MemoryHub is ready"):
            if self.ends or time.monotonic() > deadline:
                tail = self.log.read_text(errors="replace")[-2000:]
                raise RuntimeError(f"the hub did not start:\n{tail}")
            time.sleep(LOOK_SECONDS)

    def _has_said(self, line: bytes) -> bool:
        return self.log.exists() and line in self.log.read_bytes()

    def _manage(self) -> None:
        while not self._ends.is_set():
            with self._lock:
                if not self._ends.is_set():
                    self._spawn()
            assert self._process is not None
            self.ends.append(self._process.wait())

    def _spawn(self) -> None:
        self.began_at = time.monotonic()
        with self.log.open("ab") as out:
            self._process = subprocess.Popen(
                [sys.executable, "manage.py", "hub"],
                cwd=ROOT,
                env=self._env,
                stdout=out,
                stderr=out,
                start_new_session=True,
            )

    def find_part(self, name: str) -> psutil.Process | None:
        """The process of `web`, `worker` or `guard`; `launcher`; `postmaster`; `backend`: one of
        the database's processes that serve somebody, the oldest."""
        if name == "launcher":
            return self._find_launcher()
        if name in ("postmaster", "backend"):
            return self._find_database_process(name)
        return next(self._find_children(PARTS[name]), None)

    def is_answering(self) -> bool:
        with suppress(OSError, HTTPException):
            line = HTTPConnection("127.0.0.1", self.port, timeout=5)
            line.request("GET", "/healthz")
            return line.getresponse().status == 200
        return False

    def signal_part(self, name: str, number: signal.Signals) -> bool:
        """Whether there was somebody to get it."""
        found = self.find_part(name)
        if found is None:
            return False
        with suppress(psutil.NoSuchProcess):
            found.send_signal(number)
            return True
        return False

    def stop(self) -> None:
        """Ends it in good order, for good."""
        with self._lock:
            self._ends.set()
        if launcher := self._find_launcher():
            with suppress(psutil.NoSuchProcess):
                launcher.terminate()
        self._manager.join(STOP_SECONDS)

    def find_orphans(self) -> list[str]:
        """What has its surroundings from this hub, or sits in its database, and still runs."""
        return [f"{each.pid} {each.name()}" for each in psutil.process_iter() if self._made(each)]

    def wait_until_gone(self) -> list[str]:
        """The orphans that are left once their guard has had its time."""
        deadline = time.monotonic() + STOP_SECONDS
        while (left := self.find_orphans()) and time.monotonic() < deadline:
            time.sleep(LOOK_SECONDS)
        return left

    def _made(self, process: psutil.Process) -> bool:
        with suppress(psutil.Error):
            if process.status() == psutil.STATUS_ZOMBIE:
                return False
            return bool(process.environ().get("MEMORYHUB_DATA_DIR") == str(self._folder))
        return False

    def _find_launcher(self) -> psutil.Process | None:
        if self._process is None or self._process.poll() is not None:
            return None
        with suppress(psutil.NoSuchProcess):
            return psutil.Process(self._process.pid)
        return None

    def _find_children(self, word: str) -> Iterator[psutil.Process]:
        launcher = self._find_launcher()
        with suppress(psutil.Error):
            for each in launcher.children() if launcher else []:
                if any(word in part for part in each.cmdline()):
                    yield each

    def _find_database_process(self, name: str) -> psutil.Process | None:
        pid = EmbeddedPostgres(self._folder).read_pid()
        if pid is None:
            return None
        with suppress(psutil.Error):
            postmaster = psutil.Process(pid)
            if name == "postmaster":
                return postmaster
            for each in postmaster.children():
                if "memoryhub_app" in " ".join(each.cmdline()):
                    return each
        return None
