"""The hub as one program: lock, port, database, preparation, children, and all of it back.

The order matters: what can be refused cheaply (a hub that runs, a port that is taken) is
refused before anything is changed.
"""

from __future__ import annotations

import errno
import http.client
import os
import socket
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import NoReturn

from memoryhub.embedded import EmbeddedError, EmbeddedPostgres
from memoryhub.embedded.errors import DISK_FULL_ADVICE, explain_os_errors
from memoryhub.embedded.locks import is_locked, wait_for_lock
from memoryhub.errors import MemoryHubError
from memoryhub.launcher.children import (
    RESTART_PAUSES,
    ChildProcess,
    Guard,
    Interrupts,
    LauncherError,
    Program,
    stop_children,
)

HEALTH_SECONDS = 60.0
DATABASE_SECONDS = 2.0  # between looks at the database
GUARD_SECONDS = 15.0  # how long clearing up may take
LOOPBACK_BY_WILDCARD = {"": "127.0.0.1", "0.0.0.0": "127.0.0.1", "::": "::1"}  # noqa: S104

Say = Callable[[str], None]
Tick = Callable[[], None]


@dataclass(frozen=True)
class LaunchPlan:
    """What to run where. The callables get `say`, which prints a line.

    The first program is the web server; the others start when it answers, so that they do not
    take the processor from it. `prepare` runs once the database is up; `finish_setup` while the web
    server starts; `after_start` when everything runs, with a function to call now and then while it
    works. `health_host` is the Host header of health checks.
    """

    data_dir: Path
    host: str
    port: int
    programs: Sequence[Program]
    postgres: EmbeddedPostgres | None = None
    prepare: Callable[[Say], None] = lambda say: None
    finish_setup: Callable[[Say], None] = lambda say: None
    after_start: Callable[[Say, Tick], None] = lambda say, tick: None
    health_path: str = "/healthz"
    health_host: str = ""
    urls: Sequence[tuple[str, str]] = field(default_factory=tuple)

    @property
    def reachable_host(self) -> str:
        """The address under which this machine reaches the web server."""
        return LOOPBACK_BY_WILDCARD.get(self.host, self.host)

    @property
    def url(self) -> str:
        host = self.reachable_host
        return f"http://{f'[{host}]' if ':' in host else host}:{self.port}"


class Hub:
    """`run` returns the exit status."""

    def __init__(self, plan: LaunchPlan, say: Say) -> None:
        self.plan = plan
        self.say = say
        self.interrupts = Interrupts()
        self.guard: Guard | None = None
        self.children: list[ChildProcess] = []
        self.database_at = 0.0
        self.database_failures = 0
        self.waits_for_room = False

    def run(self) -> int:
        """Until a signal (0) or until something is wrong beyond repair (1)."""
        self.interrupts.install()
        try:
            with ExitStack() as stack:
                return self.run_to_exit_status(stack)
        except MemoryHubError as error:
            self.say(f"While stopping: {error}")
            return 1

    def run_to_exit_status(self, stack: ExitStack) -> int:
        """From its end on nothing interrupts the stopping."""
        try:
            self.run_until_interrupted(stack)
        except KeyboardInterrupt:
            self.say("Stopping.")
            return 0
        except Exception as error:
            if self.interrupts.asked:  # what it tore says so in its own way
                self.say("Stopping.")
                return 0
            if not isinstance(error, MemoryHubError):
                raise
            self.say(str(error))
            return 1
        finally:
            self.interrupts.ending = True

    def run_until_interrupted(self, stack: ExitStack) -> NoReturn:
        lock = acquire_locks(self.plan, stack)
        check_port(self.plan.host, self.plan.port)
        with self.interrupts.hold_interrupts():
            self.guard = guard = Guard(lock)
            stack.callback(guard.close)
        if self.plan.postgres is not None:
            stack.callback(self.plan.postgres.close)
            self.start_database(stack)
        self.plan.prepare(self.say)
        self.children = [ChildProcess(each, guard, self.interrupts) for each in self.plan.programs]
        stack.callback(stop_children, self.children)
        self.children[0].start()
        self.plan.finish_setup(self.say)
        self.wait_for_health()
        self.announce_urls()
        self.plan.after_start(self.say, self.supervise)
        while True:
            self.supervise()
            time.sleep(0.2)

    def start_database(self, stack: ExitStack | None = None) -> None:
        """A server that somebody else started is used, and left to them."""
        assert self.plan.postgres is not None
        assert self.guard is not None
        before = self.plan.postgres.read_pid()
        with explain_os_errors(self.plan.data_dir):
            started = self.plan.postgres.start()
        pid = self.plan.postgres.read_pid()
        if started and pid is not None:
            if before is not None:
                self.guard.report_change("-", "server", before)
            self.guard.report_change("+", "server", pid)
            if stack is not None:
                stack.callback(self.stop_database)

    def stop_database(self) -> None:
        assert self.plan.postgres is not None
        assert self.guard is not None
        pid = self.plan.postgres.read_pid()
        self.plan.postgres.stop()
        if pid is not None:
            self.guard.report_change("-", "server", pid)

    def supervise(self) -> None:
        """Keeps everything running. Call it often; it is cheap."""
        self.interrupts.raise_pending()
        if self.guard is not None:
            with self.interrupts.hold_interrupts():
                self.guard.supervise(self.say)
        for child in self.children:
            child.supervise(self.say)
        if self.plan.postgres is not None and time.monotonic() > self.database_at:
            self.database_at = time.monotonic() + DATABASE_SECONDS
            self.plan.postgres.rotate_log()
            if not self.plan.postgres.is_running():
                self.restart_database()

    def restart_database(self) -> None:
        """A full disk keeps it from starting: then it is tried again until there is room. What
        else does may pass, as a start that was killed does, and is tried as often as a child's."""
        if not self.waits_for_room:
            self.say("The database ended; starting it again.")
        try:
            self.start_database()
        except EmbeddedError as error:
            if DISK_FULL_ADVICE not in str(error):
                self.plan_database_restart(error)
                return
            if not self.waits_for_room:
                self.say(f"{error} The database is started once there is room.")
            self.waits_for_room = True
        else:
            self.waits_for_room = False
            self.database_failures = 0
            self.say("The database is up again.")

    def plan_database_restart(self, error: EmbeddedError) -> None:
        """Raises the error when it has failed too often in a row."""
        if self.database_failures >= len(RESTART_PAUSES):
            raise error
        pause = RESTART_PAUSES[self.database_failures]
        self.database_failures += 1
        self.database_at = time.monotonic() + pause
        self.say(f"{error} Trying again in {pause:g} s.")

    def wait_for_health(self) -> None:
        deadline = time.monotonic() + HEALTH_SECONDS
        while not is_healthy(self.plan):
            if time.monotonic() > deadline:
                raise LauncherError(f"{self.plan.url} did not answer; the lines above may say why.")
            self.interrupts.raise_pending()
            self.children[0].supervise(self.say)
            time.sleep(0.05)

    def announce_urls(self) -> None:
        self.say(f"MemoryHub is ready at {self.plan.url}")
        for name, path in self.plan.urls:
            self.say(f"  {name:<10} {self.plan.url}{path}")
        self.say("Stop it with Ctrl-C.")


