"""A database of one's own, made, dumped and restored as the pages say it: on the tests' server,
under names of its own."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import psycopg
import pytest

from memoryhub.embedded import EmbeddedPostgres
from memoryhub.embedded.software import find_program
from tests.docs.pages import ROOT, list_blocks

EXTERNAL = ROOT / "docs/how-to/external-postgres.md"
BACK_UP = ROOT / "docs/how-to/back-up.md"
SCHEMA = "SELECT count(*) FROM pg_policies"


@pytest.fixture
def dropped(postgres: EmbeddedPostgres) -> Iterator[None]:
    yield
    for statement in (
        "DROP DATABASE IF EXISTS page_one WITH (FORCE)",
        "DROP DATABASE IF EXISTS page_two WITH (FORCE)",
        "DROP ROLE IF EXISTS page_app",
        "DROP ROLE IF EXISTS page_owner",
    ):
        _as_superuser(postgres, "postgres", statement)


def _as_superuser(postgres: EmbeddedPostgres, database: str, script: str) -> None:
    with psycopg.connect(postgres.dsn("superuser", database), autocommit=True) as connection:
        for statement in filter(str.strip, script.split(";")):
            connection.execute(statement)


def _create_database(postgres: EmbeddedPostgres, database: str) -> None:
    """As the page says, with another name; the roles are the server's, and there already for a
    second database."""
    cluster, inside = list_blocks(EXTERNAL, "sql")
    roles, _, new = cluster.partition("CREATE DATABASE")
    if database == "page_one":
        _as_superuser(postgres, "postgres", _rename_in_script(roles))
    _as_superuser(postgres, "postgres", "CREATE DATABASE" + _rename_in_script(new, database))
    _as_superuser(postgres, database, _rename_in_script(inside))


def _rename_in_script(script: str, database: str = "") -> str:
    script = re.sub(r"memoryhub_(owner|app)", r"page_\1", script)
    return re.sub(r"\bmemoryhub\b", database, script) if database else script


def _build_dsn(postgres: EmbeddedPostgres, role: str, database: str) -> str:
    parts = postgres.conninfo("owner")
    return (
        f"postgresql://{role}@/{database}?host={quote(parts['host'], safe='')}&port={parts['port']}"
    )


def _run_script(script: str, **environment: str) -> str:
    done = subprocess.run(
        ["bash", "-e", "-o", "pipefail", "-c", script],
        cwd=ROOT,
        env={**os.environ, **environment},
        text=True,
        capture_output=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, (done.stdout[-2000:], done.stderr[-3000:])
    return done.stdout


def _query_value(address: str, query: str) -> object:
    with psycopg.connect(address) as connection:
        row = connection.execute(query).fetchone()
    return row[0] if row else None


def test_a_database_of_ones_own_is_made_migrated_dumped_and_restored(
    postgres: EmbeddedPostgres, dropped: None, tmp_path: Path
) -> None:
    _create_database(postgres, "page_one")
    owner, app = (_build_dsn(postgres, f"page_{name}", "page_one") for name in ("owner", "app"))
    *_, by_hand = list_blocks(EXTERNAL, "sh")
    script = by_hand.replace(".venv/bin/python", sys.executable)
    script += f"{sys.executable} manage.py create_tenant Example --admin eva\n"
    _run_script(
        script, DATABASE_URL=app, DATABASE_OWNER_URL=owner, MEMORYHUB_DATA_DIR=str(tmp_path)
    )
    _create_database(postgres, "page_two")
    again = _build_dsn(postgres, "page_owner", "page_two")
    *_, dump = list_blocks(BACK_UP, "sh")
    dump = dump.replace("NEW_ADDRESS", f"'{again}'").replace("ADDRESS", f"'{owner}'")
    dump = dump.replace("memoryhub.dump", str(tmp_path / "memoryhub.dump"))
    _run_script(
        dump, PATH=f"{Path(find_program('pg_dump')).parent}{os.pathsep}{os.environ['PATH']}"
    )
    assert _query_value(again, "SELECT slug FROM tenants_tenant") == "example"
    assert _query_value(again, SCHEMA) == _query_value(owner, SCHEMA) != 0
    assert (
        _query_value(app.replace("page_one", "page_two"), "SELECT count(*) FROM tenants_tenant")
        == 0
    )


def test_the_embedded_database_is_packed_and_put_back_as_files(tmp_path: Path) -> None:
    (packing,) = [block for block in list_blocks(BACK_UP, "sh") if block.lstrip().startswith("tar")]
    folder = tmp_path / "hub"
    folder.mkdir()
    hub = EmbeddedPostgres(folder / "var")
    hub.start()
    try:
        with psycopg.connect(hub.dsn("owner"), autocommit=True) as connection:
            connection.execute("CREATE TABLE kept AS SELECT 'Porto' AS word")
        hub.stop()
        _run_script(f"cd {folder}\n{packing}")
        cluster = (folder / "var/postgres").resolve()
        hub.erase()
        shutil.rmtree(folder / "var", ignore_errors=True)
        _run_script(f"tar --extract --gzip --file {folder}/memoryhub.tar.gz -C {folder} var")
        if not cluster.exists():  # a link, whose target belongs to the copy
            _run_script(
                f"tar --extract --gzip --file {folder}/memoryhub.tar.gz -C / {str(cluster)[1:]}"
            )
        hub = EmbeddedPostgres(folder / "var")
        hub.start()
        assert _query_value(hub.dsn("owner"), "SELECT word FROM kept") == "Porto"
    finally:
        hub.erase()
