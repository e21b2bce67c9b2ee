"""A backup of the whole hub in one file, made while it runs, and put back into an empty one.

The file is a tar of PostgreSQL's own dump, the signing key, and a list of how many rows each table
has, counted in the same moment as the dump. The broker's queues are left out: what is to be done
stands in the jobs, and a worker makes its queues when it starts.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tarfile
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg
from django.conf import settings
from django.db import connections
from psycopg import sql
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from memoryhub.embedded.software import find_program
from memoryhub.errors import MemoryHubError

FORMAT = 1
_DUMP, _KEY, _LIST = "memoryhub.dump", "secret_key", "backup.json"
# Queues belong to the role that works on them, and the owner may not read them.
_WITHOUT_QUEUES = (
    "--exclude-table=pgmq.q_*",
    "--exclude-table=pgmq.a_*",
    "--exclude-table-data=pgmq.meta",
    "--exclude-table-data=pgmq.notify_insert_throttle",  # names queues of meta
)
_TABLES = """
SELECT relname FROM pg_class
WHERE relkind IN ('r', 'p') AND relnamespace = 'public'::regnamespace ORDER BY relname
"""


class BackupError(MemoryHubError):
    """It can't be made or put back; the message says why."""

    code = "backup"


@dataclass(frozen=True, slots=True)
class BackupSummary:
    """`rows` by table."""

    rows: dict[str, int]

    @property
    def total(self) -> int:
        return sum(self.rows.values())


def make_backup(target: Path, dsn: str) -> BackupSummary:
    """Write the file, readable by its owner alone; it appears whole or not at all. Raises
    BackupError."""
    with tempfile.TemporaryDirectory(dir=target.absolute().parent) as folder:
        dump = Path(folder) / _DUMP
        with psycopg.connect(dsn) as connection:
            connection.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
            row = connection.execute("SELECT pg_export_snapshot()").fetchone()
            assert row is not None
            options = ["--format=custom", "--enable-row-security", *_WITHOUT_QUEUES]
            _run_program("pg_dump", *options, f"--snapshot={row[0]}", f"--file={dump}", dsn=dsn)
            rows = _count_rows(connection)
        listed = {"format": FORMAT, "rows": rows}
        (Path(folder) / _LIST).write_text(json.dumps(listed))
        (Path(folder) / _KEY).write_text(settings.SECRET_KEY)
        whole = Path(folder) / "whole.tar"
        with tarfile.open(whole, "w") as archive:
            for name in (_LIST, _KEY, _DUMP):
                archive.add(Path(folder) / name, name)
        whole.chmod(0o600)
        whole.rename(target)
    return BackupSummary(rows)


def restore_backup(source: Path, dsn: str, key_file: Path) -> BackupSummary:
    """Put a backup into an empty database, its key into `key_file`, and count. Raises
    BackupError, also where something is there already: nothing is written over."""
    with _open_backup(source) as folder, psycopg.connect(dsn, autocommit=True) as connection:
        listed = json.loads((folder / _LIST).read_text())
        if listed.get("format") != FORMAT:
            raise BackupError("This backup is of another version of the hub.")
        if connection.execute(_TABLES).fetchone():
            raise BackupError("The database is not empty: a backup is put into an empty one.")
        _run_program("pg_restore", "--no-owner", "--no-comments", str(folder / _DUMP), dsn=dsn)
        rows = _count_rows(connection)
        _check_rows(listed["rows"], rows)
        _keep_secret_key((folder / _KEY).read_text(), key_file)
    return BackupSummary(rows)


def verify_backup(source: Path) -> BackupSummary:
    """Whether the file is whole and its dump can be read. Raises BackupError."""
    with _open_backup(source) as folder:
        _run_program("pg_restore", "--list", str(folder / _DUMP))
        return BackupSummary(json.loads((folder / _LIST).read_text())["rows"])


def build_owner_dsn() -> str:
    """As the owner, who sees the rows of all tenants."""
    given: dict[str, Any] = connections["owner"].get_connection_params()
    known = ("host", "port", "dbname", "user", "password", "sslmode", "sslrootcert", "options")
    return make_conninfo("", **{name: given[name] for name in known if given.get(name)})


def _count_rows(connection: psycopg.Connection) -> dict[str, int]:
    counts = {}
    for (table,) in connection.execute(_TABLES).fetchall():
        query = sql.SQL("SELECT count(*) FROM {}").format(sql.Identifier(table))
        row = connection.execute(query).fetchone()
        counts[table] = row[0] if row else 0
    return counts


def _check_rows(wanted: dict[str, int], found: dict[str, int]) -> None:
    wrong = [name for name in {*wanted, *found} if wanted.get(name) != found.get(name)]
    if wrong:
        raise BackupError(f"Not all of it came back; other counts in {', '.join(sorted(wrong))}.")


def _keep_secret_key(key: str, file: Path) -> None:
    """Without the key that they were made with no API key and no encrypted secret is of use."""
    draft = file.with_suffix(".new")
    draft.unlink(missing_ok=True)
    with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as target:
        target.write(key)
    draft.rename(file)


@contextmanager
def _open_backup(source: Path) -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as folder:
        try:
            with tarfile.open(source) as archive:
                _extract_parts(archive, Path(folder))
        except (OSError, tarfile.TarError) as error:
            raise BackupError(f"{source} can't be read: {error}") from error
        missing = [name for name in (_LIST, _KEY, _DUMP) if not (Path(folder) / name).is_file()]
        if missing:
            raise BackupError(f"{source} is no backup of a hub: it has no {missing[0]}.")
        yield Path(folder)


def _extract_parts(archive: tarfile.TarFile, folder: Path) -> None:
    """Those that are plain files under their names, and nothing else that an archive may hold:
    `extractall` has its filter only from Python 3.11.4 on."""
    for member in archive:
        if member.isfile() and member.name in (_LIST, _KEY, _DUMP):
            source = archive.extractfile(member)
            assert source is not None  # of a plain file there is one
            with source, (folder / member.name).open("wb") as copy:
                shutil.copyfileobj(source, copy)


def _run_program(name: str, *arguments: str, dsn: str = "") -> None:
    """A program of the PostgreSQL that comes along, which reads servers up to its version. The
    password goes by the environment: anybody on the machine may read a program's arguments."""
    where, environment = conninfo_to_dict(dsn), dict(os.environ)
    password = where.pop("password", None)
    if password:
        environment["PGPASSWORD"] = str(password)
    reached = [f"--dbname={make_conninfo('', **where)}"] if where else []
    done = subprocess.run(  # noqa: S603
        [find_program(name), *reached, *arguments],
        capture_output=True,
        text=True,
        check=False,
        env=environment,
    )
    if done.returncode:
        raise BackupError(f"{name}: {done.stderr.strip()[-1000:]}")
