"""Processor time as Linux counts it: on a machine with other work it tells more than the clock."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator
from pathlib import Path

_PROC = Path("/proc")


def measure_milliseconds(roots: Collection[int]) -> float | None:
    """What these processes and all below them have used so far, those that have ended too; None
    where the system doesn't tell."""
    if not (_PROC / "self" / "stat").exists():
        return None
    return sum(find_ticks_below(roots).values()) * 1000 / os.sysconf("SC_CLK_TCK")


def find_ticks_below(roots: Collection[int]) -> dict[int, int]:
    """What each of these processes and of all below them has used so far."""
    known = dict(_list_processes())
    below = set(roots)
    while more := {pid for pid, (parent, _) in known.items() if parent in below} - below:
        below |= more
    return {pid: known[pid][1] for pid in below if pid in known}


def _list_processes() -> Iterator[tuple[int, tuple[int, int]]]:
    """(pid, (its parent, its ticks and those of its children that have ended))."""
    for stat in _PROC.glob("[0-9]*/stat"):
        try:
            _, _, rest = stat.read_text().rpartition(")")
        except OSError:
            continue  # it has just ended
        fields = rest.split()
        yield int(stat.parent.name), (int(fields[1]), sum(map(int, fields[11:15])))
