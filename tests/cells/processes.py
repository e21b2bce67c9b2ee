"""Everything that a deployment of two cells runs, each part on a port of its own."""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from string import Template

import httpx
import psutil
import psycopg

from memoryhub.embedded.provision import APP, OWNER, provision_cluster
from memoryhub.embedded.software import find_program

ROOT = Path(__file__).resolve().parents[2]
TEMPLATES = ROOT / "deploy" / "cells"
START_SECONDS = 300.0
PASSWORD = "only-for-this-run"
ETCD, PEER, FRONT = 8062, 8063, 8060
WEBS, WORKERS = 2, 4
NEEDED = ("haproxy", "pgbouncer", "patroni", "etcd", "redis-server")


@dataclass(frozen=True)
class Cell:
    """`members`: servers of its database. `base`: the first of its ports."""

    name: str
    base: int
    members: int

    @property
    def ports(self) -> dict[str, int]:
        names = ("db0", "db1", "rest0", "rest1", "bouncer", "primary", "copy", "web0", "web1")
        return {name: self.base + n for n, name in enumerate((*names, "redis"))}

    def locate(self, role: str, port: str, database: str = "memoryhub") -> str:
        return f"postgresql://{role}:{PASSWORD}@127.0.0.1:{self.ports[port]}/{database}"

    @property
    def environment(self) -> dict[str, str]:
        """Of its web and worker processes, and of commands."""
        return {
            "DATABASE_URL": self.locate(APP, "bouncer"),
            "DATABASE_OWNER_URL": self.locate(OWNER, "primary"),
            "DATABASE_REPLICA_URL": self.locate(APP, "bouncer", "memoryhub_copy")
            if self.members > 1
            else "",
            "MEMORYHUB_DATABASE_POOLED": "true",
            "MEMORYHUB_CELL": self.name,
            "CELERY_BROKER_URL": f"redis://127.0.0.1:{self.ports['redis']}/0",
            "MEMORYHUB_SECRET_KEY": "of-all-cells-" + "k" * 40,
            "MEMORYHUB_WORKER_THREADS": "1",
            "MEMORYHUB_WEB_PLACES": "2",
        }


