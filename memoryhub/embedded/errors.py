"""What went wrong, in words an operator can act on."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from memoryhub.errors import MemoryHubError

DISK_FULL_ADVICE = "the disk is full"
ADVICE_BY_COMPLAINT = {
    "No space left on device": f"{DISK_FULL_ADVICE}: free some space, or set MEMORYHUB_DATA_DIR "
    "to a folder on another disk",
    "Disk quota exceeded": "the disk quota is used up: free some space, or set "
    "MEMORYHUB_DATA_DIR to a folder on another disk",
    "Read-only file system": "the file system is read-only: set MEMORYHUB_DATA_DIR to a "
    "folder that can be written",
    "Permission denied": "the folder cannot be written: change its owner, or set "
    "MEMORYHUB_DATA_DIR to another folder",
    "Address already in use": "the port asked for is taken: choose another one",
    "incompatible with server": "the data was written by another version of PostgreSQL: "
    "install the version it was made with, or move the folder away",
    "could not create shared memory segment": "the system allows too little shared memory: "
    "lower shared_buffers",
}


class EmbeddedError(MemoryHubError):
    """The embedded server cannot be made, started or stopped."""

    status = 503
    code = "embedded_postgres"


def find_advice(output: str) -> str:
    """The hint for the first known complaint in a tool's output, else its last lines."""
    for complaint, hint in ADVICE_BY_COMPLAINT.items():
        if complaint in output:
            return hint
    return "\n".join(output.strip().splitlines()[-5:]) or "it said nothing"


@contextmanager
def explain_os_errors(folder: Path) -> Iterator[None]:
    """Turns an OSError about the data folder into an EmbeddedError that says what to do."""
    try:
        yield
    except OSError as error:
        reason = os.strerror(error.errno) if error.errno else str(error)
        if error.errno in (errno.EACCES, errno.EPERM):
            reason = "Permission denied"
        where = error.filename or folder
        raise EmbeddedError(f"Cannot use {where}: {reason} ({find_advice(reason)})") from error
