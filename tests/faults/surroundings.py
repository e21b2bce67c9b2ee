"""What a hub stands on and leans on: its disk, its clock, a broker, a database elsewhere."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import psycopg
from psycopg.conninfo import make_conninfo

from memoryhub.embedded import EmbeddedPostgres
from memoryhub.embedded.software import prepare_server_programs
from tests.support.processes import find_free_port

DISK_MEGABYTES = 1500
CLOCK_SOURCE = Path(__file__).with_name("clock.c")
START_SECONDS = 60.0


@dataclass(frozen=True)
class Surroundings:
    """The folder of a hub's data, and what its environment says beside."""

    folder: Path
    env: Mapping[str, str] = field(default_factory=dict)


def copy_template(template: Path, folder: Path) -> None:
    """A data folder of its own, with the database as the template has it."""
    folder.mkdir(mode=0o711, exist_ok=True)
    home = EmbeddedPostgres(template).places.home
    ours = EmbeddedPostgres(folder).places.home
    ours.mkdir(mode=0o711, exist_ok=True)
    for each in home.iterdir():
        if each.name in ("socket", "software") or each.suffix in (".lock", ".log"):
            continue
        run("cp", "-a", str(each), str(ours))
    for each in template.iterdir():
        if each.name != "postgres":
            run("cp", "-a", str(each), str(folder))


def run(*command: str) -> None:
    """Raises RuntimeError with what it printed."""
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"{command[0]}: {done.stdout}{done.stderr}")


def wait_for(port: int) -> None:
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline:
        with suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
            return
        time.sleep(0.05)
    raise TimeoutError(f"nothing listens on {port}")


# --- a broker elsewhere ---


class Redis:
    """A Redis that keeps nothing on disk."""

    def __init__(self) -> None:
        self._port = find_free_port()
        self.url = f"redis://127.0.0.1:{self._port}/0"
        self.start()

    def start(self) -> None:
        port = str(self._port)
        self._process = subprocess.Popen(
            ["redis-server", "--port", port, "--bind", "127.0.0.1", "--save", ""],
            stdout=subprocess.DEVNULL,
        )
        wait_for(self._port)

    def stop(self) -> None:
        self._process.kill()
        self._process.wait()

    def restart(self, pause: float = 0.0) -> None:
        self.stop()
        time.sleep(pause)
        self.start()

    def flush(self) -> None:
        with socket.create_connection(("127.0.0.1", self._port), 5) as line:
            line.sendall(b"FLUSHALL\r\n")
            line.recv(64)


@contextmanager
def run_redis() -> Iterator[Redis]:
    redis = Redis()
    try:
        yield redis
    finally:
        redis.stop()


# --- a database elsewhere ---


class Relay:
    """One address for whichever server is the primary at the time."""

    def __init__(self, target: int) -> None:
        self.target = target
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self) -> None:
        self._listener.close()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    def _serve(self, client: socket.socket) -> None:
        with client, suppress(OSError), socket.create_connection(("127.0.0.1", self.target)) as up:
            back = threading.Thread(target=_pump, args=(up, client), daemon=True)
            back.start()
            _pump(client, up)
            back.join()


def _pump(source: socket.socket, target: socket.socket) -> None:
    with suppress(OSError):
        while data := source.recv(65536):
            target.sendall(data)
    for each in (source, target):
        with suppress(OSError):
            each.shutdown(socket.SHUT_RDWR)


