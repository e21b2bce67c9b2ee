"""A supervisor around the binaries of the PostgreSQL wheel.

Truth never comes from a process id. "Running" means that `pg_isready` says so; "some
process of this cluster is alive" means that a file lock, handed down to the server and
all its children, is still held. Whoever started the server stops it, unless others use
it: then the last of them does.
"""

from __future__ import annotations

import atexit
import errno
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO, Literal
from urllib.parse import quote

from memoryhub.embedded import provision
from memoryhub.embedded.errors import EmbeddedError, explain_os_errors, find_advice
from memoryhub.embedded.locks import hold_lock, is_locked, relock, try_lock
from memoryhub.embedded.paths import ServerPaths
from memoryhub.embedded.provision import APP, DATABASE, OWNER, SUPERUSER, ensure_role_passwords
from memoryhub.embedded.software import find_program, prepare_server_programs, read_major_version

Role = Literal["app", "owner", "superuser"]

ROLES: dict[Role, str] = {"app": APP, "owner": OWNER, "superuser": SUPERUSER}
PORT = 5432  # names the socket; nothing listens on it unless TCP was asked for
START_PATIENCE_SECONDS = 120.0  # seconds; recovery after a crash may replay much
MAX_LOG_BYTES = 5_000_000
MIN_FREE_BYTES = 1_000_000  # bytes; with less the server can't write what it needs to begin
# What a container may use, by its control group, version 2 and 1: "max" and huge numbers say all.
CGROUP_LIMIT_FILES = (
    Path("/sys/fs/cgroup/memory.max"),
    Path("/sys/fs/cgroup/memory/memory.limit_in_bytes"),
)
_MEMORY_SHARE = 8
# With less the server is slow; with more it keeps what the system would keep for it as well.
_LEAST_BUFFERS, _MOST_BUFFERS = 128, 2048  # megabytes


def compute_shared_buffers(memory: int) -> str:
    """What PostgreSQL keeps of its tables and indexes, of so many bytes of memory: an eighth, for
    the hub's own processes need some, too. Pages that are not here are read from disk, or from
    what the system happens to hold. Taken up as it is used, not at the start."""
    megabytes = memory // _MEMORY_SHARE // 2**20
    return f"{min(max(megabytes, _LEAST_BUFFERS), _MOST_BUFFERS)}MB"


