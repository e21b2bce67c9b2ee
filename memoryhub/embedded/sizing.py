"""How much memory there is to be had: PostgreSQL is given a share of it."""

from __future__ import annotations

import os
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

# What a container may use, by its control group, version 2 and 1: "max" and huge numbers say all.
CGROUP_LIMIT_FILES = (
    Path("/sys/fs/cgroup/memory.max"),
    Path("/sys/fs/cgroup/memory/memory.limit_in_bytes"),
)
_MEMORY_SHARE = 8
# With less the server is slow; with more it keeps what the system would keep for it as well.
_LEAST, _MOST = 128, 2048


def compute_shared_buffers(memory: int) -> str:
    """What PostgreSQL keeps of its tables and indexes, of so many bytes of memory: an eighth, for
    the hub's own processes need some, too. Pages that are not here are read from disk, or from
    what the system happens to hold. Taken up as it is used, not at the start."""
    megabytes = memory // _MEMORY_SHARE // 2**20
    return f"{min(max(megabytes, _LEAST), _MOST)}MB"


def read_available_memory(limits: Iterable[Path] = CGROUP_LIMIT_FILES) -> int:
    """Bytes of this machine, or of the container around the hub."""
    has = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return min([has, *(bytes_ for limit in limits if (bytes_ := _read_limit(limit)))])


def _read_limit(limit: Path) -> int:
    with suppress(OSError, ValueError):
        return int(limit.read_text())
    return 0
