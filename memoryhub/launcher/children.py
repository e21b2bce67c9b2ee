"""Child processes in groups of their own: watched, started again, and never left behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType

from memoryhub.errors import MemoryHubError
from memoryhub.launcher import guard as guard_script

STOP_GRACE_SECONDS = 6.0  # seconds a child has between SIGTERM and SIGKILL
STEADY_SECONDS = 30.0  # seconds after which a child's former failures are forgotten
STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
RESTART_PAUSES: tuple[float, ...] = (0.5, 1.0, 2.0, 4.0)  # seconds before each new try in a row


class LauncherError(MemoryHubError):
    """The hub cannot start or go on; the message says what to do."""

    status = 503
    code = "launcher"


@dataclass(frozen=True)
class Program:
    """What to run. `env` is added to our own environment."""

    name: str
    command: Sequence[str]
    env: Mapping[str, str] = field(default_factory=dict)


class Guard:
    """Our end of the pipe to the process that clears up after us (see guard.py). One that was
    killed is started anew by `supervise`, and told all that runs."""

    def __init__(self, lock: int) -> None:
        """`lock` stays held until the guard is done."""
        self.lock = lock
        self.running: set[tuple[str, int]] = set()
        self.again_at = 0.0
        self.process = self._start()

    def _start(self) -> subprocess.Popen[str]:
        return subprocess.Popen(  # noqa: S603
            [sys.executable, "-I", "-S", guard_script.__file__, str(STOP_GRACE_SECONDS)],
            stdin=subprocess.PIPE,
            text=True,
            start_new_session=True,
            pass_fds=[self.lock],
        )

    def report_change(self, sign: str, kind: str, number: int) -> None:
        (self.running.add if sign == "+" else self.running.discard)((kind, number))
        self._tell(sign, kind, number)

    def _tell(self, sign: str, kind: str, number: int) -> None:
        assert self.process.stdin is not None
        with suppress(BrokenPipeError):
            self.process.stdin.write(f"{sign} {kind} {number}\n")
            self.process.stdin.flush()

    def supervise(self, say: Callable[[str], None]) -> None:
        """Starts another when this one is gone, at most one in `RESTART_PAUSES[1]` seconds."""
        code = self.process.poll()
        if code is None or time.monotonic() < self.again_at:
            return
        self.again_at = time.monotonic() + RESTART_PAUSES[1]
        self._hang_up()
        self.process = self._start()
        for kind, number in sorted(self.running):
            self._tell("+", kind, number)
        say(f"The guard ended ({describe_exit(code)}); another was started.")

    def _hang_up(self) -> None:
        assert self.process.stdin is not None
        with suppress(BrokenPipeError):
            self.process.stdin.close()

    def close(self) -> None:
        """Has the guard end what it still knows of, and waits for that."""
        self._hang_up()
        self.process.wait()


class Interrupts:
    """Ctrl-C, SIGTERM and a closed terminal all mean: stop in good order. Raises KeyboardInterrupt
    in the main thread until `ending`, but not while held."""

    def __init__(self) -> None:
        self.asked = False
        self.ending = False
        self.holds = 0

    def install(self) -> None:
        for number in STOP_SIGNALS:
            signal.signal(number, self.handle_signal)

    def handle_signal(self, number: int, frame: FrameType | None) -> None:
        self.asked = True
        self.raise_pending()

    def raise_pending(self) -> None:
        """Raises what is due; call it in loops, as an exception in a callback may be lost."""
        if self.asked and not self.ending and not self.holds:
            raise KeyboardInterrupt

    @contextmanager
    def hold_interrupts(self) -> Iterator[None]:
        """An interrupt that arrives inside is raised at the end."""
        self.holds += 1
        try:
            yield
        finally:
            self.holds -= 1
        self.raise_pending()


class ChildProcess:
    """One program, kept running by `supervise`."""

    def __init__(self, program: Program, guard: Guard, interrupts: Interrupts) -> None:
        self.program = program
        self.guard = guard
        self.interrupts = interrupts
        self.process: subprocess.Popen[bytes] | None = None
        self.failures = 0
        self.began = self.again_at = 0.0

    def start(self) -> None:
        with self.interrupts.hold_interrupts():  # between its start and the guard's knowing of it
            self.process = subprocess.Popen(  # noqa: S603
                list(self.program.command),
                env={**os.environ, **self.program.env},
                stdin=subprocess.DEVNULL,
                start_new_session=True,
            )
            self.guard.report_change("+", "group", self.process.pid)
        self.began = time.monotonic()

    def supervise(self, say: Callable[[str], None]) -> None:
        """Notices a death, and starts again when it is time. LauncherError when it is hopeless."""
        if self.process is None:
            if time.monotonic() >= self.again_at:
                self.start()
        elif (code := self.process.poll()) is not None:
            self.kill_group()
            self.plan_restart(say, code)

    def plan_restart(self, say: Callable[[str], None], code: int) -> None:
        if time.monotonic() - self.began > STEADY_SECONDS:
            self.failures = 0
        if self.failures >= len(RESTART_PAUSES):
            raise LauncherError(
                f"The {self.program.name} keeps failing ({describe_exit(code)}): the hub stops. "
                f"What it printed above says why."
            )
        pause = RESTART_PAUSES[self.failures]
        self.failures += 1
        self.again_at = time.monotonic() + pause
        say(
            f"The {self.program.name} ended ({describe_exit(code)});"
            f" starting it again in {pause:g} s."
        )

    def ask_to_stop(self) -> None:
        if self.process is not None:
            with suppress(ProcessLookupError):
                self.process.terminate()

    def wait_or_kill(self, deadline: float) -> None:
        """Waits, then ends what is left of the group."""
        if self.process is not None:
            with suppress(subprocess.TimeoutExpired):
                self.process.wait(max(0.0, deadline - time.monotonic()))
            self.kill_group()

    def kill_group(self) -> None:
        assert self.process is not None
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        self.guard.report_change("-", "group", self.process.pid)
        self.process = None


def describe_exit(code: int) -> str:
    """An exit status in words."""
    return f"signal {signal.Signals(-code).name}" if code < 0 else f"exit status {code}"


def stop_children(children: Sequence[ChildProcess]) -> None:
    """Asks all at once, so that the slowest alone decides how long it takes."""
    for child in children:
        child.ask_to_stop()
    deadline = time.monotonic() + STOP_GRACE_SECONDS
    for child in children:
        child.wait_or_kill(deadline)


def build_module_command(name: str, *arguments: str | Path) -> list[str]:
    """The command that runs a module with this very Python."""
    return [sys.executable, "-m", name, *map(str, arguments)]
