"""Clears up after a launcher that was killed: `python guard.py GRACE`, the launcher on its stdin
and the seconds between asking and killing as its argument.

It is told what runs, a line each: "+ group 123" (a process group), "+ server 456" (a
PostgreSQL server), "- group 123". When the launcher's end of the pipe closes, whatever is
left is stopped: groups first, then the server. Only the standard library is used, so that
it starts at once and stays small.
"""

from __future__ import annotations

import os
import signal
import sys
import time
from contextlib import suppress


def main() -> None:
    grace = float(sys.argv[1])
    for ignored in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(ignored, signal.SIG_IGN)
    running: set[tuple[str, int]] = set()
    for line in sys.stdin:
        sign, kind, number = line.split()
        (running.add if sign == "+" else running.discard)((kind, int(number)))
    groups = {-number for kind, number in running if kind == "group"}
    servers = {number for kind, number in running if kind == "server"}
    stop_targets(groups, signal.SIGTERM, signal.SIGKILL, grace)
    stop_targets(servers, signal.SIGINT, signal.SIGQUIT, grace)


def stop_targets(
    targets: set[int], ask: signal.Signals, force: signal.Signals, grace: float
) -> None:
    """Targets as kill(2) takes them: negative for a group. `grace` in seconds."""
    left = {target for target in targets if send_signal(target, ask)}
    deadline = time.monotonic() + grace
    while left and time.monotonic() < deadline:
        time.sleep(0.05)
        left = {target for target in left if send_signal(target, 0)}
    for target in left:
        send_signal(target, force)


def send_signal(target: int, number: int) -> bool:
    """Whether the target was there to get it."""
    with suppress(ProcessLookupError):
        os.kill(target, number)
        return True
    return False


if __name__ == "__main__":
    main()
