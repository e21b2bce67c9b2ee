"""Where the files of an embedded server lie.

DATA/postgres/            or, when root starts the server and its account cannot reach
                          DATA, a link to /var/lib/memoryhub/<digest of DATA>
    cluster/              PGDATA, the server account's own, 0700
    socket/               the unix socket, 0700; elsewhere when the path is too long
    memoryhub.conf        our settings, included by the cluster's
    software/<version>/   a copy of the binaries, only where the wheel is out of reach
    postgres.log  passwords.json  port  *.lock
"""

from __future__ import annotations

import hashlib
import os
import stat
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from memoryhub.embedded.errors import EmbeddedError
from memoryhub.embedded.software import ServerAccount, find_server_account

MAX_SOCKET_PATH_BYTES = 103  # what fits into sun_path on every system, without the closing zero
SYSTEM_HOME = Path("/var/lib/memoryhub")
SHORT_SOCKET_PARENT = Path("/tmp")  # noqa: S108  # the same for every process, whatever TMPDIR says


@dataclass(frozen=True)
class ServerPaths:
    """The paths that follow from a data folder. Reading them creates nothing."""

    data_dir: Path

    @cached_property
    def account(self) -> ServerAccount:
        return find_server_account(self.data_dir / "postgres" / "cluster")

    @cached_property
    def home(self) -> Path:
        usual = self.data_dir / "postgres"
        if usual.is_symlink() or usual.exists():
            return usual.resolve()
        if not self.account.switch or self.account.passes_test(
            'test -x "$1"', find_existing_parent(usual)
        ):
            return usual
        return SYSTEM_HOME / self.digest

    @property
    def digest(self) -> str:
        return hashlib.sha256(os.fsencode(self.data_dir)).hexdigest()[:12]

    @property
    def cluster(self) -> Path:
        return self.home / "cluster"

    @property
    def log(self) -> Path:
        return self.home / "postgres.log"

    @cached_property
    def socket(self) -> Path:
        """The socket's folder. libpq takes a comma for the end of a host's name."""
        usual = self.home / "socket"
        name = os.fsencode(usual / ".s.PGSQL.65535")
        fits = len(name) <= MAX_SOCKET_PATH_BYTES and b"," not in name
        return usual if fits else SHORT_SOCKET_PARENT / f"memoryhub-{self.digest}"

    def create_home(self) -> None:
        """Creates the folders the locks lie in; those that exist keep their modes."""
        shared = 0o711 if self.account.switch else 0o700
        create_folders(self.data_dir, shared)
        create_folders(self.home, shared)

    def create_link_and_socket(self) -> None:
        """Creates the ways to the home and the socket. One process at a time: another would find
        a link that was not there when it looked, or a folder that is still root's."""
        if self.home.parent != self.data_dir and not (self.data_dir / "postgres").is_symlink():
            (self.data_dir / "postgres").symlink_to(self.home)
        # In a folder others write to, a name somebody else has taken is refused.
        try:
            self.socket.mkdir(mode=0o700)
            self.account.take_ownership(self.socket)
        except FileExistsError:
            found = self.socket.lstat()
            private = stat.S_ISDIR(found.st_mode) and not found.st_mode & 0o077
            if not private or found.st_uid != self.account.uid:
                raise EmbeddedError(
                    f"{self.socket} is needed for the database's socket, but it is not a "
                    f"private folder of the server's account: remove it"
                ) from None


def find_existing_parent(path: Path) -> Path:
    """The nearest folder on the way to `path` that is already there."""
    return next(parent for parent in path.parents if parent.exists())


def create_folders(path: Path, mode: int) -> None:
    """Creates a folder and its missing parents with exactly this mode, whatever the umask."""
    if path.is_dir():
        return
    create_folders(path.parent, mode)
    path.mkdir(exist_ok=True)
    path.chmod(mode)