@dataclass
class Deployment:
    folder: Path
    cells: tuple[Cell, ...]
    _started: dict[str, subprocess.Popen[bytes]] = field(default_factory=dict)

    def start(self) -> None:
        """Until HAProxy answers for both cells. Raises TimeoutError with the folder of the logs."""
        missing = [name for name in NEEDED if shutil.which(name) is None]
        if missing:
            raise SystemExit(f"Not installed: {', '.join(missing)}")
        account = pwd.getpwnam("postgres")
        os.chown(self.folder, account.pw_uid, account.pw_gid)
        self.folder.chmod(0o755)
        urls = (f"--listen-client-urls=http://127.0.0.1:{ETCD}", f"--data-dir={self.folder}/etcd")
        advertised = (f"--advertise-client-urls=http://127.0.0.1:{ETCD}",)
        peers = (f"--listen-peer-urls=http://127.0.0.1:{PEER}",)
        self._spawn("etcd", ["etcd", *urls, *advertised, *peers])
        self._write_haproxy()
        self._spawn("haproxy", ["haproxy", "-db", "-f", str(self.folder / "haproxy.cfg")])
        for cell in self.cells:
            self._start_cell(cell)
        for cell in self.cells:
            for n in range(WEBS):
                self._wait_for_web(cell, n)

    def _start_cell(self, cell: Cell) -> None:
        port = str(cell.ports["redis"])
        self._spawn(
            f"{cell.name}-redis",
            ["redis-server", "--port", port, "--bind", "127.0.0.1", "--save", ""],
        )
        for member in range(cell.members):
            self.start_member(cell, member)
            part = "primary" if member == 0 else "replica"
            address = f"http://127.0.0.1:{cell.ports[f'rest{member}']}/{part}"
            self._wait(lambda at=address: is_answering(at), f"{cell.name}-db{member}")  # type: ignore[misc]
        self._wait(lambda: self._can_write(cell), cell.name)
        self._provision(cell)
        self._fill("pgbouncer.ini", f"{cell.name}.ini", cell)
        users = self.folder / f"{cell.name}.users"
        users.write_text(f'"{APP}" "{PASSWORD}"\n')
        ini = str(self.folder / f"{cell.name}.ini")
        self._spawn(f"{cell.name}-pgbouncer", ["pgbouncer", ini], user="postgres")
        self.run_command(cell, "migrate", "--database", "owner", "--verbosity", "0")
        for n in range(WEBS):
            self.start_web(cell, n)
        for n in range(WORKERS):
            self.start_worker(cell, n)

    def start_member(self, cell: Cell, number: int) -> None:
        member = f"{cell.name}-db{number}"
        ports = {"port": cell.ports[f"db{number}"], "rest": cell.ports[f"rest{number}"]}
        file = self._fill("patroni.yml", f"{member}.yml", cell, member=member, **ports)
        self._spawn(member, ["patroni", str(file)], user="postgres")

    def start_web(self, cell: Cell, number: int) -> None:
        port = str(cell.ports[f"web{number}"])
        where = ["--host", "127.0.0.1", "--port", port, "--workers", "1"]
        granian = [str(Path(sys.executable).parent / "granian"), "--interface", "asginl"]
        command = [*granian, "--http", "1", "--no-ws", *where, "memoryhub.asgi:application"]
        self._spawn_hub(f"{cell.name}-web{number}", command, cell, "web")

    def start_worker(self, cell: Cell, number: int) -> None:
        celery = [sys.executable, "-m", "celery", "-A", "memoryhub", "worker", "--pool", "threads"]
        quiet = [
            "--without-gossip",
            "--without-mingle",
            "--without-heartbeat",
            "--concurrency",
            "1",
        ]
        name = f"{cell.name}-worker{number}"
        self._spawn_hub(name, [*celery, *quiet, "-n", name], cell, "worker")

    def run_command(self, cell: Cell, *arguments: str, **more: str) -> str:
        """What `manage.py …` printed. Raises RuntimeError with it where it failed."""
        env = self._build_environment(cell, "command") | more
        done = subprocess.run(
            [sys.executable, "manage.py", *arguments],
            cwd=ROOT, env=env, capture_output=True, text=True,
        )  # fmt: skip
        if done.returncode:
            raise RuntimeError(f"{arguments}: {done.stdout}{done.stderr}"[-4000:])
        return done.stdout

    def find_leader(self, cell: Cell) -> int:
        """The number of the member that writes; -1 while there is none."""
        for number in range(cell.members):
            if is_answering(f"http://127.0.0.1:{cell.ports[f'rest{number}']}/primary"):
                return number
        return -1

    def kill_member(self, cell: Cell, number: int) -> None:
        """As if its machine had lost its power: Patroni and PostgreSQL at once."""
        patroni = psutil.Process(self._started[f"{cell.name}-db{number}"].pid)
        for each in [patroni, *patroni.children(recursive=True)]:
            with suppress(psutil.NoSuchProcess):
                each.send_signal(signal.SIGKILL)
        pid = self.folder / f"{cell.name}-db{number}" / "postmaster.pid"
        with suppress(OSError, ProcessLookupError):
            os.kill(int(pid.read_text().split()[0]), signal.SIGKILL)

    def ask_database(self, cell: Cell, port: str, statement: str) -> list[tuple[object, ...]]:
        """As the superuser, who sees all."""
        where = f"host=127.0.0.1 port={cell.ports[port]} user=postgres password={PASSWORD}"
        with psycopg.connect(f"{where} dbname=memoryhub", autocommit=True) as connection:
            return connection.execute(statement.encode()).fetchall()

    def stop(self) -> None:
        for process in reversed(self._started.values()):
            children = list[psutil.Process]()
            with suppress(psutil.NoSuchProcess):
                children = psutil.Process(process.pid).children(recursive=True)
            process.kill()
            for each in children:
                with suppress(psutil.NoSuchProcess):
                    each.kill()
            process.wait()
        for file in self.folder.glob("*/postmaster.pid"):
            with suppress(OSError, ValueError):
                os.kill(int(file.read_text().split()[0]), signal.SIGKILL)

    def _can_write(self, cell: Cell) -> bool:
        with suppress(psycopg.OperationalError):
            where = f"host=127.0.0.1 port={cell.ports['primary']} user=postgres password={PASSWORD}"
            psycopg.connect(f"{where} dbname=postgres connect_timeout=3").close()
            return True
        return False

    def _provision(self, cell: Cell) -> None:
        superuser = {"host": "127.0.0.1", "port": str(cell.ports["primary"])}
        told = {**superuser, "user": "postgres", "password": PASSWORD}
        provision_cluster(told, {APP: PASSWORD, OWNER: PASSWORD})

    def _write_haproxy(self) -> None:
        (self.folder / "keys.map").write_text("".join(f"{c.name} {c.name}\n" for c in self.cells))
        (self.folder / "slugs.map").write_text("")
        names = {"folder": self.folder, "front": FRONT, "first": self.cells[0].name}
        text = Template((TEMPLATES / "haproxy.cfg").read_text()).substitute(names)
        each = Template((TEMPLATES / "haproxy-cell.cfg").read_text())
        text += "".join(each.substitute(cell=cell.name, **cell.ports) for cell in self.cells)
        (self.folder / "haproxy.cfg").write_text(text)

    def _fill(self, template: str, name: str, cell: Cell, **more: object) -> Path:
        bin_folder = Path(find_program("postgres")).parent
        shared = {"folder": self.folder, "etcd": ETCD, "bin": bin_folder, "password": PASSWORD}
        names = {**shared, **cell.ports, "cell": cell.name, **more}
        file = self.folder / name
        file.write_text(Template((TEMPLATES / template).read_text()).substitute(names))
        return file

    def _build_environment(self, cell: Cell, process: str) -> dict[str, str]:
        own = {"MEMORYHUB_DATA_DIR": str(self.folder / "data"), "MEMORYHUB_PROCESS": process}
        return {**os.environ, **cell.environment, **own}

    def _spawn_hub(self, name: str, command: list[str], cell: Cell, process: str) -> None:
        self._spawn(name, command, env=self._build_environment(cell, process))

    def _spawn(
        self, name: str, command: list[str], *, user: str = "", env: Mapping[str, str] | None = None
    ) -> None:
        account = pwd.getpwnam(user) if user else None
        with (self.folder / f"{name}.log").open("ab") as log:
            self._started[name] = subprocess.Popen(
                command,
                cwd=ROOT if env else self.folder,
                env=env,
                stdout=log,
                stderr=log,
                start_new_session=True,
                user=account.pw_uid if account else None,
                group=account.pw_gid if account else None,
                extra_groups=[] if account else None,
            )

    def _wait_for_web(self, cell: Cell, number: int) -> None:
        address = f"http://127.0.0.1:{cell.ports[f'web{number}']}/healthz"
        self._wait(lambda: is_answering(address), f"{cell.name}-web{number}")

    def _wait(self, is_there: Callable[[], bool], what: str) -> None:
        deadline = time.monotonic() + START_SECONDS
        while not is_there():
            if time.monotonic() > deadline:
                raise TimeoutError(f"{what} did not come; logs in {self.folder}")
            time.sleep(0.2)


def is_answering(address: str) -> bool:
    with suppress(httpx.TransportError):
        return httpx.get(address, timeout=3, headers={"Host": "localhost"}).status_code == 200
    return False