def acquire_locks(plan: LaunchPlan, stack: ExitStack) -> int:
    """One hub for a data folder. Returns the lock that the guard is to share.

    The first lock is the hub's alone. The second one outlives a hub that was killed until its
    guard has cleared up, and is waited for.
    """
    with explain_os_errors(plan.data_dir):
        plan.data_dir.mkdir(parents=True, exist_ok=True)
        own = wait_for_lock(build_lock_path(plan.data_dir), 0.2)
        if own is None:
            owner = build_lock_path(plan.data_dir).read_text().strip() or "unknown"
            raise LauncherError(f"MemoryHub already runs with {plan.data_dir}: {owner}")
        stack.callback(os.close, own)
        stack.callback(os.truncate, own, 0)
        os.truncate(own, 0)
        os.pwrite(own, f"process {os.getpid()}, {plan.url}\n".encode(), 0)
        shared = wait_for_lock(build_guard_lock_path(plan.data_dir), GUARD_SECONDS)
    if shared is None:
        raise LauncherError("Parts of a hub that was killed still run; try again in a moment.")
    stack.callback(os.close, shared)
    return shared


def build_lock_path(data_dir: Path) -> Path:
    return data_dir / "hub.lock"


def build_guard_lock_path(data_dir: Path) -> Path:
    return data_dir / "hub.guard.lock"


def is_data_dir_in_use(data_dir: Path) -> bool:
    """Whether a hub runs with this folder, or a killed one is still cleared up after."""
    return is_locked(build_lock_path(data_dir)) or is_locked(build_guard_lock_path(data_dir))


def check_port(host: str, port: int) -> None:
    """LauncherError if the web server could not listen there."""
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            host or None, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        with socket.socket(family, kind, protocol) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(address)
            probe.listen(1)
    except OSError as error:
        raise LauncherError(describe_port_problem(host, port, error)) from error


def describe_port_problem(host: str, port: int, error: OSError) -> str:
    if error.errno == errno.EADDRINUSE:
        return (
            f"Port {port} on {host} is taken by another program. Stop that program, or choose "
            f"another port: MEMORYHUB_PORT={port + 1} make run"
        )
    if error.errno == errno.EACCES:
        return (
            f"Port {port} may not be used by this account. "
            f"Choose one above 1023: MEMORYHUB_PORT=8000 make run"
        )
    return f"Cannot listen on {host}, port {port}: {error}. Check MEMORYHUB_HOST and MEMORYHUB_PORT"


def is_healthy(plan: LaunchPlan) -> bool:
    connection = http.client.HTTPConnection(plan.reachable_host, plan.port, timeout=5)
    headers = {"Host": plan.health_host} if plan.health_host else {}
    try:
        connection.request("GET", plan.health_path, headers=headers)
        return connection.getresponse().status == 200
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()
