"""The processor time of the hub's web server, as Linux counts it."""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path

_TICK = os.sysconf("SC_CLK_TCK")


def served_seconds() -> float:
    """Of its processes together, since they began. In steps of a hundredth of a second, so that
    only sums over many requests mean something."""
    return sum(_spent(Path(f"/proc/{each}/stat").read_text()) for each in _servers()) / _TICK


def _spent(stat: str) -> int:
    """Ticks in the user's and the system's mode: the 14th and the 15th value, of which the second
    is a name in parentheses."""
    values = stat.rpartition(")")[2].split()
    return int(values[11]) + int(values[12])


@cache
def _servers() -> tuple[int, ...]:
    """granian and its workers, of this process's hub."""
    parents = {int(p.name): _parent(p) for p in Path("/proc").iterdir() if p.name.isdecimal()}
    return tuple(one for one in parents if _descends(one, parents) and _is_granian(one))


def _parent(process: Path) -> int:
    try:
        return int((process / "stat").read_text().rpartition(")")[2].split()[1])
    except OSError:  # it has ended
        return 0


def _descends(one: int, parents: dict[int, int]) -> bool:
    while one := parents.get(one, 0):
        if one == os.getpid():
            return True
    return False


def _is_granian(one: int) -> bool:
    return "granian" in Path(f"/proc/{one}/cmdline").read_text()
