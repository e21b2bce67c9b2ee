"""A hub in processes of its own, whose parts can be found and killed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import psutil

from benchmarks.scale.server import API_KEY, OPERATOR_PASSWORD, ROOT
from memoryhub.embedded import EmbeddedPostgres

START_SECONDS = 180.0
STOP_SECONDS = 60.0
# Of each part: a word of the command by which it is known.
PARTS = {"web": "granian", "worker": "celery", "guard": "guard.py"}


class FaultyHub:
    """`manage.py hub` on `folder` at `port`, as `make run` starts it."""

    def __init__(self, folder: Path, port: int, env: dict[str, str]) -> None:
        self.port, self.log = port, folder / "hub.log"
        self._folder = folder
        self._env = (
            os.environ
            | env
            | {
                "MEMORYHUB_DATA_DIR": str(folder),
                "MEMORYHUB_PORT": str(port),
                "MEMORYHUB_DEMO_KEY": API_KEY,
                "MEMORYHUB_OPERATOR_PASSWORD": OPERATOR_PASSWORD,
            }
        )
        self._process: subprocess.Popen[bytes] | None = None
        # Every process that was ever a part: none may be left over.
        self._known: set[psutil.Process] = set()

    def start(self) -> None:
        """Until it says that it is ready. Raises RuntimeError where it ends before."""
        said = self.log.stat().st_size if self.log.exists() else 0
        with self.log.open("ab") as out:
            self._process = subprocess.Popen(
                [sys.executable, "manage.py", "hub"],
                cwd=ROOT,
                env=self._env,
                stdout=out,
                stderr=out,
                start_new_session=True,
            )
        deadline = time.monotonic() + START_SECONDS
        while b"MemoryHub is ready" not in self.log.read_bytes()[said:]:
            if self._process.poll() is not None or time.monotonic() > deadline:
                tail = self.log.read_text(errors="replace")[-2000:]
                raise RuntimeError(f"the hub did not start:\n{tail}")
            time.sleep(0.1)
        self.note_parts()

    def revive(self) -> None:
        """Starts it again where it has ended, as a service manager does: a hub whose parts die
        five times in a row stops."""
        if not self.is_running():
            self.wait_until_gone()
            self.start()

    def is_running(self) -> bool:
        return self._process is not None and self._process.poll() is None

    def find_launcher(self) -> psutil.Process | None:
        return psutil.Process(self._process.pid) if self._process and self.is_running() else None

    def find_part(self, name: str) -> psutil.Process | None:
        """The process of `web`, `worker` or `guard`; `launcher`; `postmaster`; `backend`: one of
        the database's processes that serve somebody, taken in turn by age."""
        if name == "launcher":
            return self.find_launcher()
        if name in ("postmaster", "backend"):
            return self._find_database_process(name)
        return next(self._find_children(PARTS[name]), None)

    def kill_part(self, name: str) -> bool:
        """kill -9. Whether there was somebody to kill."""
        self.note_parts()
        found = self.find_part(name)
        if found is None:
            return False
        with suppress(psutil.NoSuchProcess):
            found.kill()
            return True
        return False

    def note_parts(self) -> None:
        """Remembers what runs now, for `find_orphans`."""
        launcher, database = self.find_launcher(), self._find_database_process("postmaster")
        for each in filter(None, (launcher, database)):
            with suppress(psutil.NoSuchProcess):
                self._known |= {each, *each.children(recursive=True)}

    def stop(self) -> int:
        """Ends it in good order, and gives its exit status."""
        assert self._process is not None
        self.note_parts()
        with suppress(ProcessLookupError):
            self._process.send_signal(signal.SIGTERM)
        return self._process.wait(STOP_SECONDS)

    def wait_until_gone(self) -> None:
        """After the launcher was killed: until the guard has cleared up."""
        assert self._process is not None
        self._process.wait(STOP_SECONDS)
        deadline = time.monotonic() + STOP_SECONDS
        while self.find_orphans() and time.monotonic() < deadline:
            time.sleep(0.1)

    def find_orphans(self) -> list[str]:
        """What was once a part and still runs though the launcher is gone."""
        if self.is_running():
            return []
        left = [each for each in self._known if _is_alive(each)]
        return [f"{each.pid} {each.name()}" for each in left]

    def _find_children(self, word: str) -> Iterator[psutil.Process]:
        launcher = self.find_launcher()
        for each in launcher.children() if launcher else []:
            with suppress(psutil.Error):
                if any(word in part for part in each.cmdline()):
                    yield each

    def _find_database_process(self, name: str) -> psutil.Process | None:
        pid = EmbeddedPostgres(self._folder).read_pid()
        if pid is None or not psutil.pid_exists(pid):
            return None
        with suppress(psutil.Error):
            postmaster = psutil.Process(pid)
            if name == "postmaster":
                return postmaster
            for each in postmaster.children():
                if "memoryhub_app" in " ".join(each.cmdline()):
                    return each
        return None


def _is_alive(process: psutil.Process) -> bool:
    with suppress(psutil.NoSuchProcess):
        return bool(process.is_running()) and process.status() != psutil.STATUS_ZOMBIE
    return False
