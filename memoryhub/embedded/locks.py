"""File locks. The kernel drops them with their last holder, so none is ever stale."""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from memoryhub.embedded.errors import EmbeddedError


def try_lock(path: Path, *, shared: bool = False) -> int | None:
    """An open descriptor that holds the lock until it is closed, or None if another has it."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    if relock(descriptor, shared=shared):
        return descriptor
    os.close(descriptor)
    return None


def relock(descriptor: int, *, shared: bool = False) -> bool:
    """Takes, or changes the kind of, the lock on an open descriptor without waiting."""
    kind = fcntl.LOCK_SH if shared else fcntl.LOCK_EX
    try:
        fcntl.flock(descriptor, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def is_locked(path: Path) -> bool:
    """Whether any living process holds the lock."""
    if not path.exists():
        return False
    descriptor = try_lock(path)
    if descriptor is None:
        return True
    os.close(descriptor)
    return False


def wait_for_lock(path: Path, seconds: float) -> int | None:
    """As try_lock, but keeps trying for a while."""
    deadline = time.monotonic() + seconds
    while (descriptor := try_lock(path)) is None and time.monotonic() < deadline:
        time.sleep(0.05)
    return descriptor


@contextmanager
def hold_lock(path: Path, *, seconds: float) -> Iterator[None]:
    """Waits up to `seconds` for the exclusive lock; EmbeddedError after that."""
    descriptor = wait_for_lock(path, seconds)
    if descriptor is None:
        raise EmbeddedError(f"Another process has held {path} for {seconds:.0f} seconds")
    try:
        yield
    finally:
        os.close(descriptor)