class Database:
    """A PostgreSQL of the operator's own, and if asked for a synchronous copy of it."""

    def __init__(self, template: Path, folder: Path) -> None:
        folder.mkdir(mode=0o711)
        self._folder, self._made = folder, 1
        copy_template(template, folder / "server1")
        self._primary = self._start_server(folder / "server1")
        self._copy: EmbeddedPostgres | None = None
        self._relay = Relay(self._primary.tcp_port)

    @property
    def surroundings(self) -> Surroundings:
        home = self._folder / "hub"
        home.mkdir(exist_ok=True)
        app, owner = self._locate("app"), self._locate("owner")
        return Surroundings(home, {"DATABASE_URL": app, "DATABASE_OWNER_URL": owner})

    def _locate(self, role: Literal["app", "owner"]) -> str:
        told = self._primary.dsn(role, tcp=True)
        return told.replace(f":{self._primary.tcp_port}/", f":{self._relay.port}/")

    def _start_server(self, folder: Path) -> EmbeddedPostgres:
        server = EmbeddedPostgres(folder, port=find_free_port())
        server.start(keep=True)
        return server

    def restart(self, how: signal.Signals, pause: float) -> None:
        """SIGINT ends it in good order, SIGQUIT as if it had crashed."""
        _end_server(self._primary, how)
        time.sleep(pause)
        self._primary.start(keep=True)

    def add_copy(self) -> None:
        """From the end of this on, what is committed has reached the copy."""
        self._made += 1
        folder, source = self._folder / f"server{self._made}", self._primary
        places = EmbeddedPostgres(folder).places
        folder.mkdir(mode=0o711)
        places.create_home()
        places.cluster.mkdir(mode=0o700)
        places.account.take_ownership(places.cluster)
        programs = prepare_server_programs(places.account, places.home / "software")
        line = make_conninfo("", **{**source.conninfo("superuser"), "dbname": "postgres"})
        command = [str(programs / "pg_basebackup"), "-R", "-c", "fast", "-d", line]
        made = places.account.run([*command, "-D", str(places.cluster)], cwd="/")
        if made.returncode:
            raise RuntimeError(made.stdout)
        for each in ("passwords.json", "prepared"):
            shutil.copyfile(source.places.home / each, places.home / each)
        self._copy = self._start_server(folder)
        _tell(source, "ALTER SYSTEM SET synchronous_standby_names = '*'")
        _tell(source, "SELECT pg_reload_conf()")
        while not _tell(source, "SELECT 1 FROM pg_stat_replication WHERE sync_state = 'sync'"):
            time.sleep(0.1)

    def fail_over(self) -> None:
        """kill -9 to the primary; its copy takes its place, at the same address."""
        assert self._copy is not None
        _end_server(self._primary, signal.SIGKILL)
        self._primary.erase()
        _tell(self._copy, "SELECT pg_promote()")
        self._primary, self._copy = self._copy, None
        self._relay.target = self._primary.tcp_port

    def stop(self) -> None:
        self._relay.close()
        for each in filter(None, (self._copy, self._primary)):
            each.erase()


def _end_server(server: EmbeddedPostgres, how: signal.Signals) -> None:
    pid = server.read_pid()
    assert pid is not None
    os.kill(pid, how)
    while server.is_answering():
        time.sleep(0.05)
    server.stop()


def _tell(server: EmbeddedPostgres, statement: str) -> bool:
    """Whether it answered with a row."""
    where = make_conninfo("", **{**server.conninfo("superuser"), "dbname": "postgres"})
    with psycopg.connect(where, autocommit=True) as connection:
        cursor = connection.execute(statement.encode())
        return cursor.description is not None and cursor.fetchone() is not None


@contextmanager
def run_database(template: Path, folder: Path) -> Iterator[Database]:
    database = Database(template, folder)
    try:
        yield database
    finally:
        database.stop()


# --- a small disk ---


@contextmanager
def mount_disk(folder: Path) -> Iterator[None]:
    """A file system in memory at `folder`; needs the right to mount."""
    folder.mkdir(exist_ok=True)
    run("mount", "-t", "tmpfs", "-o", f"size={DISK_MEGABYTES}m,mode=711", "tmpfs", str(folder))
    try:
        yield
    finally:
        run("umount", "--lazy", str(folder))


def fill_disk(folder: Path, seconds: float) -> None:
    """To the last byte, for so long."""
    filler, piece = folder / "filler", b"x" * 2**20
    deadline = time.monotonic() + seconds
    with filler.open("wb", buffering=0) as file:
        while time.monotonic() < deadline:
            try:
                file.write(piece)
            except OSError:
                piece = piece[: max(1, len(piece) // 2)]
                time.sleep(0.05)
    filler.unlink()


# --- a clock ---


class Clock:
    """That of a hub's processes, which can be set while they run (clock.c)."""

    def __init__(self, folder: Path) -> None:
        self._file = folder / "clock"
        self._file.write_bytes(bytes(8))
        self._file.chmod(0o644)
        library = folder / "clock.so"
        run("cc", "-shared", "-fPIC", "-O2", "-o", str(library), str(CLOCK_SOURCE))
        library.chmod(0o755)
        self.env = {"LD_PRELOAD": str(library), "MEMORYHUB_CLOCK_FILE": str(self._file)}

    def set_offset(self, seconds: int) -> None:
        """In place: the processes have the file's eight bytes in their memory."""
        with self._file.open("r+b") as file:
            file.write(seconds.to_bytes(8, sys.byteorder, signed=True))


@contextmanager
def fake_clock(folder: Path) -> Iterator[Clock]:
    if shutil.which("cc") is None:
        raise RuntimeError("a clock that can be set needs a C compiler (cc)")
    yield Clock(folder)