def read_available_memory(limits: Iterable[Path] = CGROUP_LIMIT_FILES) -> int:
    """Bytes of this machine, or of the container around the hub."""
    known = [os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")]
    for limit in limits:
        with suppress(OSError, ValueError):
            known.append(int(limit.read_text()))
    return min(filter(None, known))


INITDB_OPTIONS = (
    "--locale-provider=builtin",
    "--builtin-locale=C.UTF-8",
    "--locale=C",
    "--encoding=UTF8",
    f"--username={SUPERUSER}",
    "--auth-local=trust",  # the socket's folder is the guard
    "--auth-host=scram-sha-256",
)
SERVER_SETTINGS: dict[str, str] = {
    "shared_buffers": compute_shared_buffers(read_available_memory()),
    "work_mem": "16MB",
    "maintenance_work_mem": "256MB",
    "jit": "off",
    "max_connections": "100",
    "autovacuum_vacuum_insert_scale_factor": "0.02",
    "timezone": "UTC",
    "log_timezone": "UTC",
    # The words of memories stand in statements and in what a refused row is said to contain.
    "log_min_error_statement": "panic",
    "log_error_verbosity": "terse",
}
THROWAWAY_SETTINGS: dict[str, str] = {
    "shared_buffers": "256MB",
    "fsync": "off",
    "synchronous_commit": "off",
    "full_page_writes": "off",
}


class EmbeddedPostgres:
    """One cluster under `data_dir`. Making the object touches nothing.

    `settings` adds to or replaces SETTINGS at the next start (THROWAWAY suits tests).
    `port` asks for TCP on 127.0.0.1 as well and is remembered; 0 asks for the socket only.
    """

    def __init__(
        self, data_dir: Path, *, settings: Mapping[str, str] | None = None, port: int | None = None
    ) -> None:
        self.data_dir = data_dir.absolute()
        self.places = ServerPaths(self.data_dir)
        self.settings = {**SERVER_SETTINGS, **(settings or {})}
        self._port = port
        self._use: int | None = None
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def tcp_port(self) -> int:
        """The port asked for now or at the last start; 0 when there is no TCP."""
        if self._port is not None:
            return self._port
        remembered = self.places.home / "port"
        return int(remembered.read_text()) if remembered.exists() else 0

    def conninfo(self, role: Role, dbname: str = DATABASE, *, tcp: bool = False) -> dict[str, str]:
        """Connection parameters by libpq's names; over TCP with the role's password."""
        user, port = ROLES[role], str(self.tcp_port or PORT)
        where = {"user": user, "dbname": dbname, "port": port}
        if not tcp:
            return {**where, "host": str(self.places.socket)}
        if not self.tcp_port or role == "superuser":
            raise EmbeddedError("TCP needs a port asked for, and a role other than the superuser")
        password = ensure_role_passwords(self.places.home / "passwords.json")[user]
        return {**where, "host": "127.0.0.1", "password": password}

    def dsn(self, role: Role, dbname: str = DATABASE, *, tcp: bool = False) -> str:
        """A URL usable as DATABASE_URL. Nothing is started."""
        plain = self.conninfo(role, dbname, tcp=tcp)
        part = {key: quote(value, safe="") for key, value in plain.items()}
        if tcp:
            return "postgresql://{user}:{password}@{host}:{port}/{dbname}".format(**part)
        return "postgresql://{user}@/{dbname}?host={host}&port={port}".format(**part)

    def is_running(self) -> bool:
        """Whether the server answers and has its roles and database."""
        return (self.places.home / "prepared").exists() and self.is_answering()

    def is_answering(self) -> bool:
        port = str(self.tcp_port or PORT)
        if not (self.places.socket / f".s.PGSQL.{port}").exists():
            return False
        # By a name that there is: the server logs each knock of one that there is not.
        command = [find_program("pg_isready"), "-q", "-h", str(self.places.socket), "-p", port]
        command += ["-U", SUPERUSER, "-d", "postgres"]
        return subprocess.run(command, check=False).returncode == 0  # noqa: S603

    def start(self, *, keep: bool = False) -> bool:
        """Brings the server up with its roles and database. True if this call started it.

        `keep` leaves it running when its last user leaves, until someone calls stop().
        """
        with explain_os_errors(self.data_dir):
            if self.join_users() and self.is_running():
                return False
            self.places.create_home()
            with hold_lock(self.places.home / "start.lock", seconds=START_PATIENCE_SECONDS):
                self.places.create_link_and_socket()
                self.join_users()
                started = not self.is_answering()
                if started:
                    self.boot_server()
                if not (self.places.home / "prepared").exists():
                    self.provision_roles()
                if started and keep:
                    (self.places.home / "keep").touch()
                return started

    def provision_roles(self) -> None:
        passwords = ensure_role_passwords(self.places.home / "passwords.json")
        provision.provision_cluster(self.conninfo("superuser"), passwords)
        (self.places.home / "prepared").touch()

    def create_database(self, name: str) -> None:
        """A further database like the hub's own, on a running server; one there is kept."""
        provision.create_database(self.conninfo("superuser"), name)

    def boot_server(self) -> None:
        programs = prepare_server_programs(self.places.account, self.places.home / "software")
        if not self.places.cluster.exists():
            self.initialise_cluster(programs / "initdb")
        self.check_major_version()
        self.write_settings()
        deadline = time.monotonic() + START_PATIENCE_SECONDS
        while not self.launch_postgres(programs / "postgres", deadline):
            if time.monotonic() > deadline:
                raise EmbeddedError(f"PostgreSQL was not ready in time, see {self.places.log}")
            time.sleep(0.1)

    def check_major_version(self) -> None:
        """Raises EmbeddedError for data that another major version of PostgreSQL wrote."""
        file = self.places.cluster / "PG_VERSION"
        wrote, reads = file.read_text().strip(), read_major_version()
        if wrote != reads:
            raise EmbeddedError(
                f"{self.data_dir} was written by PostgreSQL {wrote}, this is {reads}: take it over "
                "by a backup and a restore, as docs/how-to/back-up.md tells"
            )

    def initialise_cluster(self, initdb: Path) -> None:
        """initdb under a temporary name: a cluster that has its name is complete."""
        making = self.places.home / "making"
        shutil.rmtree(making, ignore_errors=True)
        making.mkdir(mode=0o700)
        self.places.account.take_ownership(making)
        sync = ["--no-sync"] if self.settings.get("fsync") == "off" else []
        command = [str(initdb), *INITDB_OPTIONS, *sync, "-D", str(making)]
        made = self.places.account.run(command, cwd=self.places.home)
        if made.returncode:
            shutil.rmtree(making, ignore_errors=True)
            raise EmbeddedError(
                f"Cannot make a database in {self.data_dir}: {find_advice(made.stdout)}"
            )
        with (making / "postgresql.conf").open("a") as file:
            file.write("\ninclude_if_exists '../memoryhub.conf'\n")
        making.rename(self.places.cluster)

    def write_settings(self) -> None:
        folder = str(self.places.socket).replace('"', '""')
        lines = {
            **self.settings,
            "port": str(self.tcp_port or PORT),
            "listen_addresses": "127.0.0.1" if self.tcp_port else "",
            "unix_socket_directories": f'"{folder}"',
        }
        quoted = {
            key: value.replace("\\", "\\\\").replace("'", "''") for key, value in lines.items()
        }
        path = self.places.home / "memoryhub.conf"
        path.write_text("".join(f"{key} = '{value}'\n" for key, value in quoted.items()))
        path.chmod(0o644)
        (self.places.home / "port").write_text(str(self.tcp_port))

    def launch_postgres(self, postgres: Path, deadline: float) -> bool:
        """Starts the server and waits until it answers; False while a former one still lives."""
        alive = try_lock(self.places.home / "running.lock")
        if alive is None:
            return self.is_answering()
        try:
            self.discard_stale_pid()
            began = self.spawn_postgres(postgres, alive)
        finally:
            os.close(alive)
        return self.wait_until_answering(began, deadline)

    def spawn_postgres(self, postgres: Path, alive: int) -> int:
        """Hands the lock down to the server. Returns the log's length before it spoke."""
        with self.open_log() as log:
            began = log.tell()  # the server writes to the same file, and may be quicker
            self._process = subprocess.Popen(  # noqa: S603
                [str(postgres), "-D", str(self.places.cluster)],
                cwd=self.places.home,
                stdout=log,
                stderr=log,
                start_new_session=True,
                pass_fds=[alive],
                **self.places.account.options,
            )
            return began

    def wait_until_answering(self, began: int, deadline: float) -> bool:
        while time.monotonic() < deadline:
            if self.is_answering():
                return True
            if self._process is None or self._process.poll() is not None:
                raise EmbeddedError(
                    f"PostgreSQL did not start: {find_advice(self.read_log_since(began))}"
                )
            time.sleep(0.02)
        return False

    def read_log_since(self, began: int) -> str:
        """What the server logged. On a full disk it can't even complain."""
        said = self.places.log.read_bytes()[began:].decode(errors="replace")
        full = shutil.disk_usage(self.places.home).free < MIN_FREE_BYTES
        return said + os.strerror(errno.ENOSPC) if full else said

    def rotate_log(self) -> None:
        """Keep what was logged last, and the file of before, each of `MAX_LOG_BYTES` or little
        more. The server goes on writing to the same file, at its end."""
        log = self.places.log
        if log.exists() and log.stat().st_size > MAX_LOG_BYTES:
            with suppress(OSError):  # a full disk; then what there is makes room
                shutil.copyfile(log, log.with_suffix(".log.1"))
                log.with_suffix(".log.1").chmod(0o600)
            os.truncate(log, 0)

    def open_log(self) -> BinaryIO:
        self.rotate_log()
        log = self.places.log
        return os.fdopen(os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600), "ab")

    def read_pid(self) -> int | None:
        """The first line of the server's pid file, which may be stale."""
        try:
            return int((self.places.cluster / "postmaster.pid").read_text().split("\n")[0])
        except (OSError, ValueError):
            return None

    def discard_stale_pid(self) -> None:
        """PostgreSQL refuses to start while any process of its account has the number in the
        file. One that does not sit in the cluster's folder is not our server."""
        if self._process is not None:
            self._process.poll()  # a former server of ours would stay a zombie with that number
        pid = self.read_pid()
        if pid is not None and find_process_folder(pid) != self.places.cluster.resolve():
            (self.places.cluster / "postmaster.pid").unlink()

    def join_users(self) -> bool:
        """Counts this process among the users; False while the last one is stopping it."""
        if self._use is None and self.places.home.exists():
            self._use = try_lock(self.places.home / "users.lock", shared=True)
        return self._use is not None

    def close(self) -> None:
        """Leaves; the last user stops the server."""
        if self._use is None:
            return
        use, self._use = self._use, None
        try:
            if self.places.home.exists():
                with hold_lock(self.places.home / "start.lock", seconds=START_PATIENCE_SECONDS):
                    if relock(use) and not (self.places.home / "keep").exists():
                        self.shut_down()
        finally:
            os.close(use)

    def stop(self) -> bool:
        """Stops the server whoever uses it. True if it was running."""
        if self._use is not None:
            os.close(self._use)
            self._use = None
        if not self.places.home.exists():
            return False
        with (
            explain_os_errors(self.data_dir),
            hold_lock(self.places.home / "start.lock", seconds=START_PATIENCE_SECONDS),
        ):
            return self.shut_down()

    def erase(self) -> None:
        """Stops the server and removes its data for good; the data folder itself stays."""
        self.stop()
        with explain_os_errors(self.data_dir):
            shutil.rmtree(self.places.socket, ignore_errors=True)
            if self.places.home.exists():
                shutil.rmtree(self.places.home)
            if (self.data_dir / "postgres").is_symlink():
                (self.data_dir / "postgres").unlink()

    def shut_down(self) -> bool:
        """Open connections are ended and their transactions rolled back."""
        (self.places.home / "keep").unlink(missing_ok=True)
        if not is_locked(self.places.home / "running.lock"):
            return False
        if self.stop_with_signal(signal.SIGINT, 20) or self.stop_with_signal(signal.SIGQUIT, 10):
            return True
        raise EmbeddedError(f"PostgreSQL does not stop, see {self.places.log}")

    def stop_with_signal(self, request: signal.Signals, seconds: float) -> bool:
        """Sends the signal once there is a pid file to tell whom, and waits for the end."""
        deadline = time.monotonic() + seconds
        asked = None
        while is_locked(self.places.home / "running.lock"):
            if time.monotonic() > deadline:
                return False
            pid = self.read_pid()
            if pid != asked and pid is not None:
                asked = pid
                with suppress(ProcessLookupError):
                    os.kill(pid, request)
            time.sleep(0.02)
        if self._process is not None:
            self._process.wait()
        return True


def find_process_folder(pid: int) -> Path | None:
    """The working folder of a live process that we may ask about."""
    try:
        return Path(f"/proc/{pid}/cwd").readlink()
    except OSError:
        return None


_servers: dict[Path, EmbeddedPostgres] = {}


def ensure_running(data_dir: Path) -> EmbeddedPostgres:
    """Starts the server on demand; this process's end stops it if no other uses it."""
    key = data_dir.absolute()
    if key not in _servers:
        _servers[key] = EmbeddedPostgres(key)
        atexit.register(close_in_process, os.getpid(), _servers[key])
    _servers[key].start()
    return _servers[key]


def close_in_process(process: int, server: EmbeddedPostgres) -> None:
    """A forked child must not leave in its parent's name."""
    if os.getpid() == process:
        server.close()
